// FastView and FastPolicy: the detector's state and the policies as the C of engine/fast reads
// them, outside the Go heap.

package event

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"

	"intsink/flows"
)

// MaxPolicies is how many watches a FastView has room for.
const MaxPolicies = 256

// FastView is the part of a detector's state that decides whether a packet gives no event. It
// is outside the Go heap: package engine/fast reads it in C.
type FastView struct {
	key               uint64 // of the hash of HotSet, odd
	Hot               uint64 // HotQueues where Queues is not empty, HotInterfaces where Interfaces is not
	more              uint64 // 1 where some watch asks for more than paths and latencies of hops
	links             flows.SmallIndex
	linkAt            [linkHints]uint32 // offset in the table of links where a link with such a hash was last found
	Queues            HotSet
	Interfaces        HotSet
	Policies          [MaxPolicies]FastPolicy
	policies          int
	linkAbsolute      uint32 // the least of all policies
	sweepQueues       HotSet // what Sweep has found
	sweepInterfaces   HotSet
	sweeping, sweepAt int // of which table, and how far
}

// newFastView maps a FastView: a detector makes one at start.
func newFastView(key uint64, links *flows.Small[Link]) *FastView {
	b, err := syscall.Mmap(-1, 0, int(unsafe.Sizeof(FastView{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("event: no memory for %d bytes: %v", unsafe.Sizeof(FastView{}), err)) // at start only
	}
	v := (*FastView)(unsafe.Pointer(&b[0])) // SAFETY: page aligned and large enough
	v.key, v.links = key, links.Index()
	for i := range v.linkAt {
		v.linkAt[i] = v.links.None
	}
	return v
}

func (v *FastView) close() {
	// SAFETY: what newFastView mapped.
	syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)))
}

// LinksOf makes v find the links that of finds: to compare views.
func (v *FastView) LinksOf(of *FastView) { v.links = of.links }

// Len is how many watches there are.
func (v *FastView) Len() int { return v.policies }

// linkHints is the size of FastView.linkAt.
const linkHints = 4096

// LinkUnchanged takes in the time ns that a packet took over the link with that key. It tells
// whether it is within the absolute deadband, and the last ones were. If not, other packets
// of the burst on that link are not passed either.
func (v *FastView) LinkUnchanged(key [2]uint64, ns uint64, tick uint32, p *FastPolicy) bool {
	k, seen := v.link(key)
	if k == nil {
		return false
	}
	if k.Window != 0 || ns >= math.MaxUint32 || uint64(int64(ns)-int64(k.Ref)+int64(p.LinkAbsolute)) > 2*uint64(p.LinkAbsolute) || k.Ref == unknown32 {
		k.Window |= heldLink
		k.settle(0)
		return false
	}
	k.Last, *seen = uint32(ns), tick
	return true
}

// add takes in what a policy asks for.
func (v *FastView) add(l *FastPolicy) {
	if l.Fabric || l.Link || l.PTP {
		v.more = 1
	}
	if l.Link {
		v.linkAbsolute = min(v.linkAbsolute, l.LinkAbsolute)
	}
}

// link is a link that is known, and when it was last seen.
func (v *FastView) link(key [2]uint64) (k *Link, seen *uint32) {
	hint := &v.linkAt[(key[0]*v.key+key[1])*v.key>>52]
	if k, seen = flows.EntryAt[Link](&v.links, *hint, key); k != nil {
		return k, seen
	}
	k, seen, at := flows.Peek[Link](&v.links, key)
	if k != nil {
		*hint = at
	}
	return k, seen
}

// heldLink is a bit of Link.Window that the next value shifts out.
const heldLink = 0x80

// FastLayout is the size of a FastView, a FastPolicy and an entry of a link, and the offset
// of every field that C reads, in the order of its struct, to be compared with C.
func FastLayout() []uintptr {
	var v *FastView
	var p *FastPolicy
	var l *Link
	return append([]uintptr{
		unsafe.Offsetof(v.Hot), unsafe.Offsetof(v.links), unsafe.Offsetof(v.linkAt), unsafe.Offsetof(v.Queues), unsafe.Offsetof(v.Interfaces), unsafe.Offsetof(v.Policies),
		unsafe.Sizeof(*p), unsafe.Offsetof(p.Mask), unsafe.Offsetof(p.Fabric), unsafe.Offsetof(p.Link), unsafe.Offsetof(p.PTP), unsafe.Offsetof(p.ByFlow),
		unsafe.Offsetof(p.Absolute), unsafe.Offsetof(p.Twice), unsafe.Offsetof(p.End), unsafe.Offsetof(p.EndTwice), unsafe.Offsetof(p.ClockOffset),
		unsafe.Offsetof(p.SampleLeft), unsafe.Offsetof(p.SampleEvery), unsafe.Offsetof(p.Raise), unsafe.Offsetof(p.Latency), unsafe.Offsetof(p.Tx),
		unsafe.Offsetof(p.Refresh), unsafe.Offsetof(p.LinkAbsolute), unsafe.Offsetof(p.Most),
	}, flows.SmallLayout(Link{}, unsafe.Offsetof(l.Ref), unsafe.Offsetof(l.Last), unsafe.Offsetof(l.Window), unsafe.Offsetof(l.least))...)
}

// FastPolicy is a watch's policy as the fast path needs it: when a packet gives no event, and
// how many packets are left to the next sample. Package engine/fast reads it, in C too.
type FastPolicy struct {
	Flags        flows.Want // of the flow, under Mask
	Mask         uint8
	ByFlow       bool // samples are all packets of some flows
	_            bool
	Fabric, Link bool // queues or interfaces are watched; links are
	PTP          bool // the source's timestamp makes the end-to-end latency
	byLatency    bool // Latency is a threshold

	Absolute, Twice         uint32 // how far a hop's latency may be from its reference; twice that
	End, EndTwice           uint64 // how far the end-to-end latency may be from its reference; twice that
	ClockOffset             int64  // as Thresholds has it
	SampleLeft, SampleEvery uint32 // packets to the next sample, and from one to the next; 0: none are taken
	Raise, Latency, Tx      uint32 // thresholds that no hop may reach: queue occupancy, latency, utilization
	Refresh                 uint32 // the sign bit, where refreshes are watched
	LinkAbsolute            uint32 // how far a link's latency may be from its reference

	// Most are the highest values of a hop that reach no threshold, in the order of these
	// constants: vectors of words are compared with them.
	Most [4]uint32
}

// Places in FastPolicy.Most.
const (
	MostLatency   = iota
	MostQueue     // 24 bits of occupancy
	MostTx        // utilization
	MostUnbounded // of any other word
)

// below is the highest value that does not reach a threshold.
func below(threshold uint32) uint32 {
	if threshold == never {
		return never
	}
	return threshold - 1
}

// TakeSample counts one packet of the flow with that hash and reports whether it is a sample.
func (l *FastPolicy) TakeSample(hash uint64) bool {
	if l.SampleLeft--; l.SampleLeft != 0 {
		return false
	}
	l.SampleLeft = l.SampleEvery
	l.byLatency = l.Latency != never
	if l.ByFlow {
		l.SampleLeft = 1 // the hash decides for every packet
		return l.SampleEvery != 0 && hash>>32%uint64(l.SampleEvery) == 0
	}
	return l.SampleEvery != 0
}

// sampleDue reports whether the next packet may be a sample.
func (l *FastPolicy) sampleDue() bool { return l.SampleLeft == 1 && l.SampleEvery != 0 }

// fastPolicy compiles p. The fast path compares values as they are on the wire: where node
// models scale them, every packet goes through Packet.
func (p *Policy) fastPolicy(m *models) FastPolicy {
	t := &p.Thresholds
	l := FastPolicy{
		Twice:      ^uint32(0), // no latency is that far from another
		End:        1 << 62,    // and no sum
		SampleLeft: p.Sample, SampleEvery: p.Sample, ByFlow: p.SampleByFlow && p.Sample > 0,
		Fabric: p.fabric != fabricThresholds{raise: never, tx: never, latency: never}, Link: p.Events.Has(LinkLatency),
		Raise: p.fabric.raise, Latency: p.fabric.latency, Tx: p.fabric.tx,
		LinkAbsolute: t.LinkLatency.Absolute, ClockOffset: t.ClockOffset,
	}
	l.Most = [4]uint32{MostLatency: below(l.Latency), MostQueue: below(l.Raise), MostTx: below(l.Tx), MostUnbounded: never}
	if l.ByFlow {
		l.SampleLeft = 1
	}
	if p.Events.Has(HopLatency) {
		l.Absolute, l.Twice = t.Latency.Absolute, 2*t.Latency.Absolute
	}
	if p.Events.Has(EndToEnd) {
		l.Flags, l.End, l.PTP = flows.EndToEnd, uint64(t.EndToEnd.Absolute), t.PTP
	}
	l.EndTwice = 2 * l.End
	if p.Events.Has(Refresh) {
		l.Refresh = 1 << 31
	}
	if m.scale || m.any && (l.Link || l.PTP) || l.Absolute >= 1<<31 {
		l.Flags = flows.Never
	}
	l.Mask = l.Flags.Mask()
	return l
}
