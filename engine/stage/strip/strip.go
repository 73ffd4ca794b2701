// Package strip takes INT out of packets that still have it, and discards those with the D flag;
// bursts of a worker without watches, whose packets have no flow.
package strip

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/fast"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

// Stage is the stage of one worker.
type Stage struct{}

// New makes the stage of a worker. It owns nothing: a burst has all that it needs.
func New() *Stage { return new(Stage) }

// Do takes INT out of every sound INT packet that still has it, or discards the
// packet where its source asked for that.
func (s *Stage) Do(b *burst.Burst) {
	f := b.Fast
	if !f.Strips() { // C left INT in passed packets: strip them now
		b.KeepLeft()
	}
	which := b.Keeps
	for left := b.Keeps &^ (f.Samples | f.Kept); left != 0; left &= left - 1 { // those were passed in C: they have a template and no D flag
		j := uint8(bits.TrailingZeros64(left))
		switch at := f.Template[j]; {
		case at == fast.None:
			which &^= 1 << j
			s.stripParsed(b, j)
		case f.Info(at).Discard:
			which &^= 1 << j
			b.DropPacket(int(f.At[j]), burst.DiscardReason(f.Info(at)))
		}
	}
	f.Strip(which)
}

// stripParsed is Do for packet j, which has no template.
//
//go:noinline
func (s *Stage) stripParsed(b *burst.Burst, j uint8) {
	i := int(b.Fast.At[j])
	info := &b.Info[i]
	if info.Discard {
		b.DropPacket(i, burst.DiscardReason(info))
		return
	}
	if info.Edit.Has(inthdr.DropCongested) {
		b.Congested(int(j))
		return
	}
	countTunnel(b, info)
	f := b.Vec[i].Bytes()
	b.Vec[i].Adj(strip.Strip(f, &b.Layers[i], info, &b.Outers[i]))
	if b.Link.Locator.Encloses(f, &b.Layers[i], info) {
		s.stripInside(b, j)
	}
}

// countTunnel counts a tunnel that the packet was sent to the sink in.
func countTunnel(b *burst.Burst, i *inthdr.Info) {
	if i.EndsTunnel() {
		b.Link.Counters.Decapsulated++
	}
}

// Unwatched is all that becomes of INT packets where there is no watch: no flow is
// kept, and INT goes.
func (s *Stage) Unwatched(b *burst.Burst) {
	f := b.Fast
	if !b.Aside && !b.Unlike && len(f.Deferred()) == 0 { // it is gone
		b.CountINT(0)
		return
	}
	n, others := f.Len(), 0
	for j, i := range f.At[:n] {
		info := &b.Info[i&(mbuf.MaxBurst-1)]
		if at := f.Template[j&(mbuf.MaxBurst-1)]; at != fast.None && f.Info(at).Type == inthdr.IFA {
			b.Complete(uint8(j)) // it tells itself whether its hops have a layout
		} else if at != fast.None {
			info = f.Info(at)
		}
		if b.Marked(uint8(j) & (mbuf.MaxBurst - 1)) {
			b.Link.Counters.Marked++
		}
		b.Link.Counters.CountFlags(info)
		if info.Type != inthdr.MD || info.Reason != inthdr.ReasonNone {
			b.Link.Counters.INT[info.Type]++
			b.Link.Counters.CountReason(info)
			others++
		}
	}
	b.Link.Counters.INT[inthdr.MD] += uint64(n - others)
	b.Link.Counters.Malformed[0] = 0 // no reason
	b.Keeps = 1<<n - 1
	if b.Link.Host != nil {
		s.Do(b)
	}
}

// stripInside takes INT also out of the packet inside of packet j, which is a tunnel. INT of both
// layers belongs to one packet: it is counted and reported once, by the outermost. A packet with
// unsound INT inside is passed or dropped like any other.
//
//go:noinline
func (s *Stage) stripInside(b *burst.Burst, j uint8) {
	i := int(b.Fast.At[j])
	m, l, info, o := b.Vec[i], &b.Layers[i], &b.Info[i], &b.Outers[i]
	other := b.Link.Locator.LeavesOther(info)
	for depth := range inthdr.MaxDepth + 1 {
		f := burst.Headers(m)
		switch packet.Parse(f, m.PktLen(), l) {
		case packet.OK:
		case packet.TooDeep:
			info.Reason = inthdr.ReasonTooDeep
			b.Unsound(i)
			return
		default:
			return
		}
		r := inthdr.NotINT
		if other {
			*info = inthdr.Info{}
			r = b.Link.Locator.Find(f, l, info, o)
		} else {
			r = b.Link.Locator.LocateInside(f, l, info, o)
		}
		switch {
		case r == inthdr.NotINT:
			return
		case depth == inthdr.MaxDepth:
			info.Reason = inthdr.ReasonTooDeep
			b.Unsound(i)
			return
		case r == inthdr.NeedMore:
			info.Reason = inthdr.ReasonSegmented
			b.Unsound(i)
			return
		case r == inthdr.Unsound:
			b.Unsound(i)
			return
		}
		if info.Discard {
			b.DropPacket(i, burst.DiscardReason(info))
			return
		}
		if info.Edit.Has(inthdr.DropCongested) { // a second tunnel
			b.Congested(int(j))
			return
		}
		countTunnel(b, info)
		other = b.Link.Locator.LeavesOther(info)
		m.Adj(strip.Strip(f, l, info, o))
		if !b.Link.Locator.Encloses(f, l, info) {
			return
		}
	}
}
