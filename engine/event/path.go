// Events path_change and path_switch: the keyed hash of a path, the current path of a flow and
// the other known ones.

package event

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// mix takes one word of a path into its hash. The key is odd and secret: words
// that collide cannot be chosen without it.
func (d *Detector) mix(h, v uint64) uint64 { return bits.RotateLeft64((h^v)*d.key, 32) }

// path compares the packet's path, as hops hashed it, with the flow's paths.
func (d *Detector) path(now int64, f *flows.Flow, p *Policy, o *Observation, h uint64) (set Set) {
	switch {
	case f.NumPaths == 0: // the first evidence sets the reference
		f.NumPaths, f.PathHash, f.PathSeen, f.PathHops = 1, h, flows.Tick(now), PathHops(0, o.Layout)&NodesAlone
	case f.PathHash == h:
		f.PathSeen = flows.Tick(now)
	default:
		set = d.otherPath(now, f, p, o, h)
	}
	if o.Common && f.PathHash == h && f.PathHops != PathHops(int(o.Info.Hops), o.Layout) {
		storePath(f, p, o)
	}
	return set
}

// Flags of flows.Flow.PathHops, beside the number of hops.
const (
	NodesAlone = 0x40 // the path has no interfaces; also while it is not stored
	NoLatency  = 0x80 // the packet that it was stored of has no latencies: there need be no references
)

// PathHops is what flows.Flow has of a path of n hops with that layout.
func PathHops(n int, l *inthdr.Layout) uint8 {
	if l.Interfaces < 0 {
		n |= NodesAlone
	}
	if l.HopLatency < 0 {
		n |= NoLatency
	}
	return uint8(n)
}

// IsStored reports whether f's path stands in its hops, for package fast.
func IsStored(f *flows.Flow) bool { return f.PathHops&^NodesAlone != 0 }

// Unstore has f's next packet store its path anew.
func Unstore(f *flows.Flow) { f.PathHops &= NodesAlone }

// tellsPath reports whether hops of a layout are evidence of f's path: nodes alone are not, of a flow whose path has interfaces.
func tellsPath(f *flows.Flow, l *inthdr.Layout) bool {
	return l.Interfaces >= 0 || f.NumPaths == 0 || f.PathHops&NodesAlone != 0
}

// storePath stores the current path, which o is on, so that package fast knows it without hashing:
// its hops come first among those of the flow, in the order of the path. A hop that is new here, where its
// latency is not watched or not told, has no reference; others keep theirs, for the next watch that asks.
//
//go:noinline
func storePath(f *flows.Flow, p *Policy, o *Observation) {
	stack, n, l := o.Frame[o.Info.Stack:][:o.Info.StackLen], int(o.Info.Hops), o.Layout
	watched := p.Events.Has(HopLatency) && l.HopLatency >= 0
	if Unstore(f); n > len(f.Hops) || watched && n > int(f.NumHops) {
		return
	}
	for i := range f.Hops[:n] {
		hop := stack[i*int(o.Info.HopLen):]
		node := binary.LittleEndian.Uint32(hop)
		if !bringForward(f, i, node) {
			if watched {
				return
			}
			putHop(f, i, node, o)
		}
		if watched && f.Hops[i].Ref > farthest {
			return
		}
		f.Hops[i].Interfaces = 0
		if l.Interfaces >= 0 {
			f.Hops[i].Interfaces = binary.LittleEndian.Uint32(hop[l.Interfaces:])
		}
	}
	f.PathHops = PathHops(n, l)
}

// putHop puts a hop without a reference at place i. That which stood there goes behind all others, or, where there is no
// room, to the place of one that o does not pass.
func putHop(f *flows.Flow, i int, node uint32, o *Observation) {
	if last := int(f.NumHops); i < last && last < len(f.Hops) {
		f.NumHops++
		swapHops(f, i, last)
	} else if i < last {
		if at := notPassedIndex(f, o); at > i {
			swapHops(f, i, at)
		}
	}
	f.Hops[i] = flows.Hop{Node: node, Ref: unknown32}
	f.SetWindow(i, 0)
	if f.HasCold() {
		f.Cold().HopSent[i] = 0
	}
	f.NumHops = max(f.NumHops, uint8(i+1))
}

// bringForward puts the hop of a node at place i, which it may have already or come to from
// behind, and reports whether there is one.
func bringForward(f *flows.Flow, i int, node uint32) bool {
	at := i
	for at < int(f.NumHops) && f.Hops[at].Node != node {
		at++
	}
	if at == int(f.NumHops) {
		return false
	}
	if at == i {
		return true
	}
	swapHops(f, i, at)
	return true
}

func swapHops(f *flows.Flow, i, k int) {
	f.Hops[i], f.Hops[k] = f.Hops[k], f.Hops[i]
	a, b := f.Window(i), f.Window(k)
	f.SetWindow(i, b)
	f.SetWindow(k, a)
	if f.HasCold() {
		c := f.Cold()
		c.HopSent[i], c.HopSent[k] = c.HopSent[k], c.HopSent[i]
	}
}

// otherPath handles a path that is not the current one.
//
//go:noinline
func (d *Detector) otherPath(now int64, f *flows.Flow, p *Policy, o *Observation, h uint64) Set {
	t := &p.Thresholds
	was, quick := IsSprayed(now, f), quickChanges(now, f)
	begins := !was && quick == ManyQuick
	at, lost := knownPathIndex(f, h), lostPathIndex(now, f, was)
	if lost == at {
		lost = -1
	}
	known, full := at >= 0 && (was || !isOlder(now, f.Cold().Paths[at], t.PathMemory)), was && int(f.NumPaths) >= p.mostPaths()
	kind, news := PathChange, begins || lost >= 0 || !known && !full
	if !news {
		kind = PathSwitch
	}
	d.Counters.Fired[kind]++
	report := p.Events.Has(PathChange) && (news || t.ReportKnown)
	if report && !takePathToken(now, f, t.PathRate) {
		return d.withhold(f, kind, SuppressRate) // not learned: the next packet on this path asks again
	}
	spray := &f.Cold().Spray
	spray.Quick, spray.More = quick, was && (spray.More || at < 0 && full && lost < 0)
	forgetPath(f, lost)
	spray.Moved(now, f)
	makeCurrent(now, f, knownPathIndex(f, h), p.mostPaths())
	f.PathHash, f.PathSeen, f.PathHops = h, flows.Tick(now), PathHops(0, o.Layout)&NodesAlone
	sprayed := was && quick == ManyQuick || begins
	switch {
	case !report && !sprayed && LastEvents(f).Has(PathChange): // it goes back, which nobody is told: a change nevertheless
		d.newsAt = now
		fallthrough
	case !report:
		return 0
	case sprayed:
		return PathChange.Set() | PathSwitch.Set()
	}
	return PathChange.Set()
}

// mostPaths is how many paths of a flow are known at most.
func (p *Policy) mostPaths() int { return min(max(p.Thresholds.Paths, 1), flows.MaxPaths) }

// knownPathIndex returns the place of a path that is not the current one, or -1.
func knownPathIndex(f *flows.Flow, h uint64) int {
	for i := range int(f.NumPaths) - 1 {
		if f.Cold().Paths[i].Hash == h {
			return i
		}
	}
	return -1
}

// makeCurrent stores the current path among the others, at most limit-1: into place at, which
// the new current path leaves; or, if at is -1, into a free place or that of the path that was
// not seen for longest.
func makeCurrent(now int64, f *flows.Flow, at, limit int) {
	others := int(f.NumPaths) - 1
	switch {
	case at >= 0:
	case others < limit-1:
		at = others
		f.NumPaths++
	case others == 0:
		return
	default:
		at = 0
		for i := range others {
			if f.Cold().Paths[i].Seen() < f.Cold().Paths[at].Seen() {
				at = i
			}
		}
	}
	f.Cold().Paths[at] = flows.LeftPath(f.PathHash, flows.LongTick(now, f.PathSeen), f.Cold().Spray.Change)
}

// NextPathReport is when a new path of a flow with this state can be reported under a rate, in Unix nanoseconds: now, or
// when its bucket has a token again.
func NextPathReport(now int64, c *flows.Cold, rate int) int64 {
	if rate == 0 || c.PathRefill == 0 {
		return now
	}
	left := c.PathTokens + min(max(now-c.PathRefill, 0), token)*int64(rate)
	return now + (max(token-left, 0)+int64(rate)-1)/int64(rate)
}

// takePathToken takes one of rate tokens per second from the flow's bucket; a
// bucket that was never used is full.
func takePathToken(now int64, f *flows.Flow, rate int) bool {
	if rate == 0 {
		return true
	}
	c := f.Cold()
	b := tokens{c.PathTokens, c.PathRefill, c.PathRefill != 0}
	ok := b.take(now, rate)
	c.PathTokens, c.PathRefill = b.left, b.last
	return ok
}
