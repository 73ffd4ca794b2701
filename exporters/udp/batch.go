package udp

import (
	"errors"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"intsink/dpdk/mbuf"
)

// batch is one system call's worth of messages. The buffers are the mbufs'
// own bytes: nothing is copied before the kernel does.
type batch struct {
	msgs    [mbuf.MaxBurst]ipv4.Message
	buffers [mbuf.MaxBurst][1][]byte
	payload [mbuf.MaxBurst]int // UDP payload bytes of each
}

// ethernetLen is what a UDPFrame puts in front of the IP header, which a raw
// IP socket does not want.
const ethernetLen = 14

// fill makes messages of v[:n].
func (b *batch) fill(c conn, v *mbuf.Vec, n int) {
	to := c.peer()
	for i := range n {
		m := v[i]
		h := handoff(m)
		b.payload[i] = m.PktLen()
		bytes := m.Bytes()
		if f := c.header(h.Entropy); f != nil {
			bytes = m.Prepend(f.HeaderLen())
			f.Put(bytes)
			bytes = bytes[ethernetLen:]
		}
		b.buffers[i][0] = bytes
		b.msgs[i] = ipv4.Message{Buffers: b.buffers[i][:], Addr: to}
	}
}

// send writes as many messages as the kernel takes. An error belongs to the
// first message that was not sent, except ECONNREFUSED, which tells of an
// earlier one: that message is tried once more.
func (e *Exporter) send(ms []ipv4.Message) (int, error) {
	n, err := e.conn.WriteBatch(ms, 0)
	if err != nil && errors.Is(err, unix.ECONNREFUSED) {
		n, err = e.conn.WriteBatch(ms, 0)
	}
	return max(n, 0), err
}
