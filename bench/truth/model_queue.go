package truth

import (
	"time"

	"intsink/engine/wire/intgen"
)

type queueID struct {
	node   uint32
	egress uint16
	queue  uint8
}

// queueState is one queue and its episode.
type queueState struct {
	raised    bool
	used      int // reports of the quota that were used
	over      int // packets over a threshold since the onset, first ones of flows left out
	shown     int // the value of the last that counted as evidence
	last      int64
	occupancy int           // last known
	latency   time.Duration // of the hop, last known

	occupancyAt, latencyAt int64 // when a packet of the episode last told them
}

// congestion decides on congestion: the onset, evidence while the quota lasts, and the clear.
func (m *Model) congestion(e *Expect, p *Policy, k *Packet, fresh bool) {
	if !m.wants(p, Congestion) || !k.has(bitNode|bitInterfaces) {
		return
	}
	for i := range k.Hops {
		if h := &k.Hops[i]; h.NodeID != unknown32 && h.Egress != unknown16 {
			m.sampleQueue(e, p, k, h, fresh)
		}
	}
}

func (m *Model) sampleQueue(e *Expect, p *Policy, k *Packet, h *intgen.Hop, fresh bool) {
	watchesOccupancy, watchesLatency := p.CongestionRaise > 0, p.CongestionRaiseLatency > 0
	told, occupancy, number := k.queueOf(h)
	hasQueue := told && occupancy&unknown24 != unknown24
	hasLatency := k.has(bitLatency) && h.LatencyNs != unknown32
	if !(watchesOccupancy && hasQueue) && !(watchesLatency && hasLatency) {
		return // the packet has no value
	}
	id := queueID{h.NodeID, h.Egress, 0xff} // if the queue id is not known, the interface counts as one queue
	if told {
		id.queue = number
	}
	q := m.queues[id]
	if q == nil {
		q = &queueState{last: k.Time}
		m.queues[id] = q
	}
	if time.Duration(k.Time-q.last) >= p.CongestionTimeout {
		*q = queueState{}
	}
	q.last = k.Time
	over := false
	if watchesOccupancy && hasQueue {
		q.occupancy, q.occupancyAt = int(occupancy), k.Time
		over = q.occupancy >= p.CongestionRaise
	}
	if watchesLatency && hasLatency {
		q.latency, q.latencyAt = time.Duration(h.LatencyNs), k.Time
		over = over || q.latency >= p.CongestionRaiseLatency
	}
	worst := int(occupancy) // what a packet is judged by: the latency, where there is a threshold for it
	if watchesLatency && hasLatency {
		worst = int(h.LatencyNs)
	}
	old := func(at int64) bool { return at == 0 || time.Duration(k.Time-at) >= p.CongestionTimeout }
	below := (!watchesOccupancy || q.occupancy <= p.CongestionClear || old(q.occupancyAt)) &&
		(!watchesLatency || 2*q.latency < p.CongestionRaiseLatency || old(q.latencyAt))
	once := func(why string) {
		if !fresh {
			e.must(Congestion, "node %d egress %d queue %d: %d, %v: %s, %d of quota", h.NodeID, h.Egress, id.queue, q.occupancy, q.latency, why, q.used)
		}
	}
	switch {
	case !q.raised && over:
		q.begin(k.Time, worst, fresh)
		once("onset")
	case q.raised && over && fresh: // a first packet is not reported and uses nothing of the quota
	case q.raised && over && !q.isEvidence(worst):
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

// begin makes a packet the onset of an episode; what others told before it counts no longer.
func (q *queueState) begin(now int64, worst int, fresh bool) {
	if q.raised, q.used, q.over, q.shown = true, 1, 1, worst; fresh { // not reported: it uses nothing of the quota
		q.used = 0
	}
	if q.occupancyAt != now {
		q.occupancyAt = 0
	}
	if q.latencyAt != now {
		q.latencyAt = 0
	}
}

// isEvidence counts a packet of the episode, which is shown if it is the 1st, 2nd, 4th, 8th and so on, or twice as bad as what was.
func (q *queueState) isEvidence(worst int) bool {
	q.over++
	for n := 1; n <= q.over; n *= 2 {
		if n == q.over || worst >= 2*q.shown {
			q.shown = worst
			return true
		}
	}
	return false
}

// queueOf is the queue of a hop: where INT tells none, the buffer.
func (p *Packet) queueOf(h *intgen.Hop) (told bool, occupancy uint32, number uint8) {
	if !p.has(bitQueue) && p.has(bitBuffer) {
		return true, h.BufferOccupancy, h.BufferID
	}
	return p.has(bitQueue), h.QueueOccupancy, h.QueueID
}

type portID struct {
	node   uint32
	egress uint16
}

// portState is the state of one interface: whether it is busy, and since when it is low.
type portState struct {
	raised   bool
	told     bool // it was reported that it is busy this time
	low      bool
	lowSince int64
	seen     int64
	sent     int64 // time of the last report; 0: never
}

// txUtilization decides on tx_utilization: once when the interface becomes busy, and again after
// it was low for long enough.
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
		if k.Time-s.seen > int64(portMemory) {
			s.raised, s.low = false, false
		}
		s.seen = k.Time
		s.settle(p, k.Time, int(h.TxUtilization))
		if int(h.TxUtilization) < p.TxRaise || s.told {
			continue
		}
		switch {
		case fresh:
			s.told = true
		case s.sent != 0 && k.Time-s.sent < int64(txInterval):
			e.note("tx_utilization of node %d egress %d: withheld", h.NodeID, h.Egress)
		default:
			s.told, s.sent = true, k.Time
			e.must(TxUtilization, "node %d egress %d: %d", h.NodeID, h.Egress, h.TxUtilization)
		}
	}
}

// portMemory is how long after its last value an interface counts as busy.
const portMemory = 10 * time.Minute

// txInterval is the least time between two reports about an interface.
const txInterval = time.Second

// settle ends the busy time of an interface that was low for long enough, or begins one.
func (s *portState) settle(p *Policy, now int64, x int) {
	switch {
	case x > p.TxClear:
		s.low = false
	case !s.low:
		s.low, s.lowSince = true, now
	}
	if s.raised && s.low && time.Duration(now-s.lowSince) >= p.TxHold {
		s.raised = false
	}
	if !s.raised && x >= p.TxRaise {
		s.raised, s.told = true, false
	}
}

// sweepEvery is after how many packets the model removes entries that cannot matter any more, so
// that its own memory does not grow.
const sweepEvery = 1 << 17

func (m *Model) sweep(now int64) {
	for id, q := range m.queues {
		if now-q.last > int64(time.Minute) { // more than any timeout
			delete(m.queues, id)
		}
	}
	for id, s := range m.ports {
		if now-s.seen > int64(portMemory) || !s.raised && now-s.seen > int64(txInterval) {
			delete(m.ports, id)
		}
	}
}
