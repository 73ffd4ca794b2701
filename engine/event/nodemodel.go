// NodeModel: makes nanoseconds and bytes of what a node writes; width and epoch of
// timestamps, differences of those that wrap.

package event

import (
	"cmp"
	"fmt"
	"math/bits"
	"runtime"
	"syscall"
	"unsafe"

	"intsink/engine/wire/inthdr"
	"intsink/internal/ranges"
)

// MaxModelNodes bounds the nodes that the models of one detector list.
const MaxModelNodes = 1 << 16

// NodeModel says what the values of some nodes mean: INT 2.1 leaves their units to
// the operator of the domain. Zeros are as in asIs.
type NodeModel struct {
	Nodes         []NodeRange // empty: every node that no other model lists
	LatencyUnit   uint32      // of hop latency, nanoseconds
	QueueUnit     uint32      // of queue occupancy, in what CongestionRaise counts
	BufferUnit    uint32      // of buffer occupancy, the same
	Packet        uint32      // what a packet of full size takes of a queue, in what CongestionRaise counts; 0: nobody knows
	TxFull        uint32      // the utilization of an interface that is full: values become per cent; 0: they stay as they are
	TimestampBits uint8       // that count, at most; the format may have fewer
	TimestampUnit uint32      // nanoseconds
	Unix          bool        // timestamps count from 1970 on, as the sink's clock
}

// NodeRange is an inclusive range of node ids.
type NodeRange = ranges.Range[uint32]

// asIs is the model of a node that none lists.
var asIs = NodeModel{LatencyUnit: 1, QueueUnit: 1, BufferUnit: 1, TimestampBits: 64, TimestampUnit: 1, Unix: true}

// models finds a node's model: a table with open addresses, at most half full,
// which never changes. Its zero value has asIs for every node.
type models struct {
	entries []modelEntry // a power of two of them
	shift   uint8        // of the hash, to an index of entries
	others  *NodeModel   // of nodes that no model lists; nil: asIs
	any     bool         // there are some
	clocks  bool         // some timestamps are not of 64 bits of nanoseconds
	epochs  bool         // some do not count from 1970
	full    bool         // the unit of some utilization is known
	scale   bool         // some latency, occupancy or utilization is not as the wire has it
}

type modelEntry struct {
	id    uint32
	model *NodeModel // nil: free
}

func compileModels(list []NodeModel) (m models) {
	m.any = len(list) > 0
	listed := 0
	for i := range list {
		for _, r := range list[i].Nodes {
			listed += int(min(uint64(r.Last-r.First)+1, MaxModelNodes))
		}
	}
	if listed = min(listed, MaxModelNodes); listed > 0 {
		width := bits.Len(uint(2*listed - 1))
		m.entries, m.shift = make([]modelEntry, 1<<width), uint8(32-width)
	}
	for i := range list {
		model := new(NodeModel)
		*model = list[i].complete()
		m.scale = m.scale || model.LatencyUnit != 1 || model.QueueUnit != 1 || model.BufferUnit != 1 || model.TxFull != 0
		m.full = m.full || model.TxFull != 0
		m.clocks, m.epochs = m.clocks || model.TimestampBits < 64 || model.TimestampUnit != 1, m.epochs || !model.Unix
		if len(model.Nodes) == 0 {
			m.others = model
		}
		for _, r := range model.Nodes {
			for n := uint64(r.First); n <= uint64(r.Last) && listed > 0; n++ {
				m.entries[m.at(uint32(n))] = modelEntry{uint32(n), model}
				listed--
			}
		}
	}
	return m
}

// complete is m with asIs in place of zeros.
func (m NodeModel) complete() NodeModel {
	m.LatencyUnit, m.QueueUnit, m.BufferUnit, m.TimestampUnit = max(m.LatencyUnit, 1), max(m.QueueUnit, 1), max(m.BufferUnit, 1), max(m.TimestampUnit, 1)
	m.TimestampBits = cmp.Or(m.TimestampBits, asIs.TimestampBits)
	return m
}

// at returns where id stands, or the free place where it would.
func (m *models) at(id uint32) uint32 {
	i := id * 0x9e3779b1 >> m.shift
	for m.entries[i].model != nil && m.entries[i].id != id {
		i = (i + 1) & uint32(len(m.entries)-1)
	}
	return i
}

// of returns the model of a node.
func (m *models) of(id uint32) *NodeModel {
	if len(m.entries) > 0 {
		if model := m.entries[m.at(id)].model; model != nil {
			return model
		}
	}
	if m.others != nil {
		return m.others
	}
	return &asIs
}

// latencyOf is hop latency x of node id in nanoseconds. It is known and stays so.
func (m *models) latencyOf(id, x uint32) uint32 { return multiply(x, m.of(id).LatencyUnit) }

// latencyOfWord is latencyOf for an id as a little endian load finds it.
func (m *models) latencyOfWord(word, x uint32) uint32 {
	return m.latencyOf(bits.ReverseBytes32(word), x)
}

// multiply is x times unit, cut to what is not all ones.
func multiply(x, unit uint32) uint32 {
	return uint32(min(uint64(x)*uint64(unit), unknown32-1))
}

// apply gives n its model, its latency in nanoseconds, its occupancy and utilization in the unit of thresholds, and timestamps no
// wider than the model says.
func (m *models) apply(n *hopValues, l *inthdr.Layout) {
	n.model = m.of(n.NodeID)
	n.stampBits = min(n.stampBits, n.model.TimestampBits)
	if n.Latency != unknown32 {
		n.Latency = multiply(n.Latency, n.model.LatencyUnit)
	}
	if n.Occupancy != unknown32 {
		n.Occupancy = multiply(n.Occupancy, n.model.unitOf(l))
	}
	if n.rest.BufferOccupancy != unknown32 {
		n.rest.BufferOccupancy = n.model.Buffer(n.rest.BufferOccupancy)
	}
	if n.TxUtilization != unknown32 {
		n.TxUtilization = n.model.Utilization(n.TxUtilization)
	}
}

// between returns the time from n's egress to the ingress into next, in nanoseconds and signed,
// since clocks are not perfect; false where it cannot be told. Clocks that wrap are good for half
// their range: the nearest difference is taken. wall is the time of day: where the units of both nodes
// differ, the bits that their timestamps lack are taken from it.
func between(wall int64, n, next *hopValues) (ns int64, known bool) {
	if n.EgressTime == unknown64 || next.IngressTime == unknown64 {
		return 0, false
	}
	if unit := n.model.TimestampUnit; unit == next.model.TimestampUnit {
		return long(nearest(next.IngressTime-n.EgressTime, min(n.stampBits, next.stampBits)), unit), true
	}
	if !n.model.Unix || !next.model.Unix {
		return 0, false // neither wraps with the other nor counts from where it does
	}
	return n.model.age(wall, n.EgressTime, n.stampBits) - next.model.age(wall, next.IngressTime, next.stampBits), true
}

// age returns how long before now, a time of day, a timestamp of so many bits was taken. The
// bits that a timestamp lacks are taken from now, or so that the result is nearest to now.
func (m *NodeModel) age(now int64, stamp uint64, width uint8) int64 {
	unit := int64(m.TimestampUnit)
	return long(nearest(uint64(now/unit)-stamp, width), m.TimestampUnit) + now%unit
}

// nearest returns the difference of two numbers of so many bits, the smaller way round.
func nearest(difference uint64, width uint8) int64 {
	shift := 64 - width
	return int64(difference<<shift) >> shift
}

// long is d units in nanoseconds, cut to what can be added up.
func long(d int64, unit uint32) int64 {
	limit := 1 << 61 / int64(unit)
	return max(-limit, min(d, limit)) * int64(unit)
}

// CompiledModels are node models as a Detector reads them. A list of 65,536 nodes takes milliseconds to compile, so that
// a worker gets them made. What C has of them is outside the Go heap, until nobody refers to them.
type CompiledModels struct {
	models models
	mapped []byte // a fastModel for each entry; nil: no model lists nodes
}

// CompileModels compiles list. No node may be in it twice.
func CompileModels(list []NodeModel) *CompiledModels {
	c := &CompiledModels{models: compileModels(list)}
	entries := c.models.entries
	if len(entries) == 0 {
		return c
	}
	b, err := syscall.Mmap(-1, 0, len(entries)*int(unsafe.Sizeof(fastModel{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("event: no memory for the models of %d nodes: %v", len(entries), err)) // as for any other memory of Go
	}
	all := unsafe.Slice((*fastModel)(unsafe.Pointer(&b[0])), len(entries)) // SAFETY: as long as that
	for i, e := range entries {
		if e.model != nil {
			all[i] = e.model.fast(e.id)
		}
	}
	c.mapped = b
	runtime.AddCleanup(c, func(b []byte) { syscall.Munmap(b) }, b)
	return c
}

// SetRules is Adopt for models that are to be compiled.
func (d *Detector) SetRules(policies []Policy, list []NodeModel) {
	d.Adopt(policies, CompileModels(list))
}

// Models finds the model of a node, for readers of hops outside of a Detector. Its zero value
// leaves all values as the wire has them.
type Models struct{ models }

// NewModels compiles list. No node may be in it twice.
func NewModels(list []NodeModel) Models { return Models{compileModels(list)} }

// Of returns the model of a node; it has no zeros.
func (m *Models) Of(node uint32) *NodeModel { return m.of(node) }

// Listed returns the model that lists a node; nil: none does.
func (m *Models) Listed(node uint32) *NodeModel {
	if len(m.entries) == 0 {
		return nil
	}
	return m.entries[m.at(node)].model
}

// Latency is hop latency x, which is known, in nanoseconds.
func (m *NodeModel) Latency(x uint32) uint32 { return multiply(x, m.LatencyUnit) }

// Occupancy is queue occupancy x in the unit of thresholds.
func (m *NodeModel) Occupancy(x uint32) uint32 { return multiply(x, m.QueueUnit) }

// Buffer is buffer occupancy x in the unit of thresholds.
func (m *NodeModel) Buffer(x uint32) uint32 { return multiply(x, m.BufferUnit) }

// Utilization is utilization x, which is known, in per cent where the model says what is full.
func (m *NodeModel) Utilization(x uint32) uint32 {
	if m.TxFull == 0 {
		return x
	}
	return uint32(min(uint64(x)*100/uint64(m.TxFull), unknown32-1))
}

// mostUtilization is the highest utilization, as such nodes write it, that does not reach a threshold.
func (m *NodeModel) mostUtilization(threshold uint32) uint32 {
	if m.TxFull == 0 || threshold == 0 || threshold == never {
		return below(threshold)
	}
	return uint32(min((uint64(threshold)*uint64(m.TxFull)+99)/100-1, never-1))
}

// unitOf is the unit of what a hop says of its queue: INT 2.1 may tell the buffer in its place, the format of June
// 2016 a congestion status, which has none.
func (m *NodeModel) unitOf(l *inthdr.Layout) uint32 {
	switch {
	case l.Queue >= 0:
		return m.QueueUnit
	case l.Format == inthdr.Format2016:
		return 1
	}
	return m.BufferUnit
}

// Stamp is a timestamp of a node with that model, as many bits as the format has.
type Stamp struct {
	Value uint64
	Bits  uint8
	Model *NodeModel
}

// Unix is s in Unix nanoseconds, as near to now as its bits leave open; false where the
// node's clock counts from somewhere else.
func (s Stamp) Unix(now int64) (ns uint64, known bool) {
	if s.width() == 64 && s.Model.TimestampUnit == 1 {
		return s.Value, s.Model.Unix
	}
	return uint64(max(now-s.Model.age(now, s.Value, s.width()), 0)), s.Model.Unix
}

// Until returns the time from s, the egress from one node, to the ingress into the next, in
// nanoseconds and signed; false where it cannot be told.
func (s Stamp) Until(now int64, next Stamp) (ns int64, known bool) {
	from := hopValues{Hop: inthdr.Hop{EgressTime: s.Value}, stampBits: s.width(), model: s.Model}
	to := hopValues{Hop: inthdr.Hop{IngressTime: next.Value}, stampBits: next.width(), model: next.Model}
	return between(now, &from, &to)
}

func (s Stamp) width() uint8 { return min(s.Bits, s.Model.TimestampBits) }
