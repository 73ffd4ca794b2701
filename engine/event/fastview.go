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
	models            unsafe.Pointer // nodes that have models of their own: modelMask + 1 places
	modelShift        uint32         // of the hash, to a place
	modelMask         uint32
	others            fastModel      // of all other nodes
	limits            unsafe.Pointer // usual.Limits
	limitsKey         uint64         // of the hash of limits
	full              uint64         // of C, for the packet at hand
	tallies           unsafe.Pointer // episode.Tallies
	Records           uint64         // 1: packets of flows that C adds to tallies keep their INT: the flight recorder may have room for them
	epoch             uint64         // how often Queues has changed, from 1 on: flows.Again
	crosses           uint64         // of C, for the packet at hand
	busied            uint64         // places of busy whose last and seen C has set, a bit each
	busy              [BusyRuns]busyRun
	Queues            HotSet // large, so behind what each packet reads
	Interfaces        HotSet
	policies          int
	linkAbsolute      uint32 // the least of all policies
	sweepQueues       HotSet // what Sweep has found
	sweepInterfaces   HotSet
	resting           bool // some queue is calm in an episode
	sweepResting      bool // Sweep has found one
	sweeping, sweepAt int  // which table Sweep walks, and how far it has come
}

// newFastView maps a FastView: a detector makes one at start.
func newFastView(key uint64, links *flows.Small[Link]) *FastView {
	b, err := syscall.Mmap(-1, 0, int(unsafe.Sizeof(FastView{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("event: no memory for %d bytes: %v", unsafe.Sizeof(FastView{}), err)) // at start only
	}
	v := (*FastView)(unsafe.Pointer(&b[0])) // SAFETY: page aligned and large enough
	v.key, v.links, v.epoch = key, links.Index(), 1
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

// LinksOf makes v find the links, models, limits and tallies that of finds: to compare views.
func (v *FastView) LinksOf(of *FastView) {
	v.links, v.models, v.limits, v.limitsKey, v.tallies = of.links, of.models, of.limits, of.limitsKey, of.tallies
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
	if v.models != nil {
		for i := node * 0x9e3779b1 >> v.modelShift; ; i = (i + 1) & v.modelMask {
			e := (*fastModel)(unsafe.Add(v.models, uintptr(i)*unsafe.Sizeof(fastModel{}))) // SAFETY: within what CompileModels mapped
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

// setModels makes m the models that C finds.
func (v *FastView) setModels(m *CompiledModels) {
	v.epoch++
	v.others = m.models.of(math.MaxUint32).fast(math.MaxUint32)
	if m.models.others == nil {
		v.others = asIs.fast(math.MaxUint32)
	}
	v.models, v.modelShift, v.modelMask = nil, uint32(m.models.shift), uint32(len(m.models.entries)-1)
	if m.mapped != nil {
		v.models = unsafe.Pointer(&m.mapped[0])
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
	v.epoch++
	if l.Fabric && (l.Factor == 0 || l.Tx != never) || l.Link || l.PTP || l.Unit > 1 {
		v.more = 1
	}
	if l.Link {
		v.linkAbsolute = min(v.linkAbsolute, l.LinkAbsolute)
	}
}
