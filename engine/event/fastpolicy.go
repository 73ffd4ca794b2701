// FastPolicy: a watch's thresholds and deadbands as the C of engine/fast reads them; made
// by fastPolicy of a Policy; random gaps between samples.

package event

import (
	"math"

	"intsink/flows"
)

// FastPolicy is a watch's policy as the fast path needs it: when a packet gives no event, and
// how many packets are left to the next sample. Package engine/fast reads it, in C too.
type FastPolicy struct {
	Flags        flows.Want // of the flow, under Mask
	Mask         uint8
	ByFlow       bool // samples are all packets of some flows
	alone        bool // of links and interfaces it asks nothing, and all nodes have the units of thresholds
	Fabric, Link bool // queues or interfaces are watched; links are
	PTP          bool // the source's timestamp makes the end-to-end latency
	byLatency    bool // some known latency is above Most: it reaches its threshold, or overflows in nanoseconds

	Absolute, Twice         uint32 // how far a hop's latency may be from its reference; twice that; never: however far
	End, EndTwice           uint64 // how far the end-to-end latency may be from its reference; twice that
	ClockOffset             int64  // as Thresholds has it
	SampleLeft, SampleEvery uint32 // packets to the next sample, and on average from one to the next; 0: none are taken
	Raise, Latency, Tx      uint32 // thresholds that no hop may reach: queue occupancy, latency, utilization
	Refresh                 uint32 // the sign bit, where refreshes are watched
	LinkAbsolute            uint32 // how far a link's latency may be from its reference

	// Most are the highest values of a hop that reach no threshold, as nodes write them, in
	// the order of these constants: vectors of words are compared with them.
	Most [4]uint32
	Unit uint32 // of latency, where all nodes have the same
	// MostTogether is the highest sum of a packet's latencies whose differences from references are taken in 32
	// bits, where they cannot wrap (see farthest), and which is below the floor of a threshold made of what is usual.
	MostTogether uint64

	// What the general path needs besides.
	Hops, EndToEnd          FastBand
	Loss                    bool // sequence numbers are watched
	WatchesHops, WatchesEnd bool
	InGo                    bool   // not even the general path knows what these packets say
	Factor                  uint32 // times what is usual in a queue; Latency is the floor then. 0: Raise and Latency are thresholds

	random uint64 // of gap; never zero
}

// farthest is the highest latency (2.1 s) whose difference from one that is not above it either, plus a deadband of
// up to 2 s, does not wrap in 32 bits. Paths with references above it are not stored, so that their packets go
// through Packet.
const farthest = 1<<31 - 1

// Within tells whether x is no farther from ref than absolute.
func Within(x, ref, absolute uint32) bool { return max(x, ref)-min(x, ref) <= absolute }

// FastBand is a Deadband as C tests it.
type FastBand struct {
	Relative float64
	Absolute uint32
	K, Last  uint8 // so many of the values whose bits Last has
	_        [2]uint8
}

func (b *Deadband) fast() FastBand {
	return FastBand{Relative: b.Relative, Absolute: b.Absolute, K: uint8(min(b.K, 9)), Last: uint8(1<<b.N - 1)}
}

// Places in FastPolicy.Most.
const (
	MostLatency   = iota
	MostQueue     // 24 bits of occupancy
	MostTx        // utilization
	MostUnbounded // of any other word
)

// below returns the highest value that does not reach a threshold.
func below(threshold uint32) uint32 {
	if threshold == never {
		return never
	}
	return threshold - 1
}

// TakeSample counts one packet of the flow with that hash and reports whether it is a sample.
func (l *FastPolicy) TakeSample(hash uint64) bool {
	if l.SampleLeft--; l.SampleLeft != 0 {
		return false
	}
	l.SampleLeft = l.gap()
	if l.ByFlow {
		return l.SampleEvery != 0 && hash>>32%uint64(l.SampleEvery) == 0
	}
	return l.SampleEvery != 0
}

// gap returns how many packets on the next sample is. It is drawn, each length from 1 to 2n-1 with the same chance for
// one packet in n (RFC 5475, section 5.2): counted samples of traffic with a period would all be of one flow. Above
// 2^31, where that exceeds 32 bits, the lengths are as many below n as there are above it.
func (l *FastPolicy) gap() uint32 {
	n := l.SampleEvery
	if l.ByFlow {
		return 1 // the hash decides for every packet
	}
	if n < 2 {
		return n
	}
	half := min(n-1, ^n)
	l.random = nextRandom(l.random)
	return n - half + uint32(partOf(2*uint64(half)+1, l.random))
}

// beginSamples draws the first gap, with the generator of the policy before, or a new one with that seed.
func (l *FastPolicy) beginSamples(before *FastPolicy, seed uint64) {
	if l.random = before.random; l.random == 0 {
		l.random = seed*0x9e3779b97f4a7c15 | 1
	}
	l.SampleLeft = l.gap()
}

// fastPolicy compiles p. Where nodes on a list have units of their own, no flow is settled:
// the general path of package fast looks their models up.
func (p *Policy) fastPolicy(m *models) FastPolicy {
	t := &p.Thresholds
	l := FastPolicy{
		Absolute: never, Twice: never, // no latency is that far from another
		End: 1 << 62, MostTogether: math.MaxUint64, // and no sum
		SampleEvery: p.Sample, ByFlow: p.SampleByFlow && p.Sample > 0,
		Fabric: p.fabric != fabricThresholds{raise: never, tx: never, latency: never}, Link: p.watchesLinks,
		Raise: p.fabric.raise, Latency: p.fabric.latency, Tx: p.fabric.tx,
		LinkAbsolute: t.LinkLatency.Absolute, ClockOffset: t.ClockOffset,
	}
	l.Unit, l.alone = 1, !l.Link && l.Tx == never && !m.scale
	l.Most = [4]uint32{MostLatency: below(l.Latency), MostQueue: below(l.Raise), MostTx: below(l.Tx), MostUnbounded: never}
	if m.scale && len(m.entries) == 0 {
		l.Unit = m.others.LatencyUnit
		l.alone = !l.Link && l.Tx == never && l.Unit == 1 && m.others.QueueUnit == 1
		l.Most[MostLatency] = min(l.Most[MostLatency], never-1) / l.Unit // more would be cut
		if l.Raise != never {
			l.Most[MostQueue] /= max(m.others.QueueUnit, m.others.BufferUnit)
		}
		l.Most[MostTx] = m.others.mostUtilization(l.Tx)
	}
	if l.Factor = t.CongestionFactor; l.Factor != 0 && l.Latency != never {
		l.Most[MostLatency] = never // no single hop of a packet whose sum is below the floor reaches it
		l.MostTogether = uint64(max(l.Latency, 1) - 1)
	}
	l.byLatency = l.Most[MostLatency] != never
	if p.Events.Has(HopLatency) {
		l.Absolute, l.Twice, l.MostTogether = t.Latency.Absolute, 2*t.Latency.Absolute, min(l.MostTogether, farthest)
	}
	if p.Events.Has(EndToEnd) {
		l.Flags, l.End, l.PTP = flows.EndToEnd, uint64(t.EndToEnd.Absolute), t.PTP
	}
	l.EndTwice = 2 * l.End
	if p.Events.Has(Refresh) {
		l.Refresh = 1 << 31
	}
	l.Loss, l.WatchesHops, l.WatchesEnd = p.Events.Has(Loss), p.Events.Has(HopLatency), p.Events.Has(EndToEnd)
	l.Hops, l.EndToEnd = t.Latency.fast(), t.EndToEnd.fast()
	l.InGo = m.clocks && l.Link || (m.clocks || m.epochs) && l.PTP
	if m.scale && len(m.entries) > 0 || l.InGo || l.WatchesHops && l.Absolute > farthest {
		l.Flags |= flows.Never
	}
	l.Mask = l.Flags.Mask()
	return l
}
