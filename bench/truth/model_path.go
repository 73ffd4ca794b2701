package truth

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"intsink/engine/wire/intgen"
)

// pathState is a path that a flow was on; the current one is the last of its list.
type pathState struct {
	words string
	seen  int64
	left  int // which change of path left it
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
	here := pathState{words: words, seen: k.Time}
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
	known, doubtful, sprayed := false, false, f.spray.on(k.Time, f.packets)
	if at >= 0 {
		age := time.Duration(k.Time - f.paths[at].seen)
		known, doubtful = sprayed || age <= p.PathMemory, !sprayed && near(age, p.PathMemory, memorySlack)
		e.note("path_change: known, last seen %v ago", age)
	}
	begins := !sprayed && f.spray.row(k.Time, f.packets) >= sprayedRow
	lost, sure := f.lostPath(k.Time, at, sprayed)
	unknown := !known && !(sprayed && n >= p.Paths)
	learn := func(forget bool) {
		if forget {
			f.paths = slices.Delete(f.paths, lost, lost+1)
		}
		f.spray.moved(k.Time, f.packets)
		f.learn(here, p.Paths)
	}
	told := func(tell func(event, why string, args ...any), why string) {
		if tell(PathChange, why); sprayed || begins {
			tell(PathSwitch, "it is sprayed")
		}
	}
	switch {
	case !m.wants(p, PathChange) || known && !doubtful && !p.ReportECMP && !begins && lost < 0 || !unknown && sprayed && !p.ReportECMP && lost < 0:
		m.goesBack(f, k.Time, sprayed)
		learn(lost >= 0)
	case doubtful && !begins && lost < 0:
		told(e.may, "on the edge of memory")
		return func(got []string) {
			m.goesBack(f, k.Time, slices.Contains(got, PathChange))
			learn(false)
		}
	case lost >= 0 && !sure && !unknown:
		told(e.may, "a path that may be lost")
		return func(got []string) { learn(slices.Contains(got, PathChange)) }
	case !f.pathRate.take(k.Time, p.PathRate):
		e.note("path_change: withheld, %.3f tokens; not learned", f.pathRate.tokens())
	default:
		told(e.must, fmt.Sprintf("%d paths known, this one is %d, lost %d, %.3f tokens left", n, at, lost, f.pathRate.tokens()))
		learn(lost >= 0)
	}
	return nothing
}

// goesBack notes that a flow goes back to a path, which is news that nobody is told, but for sprayed flows.
func (m *Model) goesBack(f *flowState, now int64, sprayedOrTold bool) {
	if f.moved && !sprayedOrTold {
		m.newsAt = now
	}
}

// What makes a flow sprayed: so many changes of path in a row that each come within a time of the one before, or with one of the
// next packets. It ends with a rest on one path, and of more packets than these.
const (
	sprayedRow  = 16
	rowTime     = 5 * time.Second
	rowPackets  = 8
	sprayedRest = time.Minute
	lostChanges = 32 // and a path is lost that is not taken for a rest, and for so many changes for each path
)

// sprayState is the changes of path of one flow.
type sprayState struct {
	at     int64 // the last one
	packet int   // of the flow, that came with it
	number int   // of all
	quick  int   // in a row
}

// row is how many changes there are in a row with one that comes with a packet.
func (x *sprayState) row(now int64, packet int) int {
	if x.number > 0 && (time.Duration(now-x.at) <= rowTime || packet-x.packet <= rowPackets) {
		return x.quick + 1
	}
	if x.on(now, packet) {
		return x.quick
	}
	return 1
}

func (x *sprayState) on(now int64, packet int) bool {
	return x.quick >= sprayedRow && (time.Duration(now-x.at) <= sprayedRest || packet-x.packet <= rowPackets)
}

func (x *sprayState) moved(now int64, packet int) {
	x.quick = x.row(now, packet)
	x.at, x.packet = now, packet
	x.number++
}

// lostPath returns a path, not the current one and not that at here, that a sprayed flow does not take any more, or -1; sure is
// false where a coarse time may put it on either side.
func (f *flowState) lostPath(now int64, here int, sprayed bool) (at int, sure bool) {
	for i := 0; sprayed && i < len(f.paths)-1; i++ {
		x, limit := &f.paths[i], lostChanges*len(f.paths)
		age := time.Duration(now - x.seen)
		if i != here && f.spray.number-x.left > limit && (age > sprayedRest || near(age, sprayedRest, memorySlack)) {
			return i, !near(age, sprayedRest, memorySlack)
		}
	}
	return -1, false
}

// learn makes here the current path, and keeps at most limit paths.
func (f *flowState) learn(here pathState, limit int) {
	f.paths[len(f.paths)-1].left = f.spray.number
	f.paths = append(slices.DeleteFunc(f.paths, func(x pathState) bool { return x.words == here.words }), here)
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
