package event

import "intsink/flows"

// FastPolicy is a watch's policy as the fast path needs it: when a packet gives no event, and
// how many packets are left to the next sample. Package engine/fast reads it, in C too.
type FastPolicy struct {
	Flags        flows.Want // of the flow, under Mask
	Mask         uint8
	ByFlow       bool // samples are all packets of some flows
	_            bool
	Fabric, Link bool // queues or interfaces are watched; links are
	PTP          bool // the source's timestamp makes the end-to-end latency
	_            bool

	Absolute, Twice         uint32 // how far a hop's latency may be from its reference; twice that
	End, EndTwice           uint64 // how far the end-to-end latency may be from its reference; twice that
	ClockOffset             int64  // as Thresholds has it
	SampleLeft, SampleEvery uint32 // packets to the next sample, and from one to the next; 0: none are taken
	Raise, Latency, Tx      uint32 // thresholds that no hop may reach: queue occupancy, latency, utilization
	Refresh                 uint32 // the sign bit, where refreshes are watched
	LinkAbsolute            uint32 // how far a link's latency may be from its reference
}

// TakeSample counts one packet of the flow with that hash and reports whether it is a sample.
func (l *FastPolicy) TakeSample(hash uint64) bool {
	if l.SampleLeft--; l.SampleLeft != 0 {
		return false
	}
	l.SampleLeft = l.SampleEvery
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
