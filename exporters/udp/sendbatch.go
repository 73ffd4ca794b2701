// batch: fills one sendmmsg with report packets, sends, resends and counts them.

package udp

import (
	"errors"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
)

// batch is one system call's worth of messages. The buffers are the mbufs'
// own bytes: nothing is copied before the kernel does.
type batch struct {
	msgs    [mbuf.MaxBurst]ipv4.Message
	buffers [mbuf.MaxBurst][1][]byte
	payload [mbuf.MaxBurst]int // UDP payload bytes of each
	handoff [mbuf.MaxBurst]report.Handoff
}

// fill makes messages of v[:n].
func (b *batch) fill(c conn, v *mbuf.Vec, n int) {
	to := c.peer()
	for i := range n {
		m := v[i]
		h := handoff(m)
		b.payload[i], b.handoff[i] = m.PktLen(), h
		bytes := m.Bytes()
		if f := c.header(h.Entropy); f != nil {
			bytes = m.Prepend(f.HeaderLen())
			f.Put(bytes)
			bytes = bytes[packet.EthernetLen:] // a raw IP socket takes none
		}
		b.buffers[i][0] = bytes
		b.msgs[i] = ipv4.Message{Buffers: b.buffers[i][:], Addr: to}
	}
}

// resends is how often a batch is tried again where answers to earlier packets
// kept coming as errors.
const resends = 8

// send writes as many messages as the kernel takes. An error belongs to the first message that
// was not sent, except one that is about an earlier packet: the message is tried again then.
func (e *Exporter) send(ms []ipv4.Message) (n int, err error) {
	for range resends {
		n, err = e.conn.WriteBatch(ms, 0)
		earlier := e.takeAnswers() > 0 || errors.Is(err, unix.ECONNREFUSED)
		if err == nil || !earlier {
			break
		}
	}
	return max(n, 0), err
}

// takeAnswers counts the packets that came back and returns how many did. They
// were sent before, and are taken off the next that are.
func (e *Exporter) takeAnswers() int {
	var a answers
	n := e.conn.answers(&a)
	for reason, lost := range a {
		e.Dropped[reason].Add(lost)
	}
	e.back += n
	return n
}

// countSent counts msgs[from:from+n] as sent, but for packets that came back.
func (e *Exporter) countSent(from, n int) {
	if n > 0 {
		now := e.c.Clock()
		for i := from; i < from+n; i++ {
			e.Delays.Observe(e.batch.handoff[i].Delay(now))
		}
	}
	back := min(e.back, n)
	e.back -= back
	e.Packets.Add(uint64(n - back))
	for _, size := range e.batch.payload[from+back : from+n] {
		e.Bytes.Add(uint64(size))
	}
}
