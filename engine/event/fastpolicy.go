package event

import "intsink/flows"

// FastPolicy is what is asked of a packet of one watch that is to be passed over, and the
// watch's count of packets to the next sample. The fields are what passunchanged_amd64.s in package
// engine reads.
type FastPolicy struct {
	Flags                   flows.Want // of the flow, under Mask
	Mask                    uint8
	Absolute, Twice         uint32 // how far a hop's latency may be from its reference; twice that
	End, EndTwice           uint64 // how far the end-to-end latency may be from its reference; twice that
	SampleLeft, SampleEvery uint32 // packets to the next sample, and from one to the next; 0: none are taken

	WatchesFabric      bool   // queues or interfaces are watched: no hop may reach one of these
	Raise, Latency, Tx uint32 // queue occupancy, hop latency, utilization
}

// TakeSample counts one packet and tells whether it is a sample.
func (l *FastPolicy) TakeSample() bool {
	if l.SampleLeft--; l.SampleLeft != 0 {
		return false
	}
	l.SampleLeft = l.SampleEvery
	return l.SampleEvery != 0
}

// sampleDue tells whether the next packet is a sample.
func (l *FastPolicy) sampleDue() bool { return l.SampleLeft == 1 && l.SampleEvery != 0 }

// fastPolicy is the FastPolicy of p. scaled: node models make other values of what the wire
// carries, which is all that is compared: then nothing is passed over.
func (p *Policy) fastPolicy(scaled bool) FastPolicy {
	t := &p.Thresholds
	l := FastPolicy{
		Absolute: t.Latency.Absolute, Twice: 2 * t.Latency.Absolute,
		End:        1 << 62, // no sum is that far from another
		SampleLeft: p.Sample, SampleEvery: p.Sample,
		WatchesFabric: p.watchesFabric, Raise: p.fabric.raise, Latency: p.fabric.latency, Tx: p.fabric.tx,
	}
	if p.Events.Has(EndToEnd) {
		l.Flags, l.End = flows.EndToEnd, uint64(t.EndToEnd.Absolute)
	}
	l.EndTwice = 2 * l.End
	able := p.Events.Has(HopLatency) && !p.Events.Has(LinkLatency) && !(p.Events.Has(EndToEnd) && t.PTP) &&
		t.Latency.Absolute < 1<<31 && !(p.Sample > 0 && p.SampleByFlow) // which takes the flow's hash
	if scaled || !able {
		l.Flags = flows.Never
	}
	l.Mask = l.Flags.Mask()
	return l
}

// FastPolicies are those of all watches, until SetRules is called.
func (d *Detector) FastPolicies() []FastPolicy { return d.fastPolicies }
