package truth

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// deadband compares values with the one last reported.
type deadband struct {
	known bool
	ref   float64
	out   []bool // whether each of the last n values was out of the deadband, the newest last
	sent  int64  // when it was last reported; 0: never
}

// String shows the reference and the last n.
func (d *deadband) String() string {
	if !d.known {
		return "no reference"
	}
	return fmt.Sprintf("reference %.0f, out %v", d.ref, d.out)
}

// verdict is the decision of a deadband on one value.
type verdict struct {
	holds, withheld, doubtful bool
	why                       string
}

func (d *deadband) test(now int64, x float64, l *Latency) verdict {
	if !d.known {
		d.known, d.ref = true, x
		return verdict{}
	}
	distance, limit := math.Abs(x-d.ref), max(l.Absolute, l.Relative*d.ref)
	d.out = append(d.out, distance > limit)
	if len(d.out) > l.N {
		d.out = slices.Clone(d.out[len(d.out)-l.N:])
	}
	if distance <= limit {
		return verdict{}
	}
	n := 0
	for _, o := range d.out {
		if o {
			n++
		}
	}
	why := fmt.Sprintf("%.0f is %.0f from %.0f, limit %.0f; %d of the last %d", x, distance, d.ref, limit, n, len(d.out))
	if n < l.K {
		return verdict{why: why}
	}
	v := verdict{holds: true, why: why}
	if d.sent != 0 {
		since := time.Duration(now - d.sent)
		v.why += fmt.Sprintf("; %v since the last", since)
		v.withheld, v.doubtful = since < l.Interval, near(since, l.Interval, intervalSlack)
	}
	return v
}

// report makes x the reference, reported at now.
func (d *deadband) report(now int64, x float64) {
	d.ref, d.out, d.sent = x, nil, now
}

// judge tests x and enters the events that must or may be reported into e. The function that it
// returns is called with the events that were reported.
func (d *deadband) judge(e *Expect, event, what string, now int64, x float64, l *Latency) func([]string) {
	nothing := func([]string) {}
	v := d.test(now, x, l)
	if v.why == "" {
		return nothing
	}
	switch {
	case !v.holds:
		e.note("%s of %s: %s: not yet", event, what, v.why)
	case v.doubtful:
		e.may(event, "%s: %s", what, v.why)
		return func(got []string) {
			if slices.Contains(got, event) {
				d.report(now, x)
			}
		}
	case v.withheld:
		e.note("%s of %s: %s: withheld", event, what, v.why)
	default:
		e.must(event, "%s: %s", what, v.why)
		d.report(now, x)
	}
	return nothing
}

// hopLatencies decides on hop_latency, for each node by itself, wherever it is in the stack.
func (m *Model) hopLatencies(e *Expect, p *Policy, f *flowState, k *Packet) func([]string) {
	var open []func([]string)
	if m.wants(p, HopLatency) && k.has(bitNode|bitLatency) {
		for i := range k.Hops {
			h := &k.Hops[i]
			if h.NodeID == unknown32 || h.LatencyNs == unknown32 {
				continue
			}
			d := f.hops[h.NodeID]
			if d == nil {
				d = &deadband{}
				f.hops[h.NodeID] = d
			}
			open = append(open, d.judge(e, HopLatency, fmt.Sprint("node ", h.NodeID), k.Time, float64(h.LatencyNs), &p.HopLatency))
		}
	}
	return all(open)
}

func all(open []func([]string)) func([]string) {
	return func(got []string) {
		for _, decide := range open {
			decide(got)
		}
	}
}

// endToEnd decides on end_to_end, by the clocks of source and sink or by the sum of the hops.
func (m *Model) endToEnd(e *Expect, p *Policy, f *flowState, k *Packet) func([]string) {
	nothing := func([]string) {}
	if !m.wants(p, EndToEnd) || len(k.Hops) == 0 {
		return nothing
	}
	var x float64
	if p.PTP {
		source := k.Hops[len(k.Hops)-1].IngressTimestamp
		now := k.Time - int64(p.ClockOffset)
		if !k.has(bitIngress) || source == unknown64 || int64(source) > now {
			return nothing
		}
		x = float64(now - int64(source))
	} else {
		sum, known := sumOf(k.Hops)
		if !known || !k.has(bitLatency) || k.M { // with M the latency of some node is missing
			return nothing
		}
		x = sum
	}
	return f.endToEnd.judge(e, EndToEnd, "the flow", k.Time, x, &p.EndToEnd)
}

// linkID identifies a link by the nodes and interfaces at its ends.
type linkID struct {
	from   uint32
	egress uint16
	to     uint32
	in     uint16
}

// linkLatencies decides on link_latency, the time from the egress of a hop to the ingress of the
// next.
func (m *Model) linkLatencies(e *Expect, p *Policy, k *Packet) func([]string) {
	var open []func([]string)
	if m.wants(p, LinkLatency) && k.has(bitNode|bitInterfaces|bitIngress|bitEgress) {
		for i := len(k.Hops) - 1; i > 0; i-- {
			a, b := &k.Hops[i], &k.Hops[i-1]
			if a.EgressTimestamp == unknown64 || b.IngressTimestamp == unknown64 || a.Egress == unknown16 || b.Ingress == unknown16 ||
				a.NodeID == unknown32 || b.NodeID == unknown32 {
				continue
			}
			x := int64(b.IngressTimestamp) - int64(a.EgressTimestamp)
			if x < 0 {
				continue // clock skew
			}
			id := linkID{a.NodeID, a.Egress, b.NodeID, b.Ingress}
			d := m.links[id]
			if d == nil {
				d = &deadband{}
				m.links[id] = d
			}
			open = append(open, d.judge(e, LinkLatency, fmt.Sprint("link ", id), k.Time, float64(x), &p.LinkLatency))
		}
	}
	return all(open)
}
