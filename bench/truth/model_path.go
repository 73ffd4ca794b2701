package truth

import (
	"encoding/binary"
	"slices"
	"time"

	"intsink/engine/wire/intgen"
)

// pathState is a path that a flow was on; the current one is the last of its list.
type pathState struct {
	words string
	seen  int64
}

// wordsOf returns the nodes and interfaces that make a path as text. It returns false if the packet
// is no evidence of its path.
func wordsOf(k *Packet) (string, bool) {
	if !k.has(bitNode|bitInterfaces) || k.M || len(k.Hops) == 0 {
		return "", false
	}
	var b []byte
	add := func(v, unknown uint32) bool {
		b = binary.BigEndian.AppendUint32(b, v)
		return v != unknown
	}
	for i := range k.Hops {
		h := &k.Hops[i]
		known := add(h.NodeID, unknown32) && add(uint32(h.Ingress), unknown16) && add(uint32(h.Egress), unknown16)
		if known && k.has(bitLevel2) {
			known = add(h.Level2Ingress, unknown32) && add(h.Level2Egress, unknown32)
		}
		if !known {
			return "", false
		}
	}
	return string(b), true
}

// path decides on path_change: the packet's path is not among the flow's.
func (m *Model) path(e *Expect, p *Policy, f *flowState, k *Packet) func([]string) {
	nothing := func([]string) {}
	words, evidence := wordsOf(k)
	if !evidence {
		return nothing
	}
	here := pathState{words, k.Time}
	n := len(f.paths)
	if n == 0 {
		f.paths = []pathState{here}
		return nothing
	}
	if f.paths[n-1].words == words {
		f.paths[n-1].seen = k.Time
		return nothing
	}
	at := slices.IndexFunc(f.paths, func(x pathState) bool { return x.words == words })
	known, doubtful := false, false
	if at >= 0 {
		age := time.Duration(k.Time - f.paths[at].seen)
		known, doubtful = age <= p.PathMemory, near(age, p.PathMemory, memorySlack)
		e.note("path_change: known, last seen %v ago", age)
	}
	learn := func() { f.learn(at, here, p.Paths) }
	if !m.wants(p, PathChange) || known && !doubtful && !p.ReportECMP {
		learn()
		return nothing
	}
	if doubtful {
		e.may(PathChange, "on the edge of memory")
		return func([]string) { learn() }
	}
	if !f.pathRate.take(k.Time, p.PathRate) {
		e.note("path_change: withheld, %.3f tokens; not learned", f.pathRate.tokens())
		return nothing
	}
	e.must(PathChange, "%d paths known, this one is %d, %.3f tokens left", n, at, f.pathRate.tokens())
	learn()
	return nothing
}

// learn makes here, which was at index at, the current path, and keeps at most limit paths.
func (f *flowState) learn(at int, here pathState, limit int) {
	if at >= 0 {
		f.paths = slices.Delete(f.paths, at, at+1)
	}
	f.paths = append(f.paths, here)
	if len(f.paths) <= limit {
		return
	}
	oldest := 0
	for i := range f.paths[:len(f.paths)-1] {
		if f.paths[i].seen < f.paths[oldest].seen {
			oldest = i
		}
	}
	f.paths = slices.Delete(f.paths, oldest, oldest+1)
}

// near reports whether d is so close to limit that the engine's coarse times may put it on either
// side.
func near(d, limit, slack time.Duration) bool { return d > limit-slack && d < limit+slack }

// flagState is when a flow last had a flag.
type flagState struct {
	seen bool
	last int64
}

// flags decides on hop_limit and mtu_exceeded: E or M on a flow that had the flag not for a while.
func (m *Model) flags(e *Expect, p *Policy, f *flowState, k *Packet) func([]string) {
	rise := func(event string, on bool, s *flagState, rearm time.Duration) {
		if !on || !m.wants(p, event) {
			return
		}
		away := time.Duration(k.Time - s.last)
		switch {
		case s.seen && near(away, rearm, memorySlack):
			e.may(event, "%v without it", away)
		case !s.seen || away >= rearm:
			e.must(event, "the flag rises")
		}
		*s = flagState{true, k.Time}
	}
	rise(HopLimit, k.E, &f.limit, p.HopLimitRearm)
	rise(MTUExceeded, k.M, &f.mtu, p.MTURearm)
	return func([]string) {}
}

// sampler counts the packets of a watch.
type sampler struct{ count, last int }

// sample decides on samples: at least one among 2N-1 packets of the watch, or all packets of one flow in N.
func (m *Model) sample(e *Expect, p *Policy, f *flowState, k *Packet) {
	if p.Sample == 0 || !m.enabled[Sample] {
		return
	}
	if p.SampleByFlow {
		switch f.sampling {
		case 0:
			e.may(Sample, "a new flow")
		case 1:
			e.must(Sample, "a sampled flow")
		}
		return
	}
	c := &m.samples[f.Watch]
	c.count++
	switch {
	case c.count == c.last+2*p.Sample-1:
		e.must(Sample, "%d packets since the last", c.count-c.last)
	default:
		e.may(Sample, "gaps are random")
	}
}

func (m *Model) decideSample(p *Policy, f *flowState, k *Packet, got bool) {
	switch {
	case p.SampleByFlow && f.sampling == 0:
		f.sampling = -1
		if got {
			f.sampling = 1
		}
	case got:
		m.samples[f.Watch].last = m.samples[f.Watch].count
	}
}

// sumOf returns the sum of all hops' latencies; false if one is not known.
func sumOf(hops []intgen.Hop) (sum float64, known bool) {
	for i := range hops {
		if hops[i].LatencyNs == unknown32 {
			return 0, false
		}
		sum += float64(hops[i].LatencyNs)
	}
	return sum, len(hops) > 0
}
