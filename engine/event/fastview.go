// FastView: memory outside the Go heap that the C of engine/fast reads: policies, node
// models, links; finds a link by a hint.

package event

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"

	"intsink/engine/usual"
	"intsink/flows"
)

// MaxPolicies is how many watches a FastView has room for.
const MaxPolicies = 256

// FastView is the part of a detector's state that decides whether a packet gives no event. It
// is outside the Go heap: package engine/fast reads it in C.
type FastView struct {
	key               uint64 // of the hash of HotSet, odd
	Hot               uint64 // HotQueues where Queues is not empty, HotInterfaces where Interfaces is not
	more              uint64 // 1 where some watch asks for more than paths and latencies of hops, or nodes have a unit of latency
	links             flows.SmallIndex
	linkAt            [linkHints]uint32 // offset in the table of links where a link with such a hash was last found
	Policies          [MaxPolicies]FastPolicy
	modelsAt          unsafe.Pointer // nodes that have models of their own: modelMask + 1 places
	modelShift        uint32         // of the hash, to a place
	modelMask         uint32
	others            fastModel      // of all other nodes
	limits            unsafe.Pointer // usual.Limits
	limitsKey         uint64         // of the hash of limits
	Queues            HotSet         // large, so behind what each packet reads
	Interfaces        HotSet
	policies          int
	linkAbsolute      uint32 // the least of all policies
	sweepQueues       HotSet // what Sweep has found
	sweepInterfaces   HotSet
	sweeping, sweepAt int // which table Sweep walks, and how far it has come
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

// setLimits makes l what C takes thresholds from.
func (v *FastView) setLimits(l *usual.Limits) { v.limits, v.limitsKey = l.Address() }

func (v *FastView) close() {
	// SAFETY: what newFastView mapped.
	syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)))
}

// LinksOf makes v find the links, models and limits that of finds: to compare views.
func (v *FastView) LinksOf(of *FastView) {
	v.links, v.modelsAt, v.limits, v.limitsKey = of.links, of.modelsAt, of.limits, of.limitsKey
}

// fastModel is what C has to know of a NodeModel.
type fastModel struct {
	node, latency, queue, buffer uint32 // units
	full                         uint32 // NodeModel.TxFull
	used                         uint32
}

// Units returns the units of a node's latency and occupancy.
func (v *FastView) Units(node uint32) (latency, queue uint32) {
	m := &v.others
	if v.modelsAt != nil {
		for i := node * 0x9e3779b1 >> v.modelShift; ; i = (i + 1) & v.modelMask {
			e := (*fastModel)(unsafe.Add(v.modelsAt, uintptr(i)*unsafe.Sizeof(fastModel{}))) // SAFETY: within what CompileModels mapped
			if e.used == 0 {
				break
			}
			if e.node == node {
				m = e
				break
			}
		}
	}
	return m.latency, m.queue
}

// SizeOfModel is the size of a node's model as the C reads it.
const SizeOfModel = unsafe.Sizeof(fastModel{})

// setModels makes m the models that C finds.
func (v *FastView) setModels(m *CompiledModels) {
	v.others = m.models.of(math.MaxUint32).fast(math.MaxUint32)
	if m.models.others == nil {
		v.others = asIs.fast(math.MaxUint32)
	}
	v.modelsAt, v.modelShift, v.modelMask = nil, uint32(m.models.shift), uint32(len(m.models.entries)-1)
	if m.mapped != nil {
		v.modelsAt = unsafe.Pointer(&m.mapped[0])
	}
}

func (m *NodeModel) fast(node uint32) fastModel {
	return fastModel{node: node, latency: m.LatencyUnit, queue: m.QueueUnit, buffer: m.BufferUnit, full: m.TxFull, used: 1}
}

// Len returns how many watches there are.
func (v *FastView) Len() int { return v.policies }

// linkHints is the size of FastView.linkAt.
const linkHints = 4096

// add takes in what a policy asks for.
func (v *FastView) add(l *FastPolicy) {
	if l.Fabric && (l.Factor == 0 || l.Tx != never) || l.Link || l.PTP || l.Unit > 1 {
		v.more = 1
	}
	if l.Link {
		v.linkAbsolute = min(v.linkAbsolute, l.LinkAbsolute)
	}
}

// FastLayout returns the size of a FastView, a FastPolicy and an entry of a link, and the offset of
// every field that C reads, in the order of its struct, to be compared with C.
func FastLayout() []uintptr {
	var v *FastView
	var p *FastPolicy
	var l *Link
	return append([]uintptr{
		unsafe.Offsetof(v.Hot), unsafe.Offsetof(v.links), unsafe.Offsetof(v.linkAt), unsafe.Offsetof(v.Queues), unsafe.Offsetof(v.Interfaces), unsafe.Offsetof(v.Policies), unsafe.Offsetof(v.modelsAt), unsafe.Offsetof(v.others), unsafe.Offsetof(v.limits), unsafe.Offsetof(v.limitsKey),
		unsafe.Sizeof(*p), unsafe.Offsetof(p.Mask), unsafe.Offsetof(p.Fabric), unsafe.Offsetof(p.Link), unsafe.Offsetof(p.PTP), unsafe.Offsetof(p.ByFlow),
		unsafe.Offsetof(p.Absolute), unsafe.Offsetof(p.Twice), unsafe.Offsetof(p.End), unsafe.Offsetof(p.EndTwice), unsafe.Offsetof(p.ClockOffset),
		unsafe.Offsetof(p.SampleLeft), unsafe.Offsetof(p.SampleEvery), unsafe.Offsetof(p.Raise), unsafe.Offsetof(p.Latency), unsafe.Offsetof(p.Tx),
		unsafe.Offsetof(p.Refresh), unsafe.Offsetof(p.LinkAbsolute), unsafe.Offsetof(p.Most), unsafe.Offsetof(p.MostTogether), unsafe.Offsetof(p.Hops), unsafe.Offsetof(p.Loss), unsafe.Offsetof(p.Factor), unsafe.Offsetof(p.random),
	}, flows.SmallLayout(Link{}, unsafe.Offsetof(l.Ref), unsafe.Offsetof(l.Last), unsafe.Offsetof(l.Window), unsafe.Offsetof(l.least))...)
}
