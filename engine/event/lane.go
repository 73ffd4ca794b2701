package event

import "intsink/flows"

// Lane is what is asked of a packet of one watch that is to be passed over, and the
// watch's count of packets to the next sample. The fields are what quiet_amd64.s in package
// engine reads.
type Lane struct {
	Flags           flows.Want // of the flow, under Mask
	Mask            uint8
	Absolute, Twice uint32 // how far a hop's latency may be from its reference; twice that
	End, EndTwice   uint64 // how far that of the whole way may be
	Left, Every     uint32 // packets to the next sample, and from one to the next; 0: none are taken

	Things             bool   // queues or interfaces are watched: no hop may reach one of these
	Raise, Latency, Tx uint32 // queue occupancy, hop latency, utilization
}

// Take counts one packet and tells whether it is a sample.
func (l *Lane) Take() bool {
	if l.Left--; l.Left != 0 {
		return false
	}
	l.Left = l.Every
	return l.Every != 0
}

// due tells whether the next packet is a sample.
func (l *Lane) due() bool { return l.Left == 1 && l.Every != 0 }

// lane is the Lane of p. scaled: node models make other values of what the wire
// carries, which is all that is compared: then nothing is passed over.
func (p *Policy) lane(scaled bool) Lane {
	t := &p.Thresholds
	l := Lane{
		Absolute: t.Latency.Absolute, Twice: 2 * t.Latency.Absolute,
		End:  1 << 62, // no sum is that far from another
		Left: p.Sample, Every: p.Sample,
		Things: p.things, Raise: p.calm.raise, Latency: p.calm.latency, Tx: p.calm.tx,
	}
	if p.Events.Has(EndToEnd) {
		l.Flags, l.End = flows.EndToEnd, uint64(t.EndToEnd.Absolute)
	}
	l.EndTwice = 2 * l.End
	quiet := p.Events.Has(HopLatency) && !p.Events.Has(LinkLatency) && !(p.Events.Has(EndToEnd) && t.PTP) &&
		t.Latency.Absolute < 1<<31 && !(p.Sample > 0 && p.SampleByFlow) // which takes the flow's hash
	if scaled || !quiet {
		l.Flags = flows.Never
	}
	l.Mask = l.Flags.Mask()
	return l
}

// Lanes are those of all watches, until SetRules is called.
func (d *Detector) Lanes() []Lane { return d.lanes }
