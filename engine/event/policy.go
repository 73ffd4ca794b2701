// Declares Policy and Thresholds of one watch: events, samples, every threshold in
// nanoseconds and packets.

package event

// Policy holds the events of one watch and their thresholds.
type Policy struct {
	Events       Set
	Sample       uint32 // one packet in Sample; 0: none
	SampleByFlow bool   // all packets of one flow in Sample instead
	Thresholds   Thresholds

	watchesLinks  bool             // each packet tells of links
	watchesFabric bool             // queues, links or interfaces are watched
	fabric        fabricThresholds // lowest values at which a queue or interface can give an event
	calm          uint32           // a packet with lower latencies only is over no threshold of fabric; 0: that cannot be told by them
	refreshLeast  int64            // shortest time to a refresh
	refreshSpan   uint64           // between that and the longest
	refreshLatest int64            // longest time to a refresh that follows others
}

// Thresholds of the events of one watch, as docs/events.md names them; times in nanoseconds.
type Thresholds struct {
	NewFlowRate  int   // per second and worker; 0: no limit
	NewFlowAfter int64 // for how long after Shared.Warm none is reported

	Paths       int   // remembered per flow, at most flows.MaxPaths
	PathMemory  int64 // how long a path that is not current is remembered
	PathRate    int   // reports per flow and second; 0: no limit
	ReportKnown bool  // a known path coming back is reported too

	Latency     Deadband // of hops
	EndToEnd    Deadband
	PTP         bool  // end_to_end is sink time minus source time, not the sum of hop latencies
	ClockOffset int64 // by how much the sink's clock is ahead of the nodes', for PTP
	LinkLatency Deadband
	LinkAuto    bool // links are held against what is usual, by samples; of LinkLatency the interval alone counts

	CongestionRaise, CongestionClear uint32 // queue occupancy; Raise 0: not by occupancy
	CongestionLatency                uint32 // 0: not by latency
	CongestionFactor                 uint32 // times what is usual in the queue, and a latency above CongestionLatency; 0: not held against that
	CongestionQuota                  int    // reports of one episode
	CongestionTimeout                int64

	TxRaise, TxClear uint32
	TxHold           int64
	TxAuto           bool // interfaces of nodes whose unit is known are looked at, by samples; TxRaise and TxClear are per cent

	LossWindow   int // numbers, at most flows.LossWindow
	LossTimeout  int64
	LossInterval int64
	DropInterval int64

	HopLimitRearm, MTURearm int64

	RefreshEvery  int64
	RefreshJitter float64
	RefreshMost   int64 // a refresh that follows one takes twice as long as that did, up to this; no more than RefreshEvery: as long
}

// compile finds out what the packet path needs to know of p.
func (p *Policy) compile() {
	t := &p.Thresholds
	p.fabric = fabricThresholds{raise: never, tx: never, latency: never}
	if p.Events.Has(Congestion) {
		p.fabric.raise, p.fabric.latency = orNever(t.CongestionRaise), orNever(t.CongestionLatency)
	}
	if p.Events.Has(TxUtilization) && !t.TxAuto {
		p.fabric.tx = orNever(t.TxRaise)
	}
	p.watchesLinks = p.Events.Has(LinkLatency) && !t.LinkAuto
	p.watchesFabric = p.watchesLinks || p.fabric != fabricThresholds{raise: never, tx: never, latency: never}
	p.calm = 0
	if t.CongestionFactor != 0 && p.Events.Has(Congestion) && !p.watchesLinks && p.fabric.tx == never {
		p.calm = t.CongestionLatency // the floor of thresholds made of what is usual
	}
	jitter := int64(float64(t.RefreshEvery) * t.RefreshJitter)
	p.refreshLeast, p.refreshSpan = t.RefreshEvery-jitter, uint64(max(2*jitter, 0))
	p.refreshLatest = t.RefreshEvery + jitter
	if t.RefreshMost > t.RefreshEvery { // never before its time: what is news says so first
		p.refreshLeast, p.refreshSpan = t.RefreshEvery, uint64(jitter)
		p.refreshLatest = t.RefreshMost + int64(float64(t.RefreshMost)*t.RefreshJitter)
	}
}

// orNever returns a threshold, where 0 is none.
func orNever(v uint32) uint32 {
	if v == 0 {
		return never
	}
	return v
}
