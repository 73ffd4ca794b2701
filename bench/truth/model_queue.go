package truth

import "time"

type queueID struct {
	node   uint32
	egress uint16
	queue  uint8
}

// queueState is one queue and its episode.
type queueState struct {
	raised bool
	used   int // of the quota
	last   int64
}

// congestion: the onset, packets over raise while quota lasts, and the clear.
func (m *Model) congestion(e *Expect, p *Policy, k *Packet, fresh bool) {
	if !m.wants(p, Congestion) || !k.has(bitNode|bitInterfaces|bitQueue) {
		return
	}
	for i := range k.Hops {
		h := &k.Hops[i]
		word := uint32(h.QueueID)<<24 | h.QueueOccupancy
		if h.NodeID == unknown32 || h.Egress == unknown16 || word == unknown32 {
			continue
		}
		id := queueID{h.NodeID, h.Egress, h.QueueID}
		q := m.queues[id]
		if q == nil {
			q = &queueState{last: k.Time}
			m.queues[id] = q
		}
		m.sampleQueue(e, p, q, k, i, fresh)
	}
}

func (m *Model) sampleQueue(e *Expect, p *Policy, q *queueState, k *Packet, i int, fresh bool) {
	h := &k.Hops[i]
	occupancy, latency := int(h.QueueOccupancy), time.Duration(h.LatencyNs)
	long := p.CongestionRaiseLatency
	known := h.LatencyNs != unknown32 && k.has(bitLatency)
	over := p.CongestionRaise > 0 && occupancy >= p.CongestionRaise || long > 0 && known && latency >= long
	below := occupancy <= p.CongestionClear && (long == 0 || known && 2*latency < long)
	if q.raised && time.Duration(k.Time-q.last) >= p.CongestionTimeout {
		q.raised = false
	}
	q.last = k.Time
	once := func(why string) {
		if !fresh {
			e.must(Congestion, "node %d egress %d queue %d: %d, %v: %s, %d of quota", h.NodeID, h.Egress, h.QueueID, occupancy, latency, why, q.used)
		}
	}
	switch {
	case !q.raised && over:
		q.raised, q.used = true, 1
		once("onset")
	case q.raised && over && q.used < p.CongestionQuota:
		q.used++
		once("lasts")
	case q.raised && over:
		e.note("congestion: quota of %d is used up", p.CongestionQuota)
	case q.raised && below:
		q.raised = false
		once("clear")
	}
}

type portID struct {
	node   uint32
	egress uint16
}

// portState is one interface: busy, and since when it is not.
type portState struct {
	raised   bool
	low      bool
	lowSince int64
}

// txUtilization: at enter, once until it was low for long enough.
func (m *Model) txUtilization(e *Expect, p *Policy, k *Packet, fresh bool) {
	if !m.wants(p, TxUtilization) || !k.has(bitNode|bitInterfaces|bitTx) {
		return
	}
	for i := range k.Hops {
		h := &k.Hops[i]
		if h.NodeID == unknown32 || h.Egress == unknown16 || h.TxUtilization == unknown32 {
			continue
		}
		id := portID{h.NodeID, h.Egress}
		s := m.ports[id]
		if s == nil {
			s = &portState{}
			m.ports[id] = s
		}
		x := int(h.TxUtilization)
		switch {
		case !s.raised && x >= p.TxRaise:
			*s = portState{raised: true}
			if !fresh {
				e.must(TxUtilization, "node %d egress %d: %d", h.NodeID, h.Egress, x)
			}
		case s.raised && x > p.TxClear:
			s.low = false
		case s.raised && !s.low:
			s.low, s.lowSince = true, k.Time
		case s.raised && time.Duration(k.Time-s.lowSince) >= p.TxHold:
			s.raised = false
		}
	}
}
