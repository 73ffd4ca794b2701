//go:build !race

package port

import (
	"testing"

	"intsink/dpdk/mbuf"
)

// TestNothingIsAllocated: neither for a report packet nor for a frame heard.
func TestNothingIsAllocated(t *testing.T) {
	config := six()
	config.GatewayMAC, config.SourcePort.Hash = theirs, true
	p, q := New(ours), newQueue(t)
	s, v := p.Exporter(config).Sender(0, nothing{q}, q.pool), mbuf.NewVec()
	p.Exporter(four())
	station := p.Station(0, nothing{q}, q.pool, false)
	frames := [][]byte{
		solicits(gatewayOf(six(), other), "2001:db8::1"),
		arpFrom(gatewayOf(four(), theirs), arpReply, ours, "192.0.2.1"),
	}
	now := int64(0)
	if n := testing.AllocsPerRun(100, func() {
		sealQuietly(q.pool, v)
		s.Send(v, 8)
		now += second
		for _, f := range frames {
			station.Hear(f, now)
		}
		station.Tick(now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// nothing is a port that frees what it transmits.
type nothing struct{ *memQueue }

func (q nothing) TxBurst(v *mbuf.Vec, n int) int {
	q.pool.FreeBulk(v, n)
	return n
}

// sealQuietly is seal without allocations.
func sealQuietly(a *mbuf.Arena, v *mbuf.Vec) {
	a.AllocBulk(v, 8)
	for _, m := range v[:8] {
		clear(m.SetLen(216))
	}
}
