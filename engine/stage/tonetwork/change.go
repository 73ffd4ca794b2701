// Takes INT out of packets from the host, of each layer that has it, and clears the mark of INT.

package tonetwork

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

// Change changes the packets that are in b.Change.
//
//go:noinline
func (s *Stage) Change(b *burst.Burst) {
	for left := b.Change; left != 0; left &= left - 1 {
		s.changeOne(b, bits.TrailingZeros64(left))
	}
}

func (s *Stage) changeOne(b *burst.Burst, i int) {
	if _, result := s.find(b.Vec[i], b); result == inthdr.Sound {
		status, result := s.strip(b, i)
		if b.Verdict[i] == burst.Consumed || result == inthdr.Sound || !s.settle(b, i, status, result) || s.rules[b.Link.Index].Mark != ClearMarks {
			return
		}
	}
	action := MarkForwarded
	if s.clearMarks(b, b.Vec[i]) {
		action = MarkCleared
	}
	s.count(b, action)
}

// strip takes INT out of packet i, as for a host. What it returns is of the packet as it leaves.
func (s *Stage) strip(b *burst.Burst, i int) (status packet.Status, result inthdr.Result) {
	m, l, info := b.Vec[i], &b.Layers[0], &b.Info[0]
	for depth := 0; depth <= inthdr.MaxDepth; depth++ {
		if why, drop := undeliverable(info); drop {
			b.DropPacket(i, why)
			b.Leave(burst.Left{I: uint8(i), Frame: m, Event: burst.NoEvent, Dropped: true, Why: why})
			break
		}
		m.Adj(strip.Strip(m.Bytes(), l, info, &b.Outers[0]))
		burst.Headers(m)
		if status, result = s.find(m, b); result != inthdr.Sound {
			break
		}
	}
	return status, result
}

// undeliverable tells whether a packet is dropped where its INT is to be taken out, and why.
func undeliverable(i *inthdr.Info) (why burst.DropReason, drop bool) {
	if i.Discard {
		return burst.DiscardReason(i), true
	}
	return burst.DropCongested, i.Edit.Has(inthdr.DropCongested)
}

// clearMarks takes the mark off the DSCP of each layer of m that bears it and has no INT, and tells whether
// there was one.
func (s *Stage) clearMarks(b *burst.Burst, m *mbuf.Mbuf) (cleared bool) {
	f := m.Bytes()
	l, info, o := &b.Layers[0], &b.Info[0], &b.Outers[0]
	for range inthdr.MaxDepth + 2 {
		status, result := s.find(m, b)
		switch {
		case result == inthdr.Unsound && info.Marking == inthdr.ByDSCP && info.Reason != inthdr.ReasonTooDeep && b.Link.Locator.BearsDSCP(f, l, status):
			strip.PutDSCP(f, l, b.Link.Locator.Unmarked(l.DSCP), o[:info.Depth])
		case packet.Parse(f, m.PktLen(), l) == status && b.Link.Locator.BearsDSCP(f, l, status):
			strip.PutDSCP(f, l, b.Link.Locator.Unmarked(l.DSCP), nil)
		default:
			return cleared
		}
		cleared = true
	}
	return cleared
}
