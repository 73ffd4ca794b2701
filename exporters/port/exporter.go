// Exporter and Sender: report packets out of a DPDK port by the worker itself, framed, sent
// as a burst with bounded retries; what the port refused and why; UDP source port.

package port

import (
	"math/bits"
	"net/netip"
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/report"
	"intsink/exporters"
)

// Queue is the part of one rx/tx queue pair that is used here, as ethdev.Queue
// implements it.
type Queue interface {
	// RxBurst fills v and returns how many packets arrived.
	RxBurst(v *mbuf.Vec) int
	// TxBurst hands over v[:n] and returns how many were taken, from the front.
	TxBurst(v *mbuf.Vec, n int) int
}

// Pool gives and takes mbufs, as mempool.Mempool does.
type Pool interface {
	// AllocBulk fills v[:n] or, returning false, leaves v alone.
	AllocBulk(v *mbuf.Vec, n int) bool
	// FreeBulk gives v[:n] back, whole chains.
	FreeBulk(v *mbuf.Vec, n int)
}

// Config of one collector's exporter.
type Config struct {
	Collector  netip.AddrPort
	Source     netip.Addr // of the collector's family
	VLAN       uint16     // 802.1Q VLAN id, 1 to 4094; 0: no tag
	DSCP, TTL  uint8      // TTL 0: 64
	Gateway    netip.Addr // whose MAC address is asked for; the collector itself where it is on-link
	GatewayMAC MAC        // not zero: it is known, and nobody is asked
	SourcePort SourcePort
}

// SourcePort says what the UDP source port of a report packet is.
type SourcePort struct {
	Hash   bool   // of the first report's flow
	Fixed  bool   // Number, 0 included
	Number uint16 // neither: the worker's number in the dynamic range (RFC 6335)
}

const firstDynamicPort = 49152

// Of returns the source port of worker's report packet whose handoff is h.
func (p SourcePort) Of(worker int, h report.Handoff) uint16 {
	switch {
	case p.Hash:
		return report.EntropyPort(h.Entropy)
	case p.Fixed:
		return p.Number
	}
	return firstDynamicPort + uint16(worker)&0x3fff
}

// Exporter is one collector's: what its senders share.
type Exporter struct {
	c        Config
	mac      MAC // the port's
	neighbor *neighbor
	senders  []*Sender
}

// Sender makes worker's way to the collector; the worker owns queue, and pool
// frees the report packets.
func (e *Exporter) Sender(worker int, queue Queue, pool Pool) *Sender {
	s := &Sender{
		worker: worker, queue: queue, pool: pool, sourcePort: e.c.SourcePort, neighbor: e.neighbor,
		frame: report.UDPFrame{SrcMAC: e.mac, VLAN: e.c.VLAN, DSCP: e.c.DSCP, TTL: e.c.TTL, Src: netip.AddrPortFrom(e.c.Source, 0), Dst: e.c.Collector, ID: uint16(worker) << 10},
	}
	e.senders = append(e.senders, s)
	return s
}

// Resolved reports whether the gateway's MAC address is known.
func (e *Exporter) Resolved() bool {
	_, ok := e.neighbor.gatewayMAC()
	return ok
}

// Counters returns the sums of all senders'. Safe from any goroutine once all senders are made.
func (e *Exporter) Counters() (c exporters.Counters) {
	for _, s := range e.senders {
		c.Packets += s.packets.Load()
		c.Bytes += s.bytes.Load()
		for r := range c.Dropped {
			c.Dropped[r] += s.dropped[r].Load()
		}
	}
	return c
}

// Sender is one worker's way to a collector. Send belongs to the worker.
type Sender struct {
	worker     int
	queue      Queue
	pool       Pool
	sourcePort SourcePort
	neighbor   *neighbor
	frame      report.UDPFrame
	size       [mbuf.MaxBurst]int // UDP payload of the packets at hand

	// Written by the worker only, once per burst.
	packets, bytes atomic.Uint64
	dropped        [exporters.NumDropReasons]atomic.Uint64
}

// Send transmits the sealed report packets v[:n], each with its report.Handoff
// in front, or counts why not. They are its own from then on; v is used up.
func (s *Sender) Send(v *mbuf.Vec, n int) {
	mac, ok := s.neighbor.gatewayMAC()
	if !ok {
		s.pool.FreeBulk(v, n)
		s.dropped[exporters.DropUnresolved].Add(uint64(n))
		return
	}
	s.frame.DstMAC = mac
	for i, m := range v[:n] {
		s.size[i] = s.wrap(m)
	}
	o := transmit(s.queue, s.pool, v, n)
	bytes := 0
	for left := o.left; left != 0; left &= left - 1 {
		bytes += s.size[bits.TrailingZeros64(left)]
	}
	s.packets.Add(uint64(bits.OnesCount64(o.left)))
	s.bytes.Add(uint64(bytes))
	if o.tooLong+o.refused > 0 {
		s.dropped[exporters.DropPacketTooBig].Add(uint64(o.tooLong))
		s.dropped[exporters.DropPortFull].Add(uint64(o.refused))
	}
}

// wrap puts the frame around the report packet in m and returns the length of
// its payload. The headroom that the worker left is enough for all headers.
func (s *Sender) wrap(m *mbuf.Mbuf) (payload int) {
	h, _ := report.TakeHandoff(m.Bytes())
	m.Adj(report.HandoffLen)
	payload = m.PktLen()
	s.frame.Src = netip.AddrPortFrom(s.frame.Src.Addr(), s.sourcePort.Of(s.worker, h))
	s.frame.NextID()
	s.frame.Put(m.Prepend(s.frame.HeaderLen()))
	return payload
}

// txRetries bounds how often a full queue is tried again, as the engine does
// with packets: the worker must not stall.
const txRetries = 8

// refuser is a Queue that says why it did not take the packet behind those that it took, as
// afpacket.Queue does. The others are full.
type refuser interface{ Refusal() mbuf.Refusal }

func refusalOf(q Queue) mbuf.Refusal {
	if r, ok := q.(refuser); ok {
		return r.Refusal()
	}
	return mbuf.RefusedFull
}

// outcome is what became of a burst.
type outcome struct {
	left    uint64 // bit i: packet i has left
	tooLong int    // dropped: they exceed the MTU of the port
	refused int    // dropped: the port takes no more, or is down
}

// transmit sends v[:n]; what does not leave is freed. A packet that the port will never take
// costs itself only. The contents of v are used up.
func transmit(q Queue, pool Pool, v *mbuf.Vec, n int) (o outcome) {
	for tries, place := 0, 0; n > 0; {
		sent := q.TxBurst(v, n)
		o.left |= (1<<sent - 1) << place
		place += sent
		if n = copy(v[:], v[sent:n]); n == 0 {
			break
		}
		lost := 0
		switch why := refusalOf(q); {
		case why == mbuf.RefusedTooLong:
			lost = 1
			o.tooLong++
		case why == mbuf.RefusedFrame:
			lost = 1
			o.refused++
		case why == mbuf.RefusedFull && tries < txRetries:
			tries++
		default:
			lost = n
			o.refused += n
		}
		pool.FreeBulk(v, lost)
		place += lost
		n = copy(v[:], v[lost:n])
	}
	return o
}
