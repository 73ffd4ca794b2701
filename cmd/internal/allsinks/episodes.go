// Episodes of one queue at the same time are one, whichever sinks tell: packets and bytes add up, and who filled it and who
// waited are those of all.

package allsinks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
)

// slack is how far apart two sinks may begin or end what is one: each sees other packets of it.
const slack = 10 * time.Second

// mostShares is how many culprits and victims an answer has.
const mostShares = 16

// episodeList answers GET /api/v1/episodes: with since and until those of a time, which a sink does not take: out of the store, too, where the sinks
// remember them no more.
func (s *Sinks) episodeList(ctx context.Context, r *http.Request) (object, error) {
	parameters := r.URL.Query()
	at, limited, err := s.spanIn(parameters, "since", "until")
	if err != nil || !limited {
		if err == nil {
			return s.listOf("episodes")(ctx, r)
		}
		return nil, err
	}
	s.knowAll(ctx)
	asked := maps.Clone(parameters)
	asked.Del("since")
	asked.Del("until")
	asked.Set("limit", strconv.Itoa(maxLimit))
	q, err := s.askFor(ctx, r.URL.Path+"?"+asked.Encode(), s.o.Timeout)
	if err != nil && !s.storeAlone(err) {
		return nil, err
	}
	all := &question{}
	for _, r := range q.answers() {
		r.o = copyOf(r.o)
		r.o["items"] = slices.DeleteFunc(slices.Clone(listOf(r.o, "items")), func(x any) bool {
			o, is := x.(object)
			its := spanOf(o, "begin", "end")
			return !is || !its.from.Before(at.to) || !its.to.IsZero() && its.to.Before(at.from)
		})
		all.replies = append(all.replies, r)
	}
	var missing error
	if s.o.Past != nil && parameters.Get("open") != "true" {
		var past reply
		if past, missing = s.pastEpisodes(ctx, at, parameters); missing == nil {
			past.o["items"] = notIn(all.replies, objects(past.o, "items"))
			all.replies = append(all.replies, past)
		} else if said := (*refusal)(nil); errors.As(missing, &said) {
			return nil, missing
		}
	}
	o := lists["episodes"].answer("episodes", all, parameters)
	if p := q.partial(); len(p) > 0 {
		o["partial"] = p
	}
	return withoutPast(o, missing), nil
}

// notIn are the episodes that no reply has: what a sink remembers stands, as it has more to say.
func notIn(replies []reply, episodes []object) []any {
	type known struct {
		key string
		at  span
	}
	var all []known
	for _, r := range replies {
		for _, o := range objects(r.o, "items") {
			all = append(all, known{lists["episodes"].key(o), spanOf(o, "begin", "end")})
		}
	}
	left := []any{}
	for _, o := range episodes {
		key, at := lists["episodes"].key(o), spanOf(o, "begin", "end")
		if !slices.ContainsFunc(all, func(k known) bool { return k.key == key && k.at.meets(at) }) {
			left = append(left, o)
		}
	}
	return left
}

// spanIn reads two parameters, from when and to when: times, or how long ago. limited tells whether there is one.
func (s *Sinks) spanIn(parameters url.Values, from, to string) (at span, limited bool, err error) {
	now := s.o.Now()
	at = span{time.Unix(0, 0), now}
	for name, t := range map[string]*time.Time{from: &at.from, to: &at.to} {
		v := parameters.Get(name)
		if v == "" {
			continue
		}
		limited = true
		moment, ok := cli.When(v, now)
		if !ok {
			return at, true, &refusal{http.StatusBadRequest, fmt.Sprintf("%s = %.40q: must be "+cli.TimeForms, name, v)}
		}
		*t = moment
	}
	if !at.from.Before(at.to) {
		return at, limited, &refusal{http.StatusBadRequest, from + " is not before " + to}
	}
	return at, limited, nil
}

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

// addEpisode adds an episode of a sink to those of its queue at that time; known are those of each queue.
func addEpisode(all []item, known map[string][]int, sink string, o object) []item {
	o["of"] = []object{{"sink": sink, "id": o["id"], "bytes": o["bytes"]}}
	key, at := lists["episodes"].key(o), spanOf(o, "begin", "end")
	for _, i := range known[key] {
		if spanOf(all[i].o, "begin", "end").meets(at) {
			all[i] = item{joinEpisodes(all[i].o, o), append(all[i].sinks, sink)}
			return all
		}
	}
	known[key] = append(known[key], len(all))
	return append(all, item{o, []string{sink}})
}

// joinEpisodes is one episode of two. Windows are those of the one with more bytes: they begin at other times in each.
func joinEpisodes(a, b object) object {
	base, other := a, b
	if amount(b, "bytes") > amount(a, "bytes") {
		base, other = b, a
	}
	out := copyOf(base)
	for _, k := range []string{"packets", "bytes", "other_packets", "ecn_capable", "ecn_marked"} {
		if _, told := number(base, k); told {
			out[k] = whole(amount(a, k) + amount(b, k))
		}
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
	for _, k := range []string{"bursts", "full_ns"} { // of one queue at one time: the sink that saw more of it
		out[k] = whole(max(amount(a, k), amount(b, k)))
	}
	who(out, mostShares, a, b)
	out["of"] = append(slices.Clone(a["of"].([]object)), b["of"].([]object)...)
	return out
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// who puts into out who filled a queue and who waited in it, as several sinks tell that together: most of each at most.
func who(out object, most int, from ...object) {
	doubt := ""
	for _, o := range from {
		doubt = cmp.Or(doubt, text(o, "doubt"))
	}
	for _, k := range []string{"bytes", "other_bytes", "added_ns"} {
		sum := 0.0
		for _, o := range from {
			sum += amount(o, k)
		}
		out[k] = whole(sum)
	}
	for name, fields := range map[string][]string{
		"culprits": {"share", "bytes", "over"}, "now": {"share", "bytes", "over"},
		"hosts": {"share", "added_ns"}, "services": {"share", "added_ns"}, "victims": {"added_ns"},
	} {
		all := addUp(name, fields, from)
		out[name] = all[:min(len(all), most)]
	}
	if delete(out, "doubt"); doubt != "" && len(out["culprits"].([]any)) == 0 {
		out["doubt"] = doubt
	}
}

// totalOf is how many bytes the shares in the list of this name are of.
func totalOf(name string, o object) float64 {
	if bytes := amount(o, "bytes"); bytes > 0 && name != "now" {
		return bytes
	}
	if l := objects(o, name); len(l) > 0 && amount(l[0], "share") > 0 {
		return max(amount(l[0], "bytes")-amount(l[0], "over"), 0) / amount(l[0], "share")
	}
	return 0
}

// addUp adds up these fields of the items in lists of this name, by the flow, host or service that they are of; the most of the first field come first, a
// host before its flows. A share is of the bytes of all sinks. What a sink has of a flow besides, which stood below the least of those that it tells,
// is the bound: over holds what a sink itself says.
func addUp(name string, fields []string, from []object) []any {
	by, order, total := map[string]object{}, []string{}, 0.0
	for _, o := range from {
		its := totalOf(name, o)
		total += its
		for _, c := range objects(o, name) {
			kind, of := whose(c)
			if kind == "" {
				continue
			}
			key := kind + " " + of
			x := by[key]
			if x == nil {
				x = object{kind: of}
				by[key], order = x, append(order, key)
			}
			for _, f := range fields {
				v, has := number(c, f)
				if f == "share" {
					v *= its
				}
				if has {
					x[f] = amount(x, f) + max(v, 0)
				}
			}
		}
	}
	slices.SortFunc(order, func(a, b string) int {
		return cmp.Or(cmp.Compare(amount(by[b], fields[0]), amount(by[a], fields[0])), strings.Compare(b[:1], a[:1]), strings.Compare(a, b))
	})
	out := []any{}
	for _, key := range order {
		x := by[key]
		for _, f := range fields {
			switch v, has := number(x, f); {
			case has && f != "share":
				x[f] = whole(v)
			case has && total > 0:
				x[f] = min(v/total, 1)
			}
		}
		out = append(out, x)
	}
	return out
}

// whose is of whom an item is: of a flow, a host, or what has a name.
func whose(o object) (kind, of string) {
	for _, kind := range []string{"flow", "host", "name"} {
		if of := text(o, kind); of != "" {
			return kind, of
		}
	}
	return "", ""
}
