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

// FastView is what of a detector's state reports whether a packet gives no event. It is
// outside the Go heap: package engine/fast reads it in C.
type FastView struct {
	key               uint64 // of the hash of HotSet, odd
	Hot               uint64 // not zero: Queues or Interfaces is not empty
	links             flows.SmallIndex
	Queues            HotSet
	Interfaces        HotSet
	Policies          [MaxPolicies]FastPolicy
	policies          int
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

// QuietLink takes in the time ns that a packet took over the link with that key. It tells
// whether it is within the absolute deadband, and the last ones were. If not, other packets
// of the burst on that link are not quiet either.
func (v *FastView) QuietLink(key [2]uint64, ns uint64, tick uint32, p *FastPolicy) bool {
	k, seen := flows.Peek[Link](&v.links, key)
	if k == nil {
		return false
	}
	if k.Window != 0 || ns >= math.MaxUint32 || k.Ref == unknown32 ||
		uint64(int64(ns)-int64(k.Ref)+int64(p.LinkAbsolute)) > 2*uint64(p.LinkAbsolute) {
		k.Window |= heldLink
		return false
	}
	k.Last, *seen = uint32(ns), tick
	return true
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
		unsafe.Offsetof(v.Hot), unsafe.Offsetof(v.links), unsafe.Offsetof(v.Queues), unsafe.Offsetof(v.Interfaces), unsafe.Offsetof(v.Policies),
		unsafe.Sizeof(*p), unsafe.Offsetof(p.Mask), unsafe.Offsetof(p.Fabric), unsafe.Offsetof(p.Link), unsafe.Offsetof(p.PTP), unsafe.Offsetof(p.ByFlow),
		unsafe.Offsetof(p.Absolute), unsafe.Offsetof(p.Twice), unsafe.Offsetof(p.End), unsafe.Offsetof(p.EndTwice), unsafe.Offsetof(p.ClockOffset),
		unsafe.Offsetof(p.SampleLeft), unsafe.Offsetof(p.SampleEvery), unsafe.Offsetof(p.Raise), unsafe.Offsetof(p.Latency), unsafe.Offsetof(p.Tx),
		unsafe.Offsetof(p.Refresh), unsafe.Offsetof(p.LinkAbsolute),
	}, flows.SmallLayout(Link{}, unsafe.Offsetof(l.Ref), unsafe.Offsetof(l.Last), unsafe.Offsetof(l.Window))...)
}
