// Lists: which items of several sinks are of one thing, and how their fields come together.

package allsinks

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// list is how the items of one endpoint are merged.
type list struct {
	keys   []string          // the fields that say which thing an item is of; none: each item stays as it is, with its sink
	sorts  map[string]string // the field that each order is by
	usual  string            // the order where none is asked for
	worst  string            // of several items, the one with the highest of this field stands for all
	sums   []string
	maxima []string
	latest []string // times
	ors    []string
	ands   []string
	pages  bool // a cursor of one sink is one of all: it is made of the order's value and of the id
}

// lists are the endpoints that answer {"items": [...]}; episodes have more to them (episodes.go).
var lists = map[string]*list{
	"flows":      {sorts: map[string]string{"packets": "packets", "bytes": "bytes", "last_seen": "last_seen", "latency": "latency_ns", "hop_latency": "max_hop_latency_ns", "lost": "lost", "ecn_marked": "ecn_marked"}, usual: "packets", pages: true},
	"paths":      {keys: []string{"id"}, sorts: map[string]string{"flows": "flows", "packets": "packets", "bytes": "bytes", "last_seen": "last_seen", "latency": "max_latency_ns"}, usual: "flows", worst: "max_latency_ns", sums: []string{"flows", "sprayed_flows", "packets", "bytes"}, latest: []string{"last_seen"}, ors: []string{"congested"}, pages: true},
	"queues":     {keys: []string{"node", "egress", "queue"}, sorts: map[string]string{"occupancy": "occupancy", "latency": "latency_ns", "episodes": "episodes", "last_seen": "last_seen", "ecn_marked": "ecn_marked"}, usual: "occupancy", worst: "latency_ns", sums: []string{"reports", "ecn_marked"}, maxima: []string{"occupancy", "episodes", "tx_utilization"}, latest: []string{"last_seen", "last_marked"}, ors: []string{"congested"}},
	"links":      {keys: []string{"from_node", "from_egress", "to_node", "to_ingress"}, sorts: map[string]string{"latency": "latency_ns", "last_seen": "last_seen", "clock_skews": "clock_skews"}, usual: "latency", worst: "latency_ns", sums: []string{"clock_skews"}, latest: []string{"last_seen"}},
	"interfaces": {keys: []string{"node", "egress"}, sorts: map[string]string{"tx_utilization": "tx_utilization", "last_seen": "last_seen"}, usual: "tx_utilization", worst: "tx_utilization", latest: []string{"last_seen"}, ors: []string{"busy"}},
	"episodes":   {keys: []string{"node", "egress", "queue"}, sorts: map[string]string{"begin": "begin", "bytes": "bytes", "latency": "peak_latency_ns"}, usual: "begin"},
	"nodes":      {keys: []string{"node"}, sorts: map[string]string{"": "node"}, worst: "clock_off_ns", latest: []string{"last_seen"}, ands: []string{"gone"}},
	"changes":    {sorts: map[string]string{"": "time"}},
}

// times are the fields of items that are times by the sink's clock.
var times = []string{"last_seen", "last_report", "since", "begin", "end", "peak_at", "time"}

// Sizes of an answer: as the sinks have them.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// listOf answers one endpoint: every sink is asked the same, as many items as are wanted in the end.
func (s *Sinks) listOf(name string) answerer {
	l := lists[name]
	return func(ctx context.Context, r *http.Request) (object, error) {
		s.knowAll(ctx)
		q, err := s.asked(ctx, r, s.o.Timeout)
		if err != nil {
			return nil, err
		}
		return q.once(func(q *question) (object, error) { return l.answer(name, q, r.URL.Query()), nil })
	}
}

// item is one thing, with the sinks that tell of it.
type item struct {
	o     object
	sinks []string
}

// answer merges all pages into one.
func (l *list) answer(name string, q *question, parameters url.Values) object {
	all := l.merge(name, q.answers())
	by := l.sorts[cmp.Or(parameters.Get("sort"), l.usual)]
	slices.SortStableFunc(all, func(a, b item) int { return l.compare(by, a.o, b.o) })
	limit := limitOf(parameters)
	if name == "nodes" {
		limit = len(all) // it has no pages
	}
	o, more := object{}, l.goesOn(q)
	items := []any{}
	for _, x := range all[:min(len(all), limit)] {
		l.mark(x)
		items = append(items, x.o)
	}
	if more = more || len(all) > limit; more && len(items) > 0 && l.pages {
		o["next"] = cursorOf(cmp.Or(parameters.Get("sort"), l.usual), by, items[len(items)-1].(object))
	}
	o["items"], o["totals"] = items, l.totals(q, len(all), more)
	return o
}

// limitOf is how many items are asked for.
func limitOf(parameters url.Values) int {
	if n, err := strconv.ParseUint(parameters.Get("limit"), 0, 16); err == nil && n > 0 {
		return min(int(n), maxLimit)
	}
	return defaultLimit
}

// mark says which sinks tell of an item.
func (l *list) mark(x item) {
	if len(l.keys) == 0 {
		x.o["sink"] = x.sinks[0]
	} else {
		x.o["sinks"] = x.sinks
	}
}

// merge puts the items of all sinks together. More than a page of a sink is not looked at: none was asked for more.
func (l *list) merge(name string, replies []reply) (all []item) {
	at, episodes := map[string]int{}, map[string][]int{}
	for _, r := range replies {
		behind := -r.sink.identity().ahead
		items := objects(r.o, "items")
		if name != "nodes" { // it has no pages
			items = items[:min(len(items), maxLimit)]
		}
		for _, o := range items {
			o = copyOf(o)
			shift(o, behind, times...)
			if name == "episodes" {
				all = addEpisode(all, episodes, r.sink.name, o)
				continue
			}
			key, known := l.key(o), false
			var i int
			if key != "" {
				i, known = at[key]
			}
			if !known {
				at[key] = len(all)
				all = append(all, item{o, []string{r.sink.name}})
				continue
			}
			all[i].o = l.join(all[i].o, o)
			all[i].sinks = append(all[i].sinks, r.sink.name)
		}
	}
	return all
}

// key says which thing an item is of; "": of no other than itself.
func (l *list) key(o object) string {
	var parts []string
	for _, k := range l.keys {
		parts = append(parts, shown(o[k]))
	}
	return strings.Join(parts, ":")
}

// join is one item of two.
func (l *list) join(a, b object) object {
	base, other := a, b
	if l.worst != "" && amount(b, l.worst) > amount(a, l.worst) {
		base, other = b, a
	}
	out := copyOf(base)
	for _, k := range l.sums {
		out[k] = whole(amount(a, k) + amount(b, k))
	}
	for _, k := range l.maxima {
		if _, known := number(other, k); known && amount(other, k) > amount(base, k) || base[k] == nil {
			out[k] = other[k]
		}
	}
	for _, k := range l.latest {
		x, _ := when(a, k)
		if y, ok := when(b, k); ok && y.After(x) {
			out[k] = b[k]
		} else {
			out[k] = a[k]
		}
	}
	for _, k := range l.ors {
		x, _ := a[k].(bool)
		y, _ := b[k].(bool)
		out[k] = x || y
	}
	for _, k := range l.ands {
		x, _ := a[k].(bool)
		y, _ := b[k].(bool)
		if delete(out, k); x && y {
			out[k] = true
		}
	}
	return out
}

// compare is the order of a list: the highest value first, then by id.
func (l *list) compare(by string, a, b object) int {
	if by == "node" {
		return cmp.Compare(amount(a, by), amount(b, by))
	}
	return cmp.Or(cmp.Compare(orderOf(b, by), orderOf(a, by)), strings.Compare(text(a, "id"), text(b, "id")))
}

// orderOf is the number that an order is by: of a time, its nanoseconds.
func orderOf(o object, by string) float64 {
	if t, ok := when(o, by); ok {
		return float64(t.UnixNano())
	}
	return amount(o, by)
}

// goesOn tells whether a sink has more than it answered.
func (l *list) goesOn(q *question) bool {
	return slices.ContainsFunc(q.answers(), func(r reply) bool { return text(r.o, "next") != "" })
}

// totals adds up those of the sinks. How many things there are is known where no sink has more than it answered; else the sum
// counts what several see as often as they do.
func (l *list) totals(q *question, merged int, more bool) object {
	out := object{}
	for _, r := range q.answers() {
		for k := range inner(r.o, "totals") {
			out[k] = whole(amount(out, k) + amount(inner(r.o, "totals"), k))
		}
	}
	if !more && len(l.keys) > 0 {
		for _, k := range []string{"rows", "paths", "nodes"} {
			if out[k] != nil {
				out[k] = merged
			}
		}
	}
	return out
}

// cursorOf is where the next page begins, as a sink writes it: all of them take it.
func cursorOf(sort, by string, last object) string {
	value := uint64(amount(last, by))
	if t, ok := when(last, by); ok {
		value = uint64(max(t.UnixNano(), 0))
	}
	b, _ := json.Marshal(map[string]any{"s": sort, "v": value, "i": text(last, "id")}) // texts and a number always can
	return base64.RawURLEncoding.EncodeToString(b)
}

// whole is a sum of counts as JSON has it: without a fraction.
func whole(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

func number64(n uint64) string { return strconv.FormatUint(n, 10) }

// mergeOne makes one item of those that the sinks know, by the rules of a list.
func mergeOne(name string) func(q *question) (object, error) {
	l := lists[name]
	return func(q *question) (object, error) {
		var x item
		for _, r := range q.answers() {
			o := copyOf(r.o)
			shift(o, -r.sink.identity().ahead, times...)
			if x.sinks = append(x.sinks, r.sink.name); x.o == nil {
				x.o = o
			} else {
				x.o = l.join(x.o, o)
			}
		}
		l.mark(x)
		return x.o, nil
	}
}

// newestFlow is the flow as the sink has it that saw it last: its packets may have left by another one before.
func newestFlow(q *question) (object, error) {
	var best object
	for _, r := range q.answers() {
		o := copyOf(r.o)
		behind := -r.sink.identity().ahead
		shift(o, behind, append(times, "now", "refresh_due", "last_change")...)
		o["sink"] = r.sink.name
		if best == nil || orderOf(o, "last_seen") > orderOf(best, "last_seen") {
			best = o
		}
	}
	return best, nil
}

// detail answers one thing by its id.
func (s *Sinks) detail(merge func(q *question) (object, error)) answerer {
	return func(ctx context.Context, r *http.Request) (object, error) {
		s.knowAll(ctx)
		q, err := s.asked(ctx, r, s.o.Timeout)
		if err != nil {
			if p := q.unsure(err); p != "" {
				return nil, &refusal{http.StatusNotFound, err.Error() + p}
			}
			return nil, err
		}
		return q.once(merge)
	}
}

// unsure says which sinks did not answer, where the others know no such thing.
func (q *question) unsure(err error) string {
	if q == nil || err == errNobody {
		return ""
	}
	p := q.partial()
	if len(p) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d sinks did not answer, %s among them: %s", len(p), len(q.replies), p[0].Sink, p[0].Why)
}
