package event

// Models finds the model of a node, for whoever reads hops outside of a Detector. Its
// zero value takes all values as the wire has them.
type Models struct{ models }

// NewModels compiles a list in which no node stands twice.
func NewModels(list []NodeModel) Models { return Models{compileModels(list)} }

// Of returns the model of a node; it has no zeros.
func (m *Models) Of(node uint32) *NodeModel { return m.of(node) }

// Latency is hop latency x, which is known, in nanoseconds.
func (m *NodeModel) Latency(x uint32) uint32 { return multiply(x, m.LatencyUnit) }

// Occupancy is queue occupancy x in the unit of thresholds.
func (m *NodeModel) Occupancy(x uint32) uint32 { return multiply(x, m.QueueUnit) }

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

// Until is the time from s, the egress from one node, to the ingress into the next, in
// nanoseconds and signed; false where it cannot be told.
func (s Stamp) Until(now int64, next Stamp) (ns int64, known bool) {
	from := hopValues{egress: s.Value, stampBits: s.width(), model: s.Model}
	to := hopValues{ingress: next.Value, stampBits: next.width(), model: next.Model}
	return between(now, &from, &to)
}

func (s Stamp) width() uint8 { return min(s.Bits, s.Model.TimestampBits) }
