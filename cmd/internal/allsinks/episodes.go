// Episodes of one queue at the same time are one, whichever sinks tell: packets and bytes add up, and who filled it and who
// waited are those of all.

package allsinks

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// slack is how far apart two sinks may begin or end what is one: each sees other packets of it.
const slack = 10 * time.Second

// mostShares is how many culprits and victims an answer has.
const mostShares = 16

// span is a time, which may go on.
type span struct {
	from, to time.Time // to is zero: it goes on
}

// spanOf is the time of an item between two fields.
func spanOf(o object, from, to string) span {
	var x span
	x.from, _ = when(o, from)
	x.to, _ = when(o, to)
	return x
}

// meets tells whether two spans are of one thing.
func (a span) meets(b span) bool {
	before := func(to, from time.Time) bool { return !to.IsZero() && to.Add(slack).Before(from) }
	return !before(a.to, b.from) && !before(b.to, a.from)
}

// addEpisode adds an episode of a sink to those of its queue at that time.
func addEpisode(all []item, sink string, o object) []item {
	o["of"] = []object{{"sink": sink, "id": o["id"], "bytes": o["bytes"]}}
	key, at := lists["episodes"].key(o), spanOf(o, "begin", "end")
	for i := range all {
		if lists["episodes"].key(all[i].o) == key && spanOf(all[i].o, "begin", "end").meets(at) {
			all[i] = item{joinEpisodes(all[i].o, o), append(all[i].sinks, sink)}
			return all
		}
	}
	return append(all, item{o, []string{sink}})
}

// joinEpisodes is one episode of two. Windows are those of the one with more bytes: they begin at other times in each.
func joinEpisodes(a, b object) object {
	base, other := a, b
	if amount(b, "bytes") > amount(a, "bytes") {
		base, other = b, a
	}
	out := copyOf(base)
	for _, k := range []string{"packets", "bytes"} {
		out[k] = whole(amount(a, k) + amount(b, k))
	}
	if amount(other, "peak_latency_ns") > amount(base, "peak_latency_ns") {
		out["peak_latency_ns"], out["peak_at"] = other["peak_latency_ns"], other["peak_at"]
	}
	if amount(other, "peak_occupancy") > amount(base, "peak_occupancy") {
		out["peak_occupancy"] = other["peak_occupancy"]
	}
	x, y := spanOf(a, "begin", "end"), spanOf(b, "begin", "end")
	out["begin"] = stamp(earlier(x.from, y.from))
	if x.to.IsZero() || y.to.IsZero() {
		out["end"] = nil
		delete(out, "ended")
	} else if x.to.After(y.to) {
		out["end"], out["ended"] = a["end"], a["ended"]
	} else {
		out["end"], out["ended"] = b["end"], b["ended"]
	}
	total := amount(out, "bytes")
	out["culprits"], out["victims"] = culpritsOf(total, a, b), victimsOf(a, b)
	out["of"] = append(slices.Clone(a["of"].([]object)), b["of"].([]object)...)
	return out
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// byFlow adds up the field of all flows in lists of this name.
func byFlow(name, field string, from ...object) (flows []string, sums map[string]float64) {
	sums = map[string]float64{}
	for _, o := range from {
		for _, c := range objects(o, name) {
			flow := text(c, "flow")
			if flow == "" { // a host, in front of its flows
				continue
			}
			if _, known := sums[flow]; !known {
				flows = append(flows, flow)
			}
			sums[flow] += amount(c, field)
		}
	}
	slices.SortFunc(flows, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), strings.Compare(a, b)) })
	return flows[:min(len(flows), mostShares)], sums
}

// culpritsOf are the flows with the most bytes over all, with their share of total. What another sink may have of a flow besides, which stood
// below the least of those that it tells, is the bound: over holds what a sink itself says.
func culpritsOf(total float64, from ...object) []any {
	flows, bytes := byFlow("culprits", "bytes", from...)
	_, over := byFlow("culprits", "over", from...)
	out := []any{}
	for _, f := range flows {
		share := 0.0
		if total > 0 {
			share = min(bytes[f]/total, 1)
		}
		out = append(out, object{"flow": f, "bytes": whole(bytes[f]), "over": whole(over[f]), "share": share})
	}
	return out
}

// victimsOf are the flows that waited longest over all.
func victimsOf(from ...object) []any {
	flows, added := byFlow("victims", "added_ns", from...)
	out := []any{}
	for _, f := range flows {
		out = append(out, object{"flow": f, "added_ns": whole(added[f])})
	}
	return out
}
