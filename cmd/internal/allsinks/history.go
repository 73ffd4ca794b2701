// History over all sinks: places by step: the highest maximum, the median of the sinks' medians; links by sink, counters added up.

package allsinks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// histories are the fields that say which place an item of /api/v1/history is of.
var histories = map[string][]string{
	"queues": {"node", "egress", "queue"}, "hops": {"node", "ingress", "egress"}, "segments": {"from_node", "from_egress", "to_node", "to_ingress"},
	"paths": {"id"}, "links": nil, "sink": {},
}

// history answers GET /api/v1/history/{what}.
func (s *Sinks) history(ctx context.Context, r *http.Request) (object, error) {
	keys, known := histories[r.PathValue("what")]
	if !known {
		return nil, &refusal{http.StatusNotFound, "there is no such history: there is hops, links, paths, queues, segments, sink"}
	}
	s.knowAll(ctx)
	if s.o.Past != nil {
		at, _, err := s.spanIn(r.URL.Query(), "since", "until")
		if since := r.URL.Query().Get("since"); err == nil && since != "" && s.o.Now().Sub(at.from) > sinksKeep {
			return s.longHistory(ctx, r, at, keys)
		}
	}
	q, err := s.asked(ctx, r, 5*s.o.Timeout)
	if err != nil {
		return nil, err
	}
	return q.once(func(q *question) (object, error) { return mergeHistory(q, keys), nil })
}

// longHistory answers what lies further back than the sinks remember: out of the store, and what is not, of the sinks.
func (s *Sinks) longHistory(ctx context.Context, r *http.Request, at span, keys []string) (object, error) {
	parameters := r.URL.Query()
	step := longStep(at)
	if v := parameters.Get("step"); v != "" {
		var err error
		if step, err = time.ParseDuration(v); err != nil || step < time.Minute || step%time.Minute != 0 {
			return nil, &refusal{http.StatusBadRequest, fmt.Sprintf("step = %.40q: must be whole minutes, such as 10m", v)}
		}
	}
	seconds := int64(step / time.Second)
	border := time.Unix((s.o.Now().Add(-sinksKeep+time.Hour).Unix()/seconds+1)*seconds, 0) // what the sinks surely have begins here
	all := &question{}
	var asked *question
	if at.to.After(border) {
		parameters.Set("since", border.UTC().Format(time.RFC3339))
		parameters.Set("step", step.String())
		var err error
		if asked, err = s.askFor(ctx, r.URL.Path+"?"+parameters.Encode(), 5*s.o.Timeout); err != nil && !s.storeAlone(err) {
			return nil, err
		}
		all.replies, at.to = asked.answers(), border
	}
	past, missing := s.pastHistory(ctx, r.PathValue("what"), at, step, r.URL.Query())
	if said := (*refusal)(nil); errors.As(missing, &said) {
		return nil, missing
	}
	if missing == nil {
		all.replies = append([]reply{past}, all.replies...)
	}
	if len(all.replies) == 0 {
		return nil, fmt.Errorf("no answer from the store: %w", missing)
	}
	if missing == nil {
		keys = keptHistories[r.PathValue("what")].of.Columns // the store knows a place by these alone
	}
	o := mergeHistory(all, keys)
	if asked != nil && len(asked.partial()) > 0 {
		o["partial"] = asked.partial()
	}
	return withoutPast(o, missing), nil
}

// longStep is the step of a time, where none is asked for: whole minutes, a day's worth at most.
func longStep(at span) time.Duration {
	minutes := int64(at.to.Sub(at.from)/time.Minute)/1440 + 1
	return time.Duration(minutes) * time.Minute
}

// mostSteps bounds the steps of an answer: a sink's own are at most these for one place.
const mostSteps = 1440 * 10

// axis is the steps that all answers have together.
type axis struct{ begin, step, steps int64 }

func axisOf(q *question) (x axis) {
	end := int64(0)
	for _, r := range q.answers() {
		step := int64(amount(r.o, "step_ns"))
		begin, ok := when(r.o, "begin")
		if !ok || step <= 0 || x.step != 0 && step != x.step {
			continue
		}
		x.step = step
		at := begin.Add(-r.sink.identity().ahead).UnixNano() / step
		if x.begin == 0 || at < x.begin {
			x.begin = at
		}
		end = max(end, at+int64(amount(r.o, "steps")))
	}
	x.steps = min(max(end-x.begin, 0), mostSteps)
	return x
}

// values are what sinks say of one series: a list for each step.
type values map[string][][]float64

// historyPlace is what all sinks say of one place, step by step.
type historyPlace struct {
	first  object
	sinks  []string
	series values
}

func mergeHistory(q *question, keys []string) object {
	x, all, order := axisOf(q), map[string]*historyPlace{}, []string{}
	for _, r := range q.answers() {
		begin, _ := when(r.o, "begin")
		if int64(amount(r.o, "step_ns")) != x.step || x.step == 0 {
			continue
		}
		at := begin.Add(-r.sink.identity().ahead).UnixNano()/x.step - x.begin
		for _, o := range objects(r.o, "items") {
			o = copyOf(o)
			key := ""
			if keys == nil { // a link is one of its sink
				o["link"] = r.sink.name + "/" + text(o, "link")
				key = text(o, "link") + " " + text(o, "direction")
			}
			for _, k := range keys {
				key += ":" + shown(o[k])
			}
			p := all[key]
			if p == nil {
				p = &historyPlace{first: o, series: values{}}
				all[key], order = p, append(order, key)
			}
			p.sinks = append(p.sinks, r.sink.name)
			p.series.add("", o, at, x.steps)
		}
	}
	items := []any{}
	for _, key := range order {
		items = append(items, all[key].item(len(keys) == 0 && keys != nil))
	}
	out := object{"items": items, "step_ns": x.step, "steps": x.steps, "begin": nil}
	for _, r := range q.answers() { // what else it has is of the first that has it
		for k, v := range r.o {
			if _, has := out[k]; !has && k != "next" {
				out[k] = v
			}
		}
	}
	out["begin"] = stampNs(x.begin * x.step)
	return out
}

// add takes up the lists of numbers of o, those in objects inside of it, too.
func (v values) add(prefix string, o object, at, steps int64) {
	for name, x := range o {
		switch x := x.(type) {
		case object:
			if name != "usual" {
				v.add(name+".", x, at, steps)
			}
		case []any:
			all := v[prefix+name]
			if all == nil {
				all = make([][]float64, steps)
				v[prefix+name] = all
			}
			for i, n := range x {
				if n, ok := n.(json.Number); ok {
					if f, err := n.Float64(); err == nil && at+int64(i) >= 0 && at+int64(i) < steps {
						all[at+int64(i)] = append(all[at+int64(i)], f)
					}
				}
			}
		}
	}
}

// item is the item of a place; added: its numbers are counters.
func (p *historyPlace) item(added bool) object {
	out := copyOf(p.first)
	for name, steps := range p.series {
		list := make([]any, len(steps))
		for i, all := range steps {
			if len(all) > 0 {
				list[i] = whole(one(name, all, added))
			}
		}
		in, field, deep := strings.Cut(name, ".")
		if !deep {
			out[name] = list
			continue
		}
		o := copyOf(inner(out, in))
		o[field] = list
		out[in] = o
	}
	out["sinks"] = p.sinks
	return out
}

// one is the value of a step that several sinks tell.
func one(name string, all []float64, added bool) float64 {
	switch {
	case added:
		sum := 0.0
		for _, v := range all {
			sum += v
		}
		return sum
	case strings.HasSuffix(name, "median"):
		slices.SortFunc(all, cmp.Compare[float64])
		return all[len(all)/2]
	}
	return slices.Max(all)
}
