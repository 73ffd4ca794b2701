// Problems over all sinks: what is wrong at one place is one problem, whichever sinks tell it; what a sink says of itself is at
// that sink; a sink that does not answer is a problem, too.

package allsinks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"intsink/cmd/internal/problem"
)

// mostCulprits is how many a problem names at most, of each kind.
const mostCulprits = 5

// kinds are those that there may be: of any sink, and of the sinks themselves.
var kinds = slices.Concat(problem.Kinds, problem.KindsOfSinks)

// mostItems is how many problems an answer has at most.
const mostItems = 2048

// told is what one sink says is wrong.
type told struct {
	o    object
	sink *sink
	at   span
}

// place is a place on the way to what is wrong.
func place(what, id string) object { return object{"what": what, "id": id} }

// keyOf says which problem it is: kind and place, of a sink's own the sink with it.
func keyOf(t *told) string {
	var b strings.Builder
	b.WriteString(text(t.o, "kind"))
	if !ofNetwork(t.o) {
		b.WriteString(" of " + t.sink.name)
	}
	for _, p := range objects(t.o, "place") {
		b.WriteString(", " + text(p, "what") + " " + shown(p["id"]))
	}
	return b.String()
}

// problemList answers GET /api/v1/problems.
func (s *Sinks) problemList(ctx context.Context, r *http.Request) (object, error) {
	f, err := problem.ReadFilter(r.URL.Query(), mostItems, kinds)
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, err.Error()}
	}
	if s.o.Past != nil && !f.Since.IsZero() {
		return s.problemsSince(ctx, &f)
	}
	all, err := s.allProblems(ctx)
	if err != nil {
		return nil, err
	}
	return selected(&f, all), nil
}

// problemsSince has what the sinks have forgotten, too.
func (s *Sinks) problemsSince(ctx context.Context, f *problem.Filter) (object, error) {
	q, nodes, err := s.askProblems(ctx)
	if err != nil {
		return nil, err
	}
	past, missing := s.pastProblems(ctx, f.Since, q.answers())
	all := s.mergeProblems(q, nodes, past...)
	if p := q.partial(); len(p) > 0 {
		all["partial"] = p
	}
	return selected(f, withoutPast(all, missing)), nil
}

// allProblems is the answer without a filter.
func (s *Sinks) allProblems(ctx context.Context) (object, error) {
	q, nodes, err := s.askProblems(ctx)
	if err != nil {
		return nil, err
	}
	return q.once(func(q *question) (object, error) { return s.mergeProblems(q, nodes), nil })
}

// askProblems asks every sink for all, so that all who look share the question.
func (s *Sinks) askProblems(ctx context.Context) (q, nodes *question, err error) {
	s.knowAll(ctx)
	if nodes, err = s.ask(ctx, "/api/v1/nodes", s.o.Timeout); err == nil {
		q, err = s.ask(ctx, "/api/v1/problems", s.o.Timeout)
	}
	return q, nodes, err
}

// mergeProblems makes the one list of what the sinks tell, and of what they told before.
func (s *Sinks) mergeProblems(q, nodes *question, before ...reply) object {
	groups := &tellings{}
	looked, signs, left, last := object{}, object{}, 0.0, time.Time{}
	for _, r := range append(q.answers(), before...) {
		behind := -r.sink.identity().ahead
		for _, o := range objects(r.o, "items") {
			t := tellingOf(o, r.sink)
			unlessSeen(t, nodes)
			groups.add(t)
		}
		left += amount(inner(r.o, "totals"), "left_out")
		its := inner(r.o, "looked")
		for k := range inner(its, "signs") {
			signs[k] = whole(amount(signs, k) + amount(inner(its, "signs"), k))
		}
		if at, ok := when(its, "at"); ok && at.Add(behind).After(last) {
			last = at.Add(behind)
		}
	}
	all := append(s.joined(groups), s.ofSinks(q)...)
	sortProblems(all)
	if last.IsZero() {
		last = s.o.Now() // nobody looked but this page, at who answers
	}
	looked["at"], looked["signs"], looked["sinks"] = stamp(last), signs, len(q.answers())
	return object{"items": all, "looked": looked, "left_out": left}
}

// tellings are what sinks tell, by the problem that it is of, in the order of the first.
type tellings struct {
	by    map[string][]*told
	order []string
}

func (x *tellings) add(t *told) {
	if x.by == nil {
		x.by = map[string][]*told{}
	}
	key := keyOf(t)
	if x.by[key] == nil {
		x.order = append(x.order, key)
	}
	x.by[key] = append(x.by[key], t)
}

// tellingOf is a problem as a sink tells it, by our clock.
func tellingOf(o object, x *sink) *told {
	o = copyOf(o)
	shift(o, -x.identity().ahead, "since", "until")
	return &told{o, x, spanOf(o, "since", "until")}
}

// joined are the problems that sinks tell.
func (s *Sinks) joined(x *tellings) []object {
	all := []object{}
	for _, key := range x.order {
		for _, same := range together(x.by[key]) {
			all = append(all, s.joinProblems(key, same))
		}
	}
	return all
}

// together puts what sinks tell of one kind and place into groups that are of one time.
func together(all []*told) (groups [][]*told) {
	slices.SortFunc(all, func(a, b *told) int { return a.at.from.Compare(b.at.from) })
	var until span
	for _, t := range all {
		if n := len(groups) - 1; n >= 0 && until.meets(t.at) {
			groups[n] = append(groups[n], t)
			if !until.to.IsZero() && (t.at.to.IsZero() || t.at.to.After(until.to)) {
				until.to = t.at.to
			}
			continue
		}
		groups, until = append(groups, []*told{t}), t.at
	}
	return groups
}

// joinProblems is one problem of what several sinks tell: since the earliest, as bad as the worst says.
func (s *Sinks) joinProblems(key string, all []*told) object {
	worst := slices.MaxFunc(all, func(a, b *told) int { return cmp.Compare(badness(a.o), badness(b.o)) })
	out := copyOf(worst.o)
	since, until, times := all[0].at.from, time.Time{}, 1
	open := false
	for _, t := range all {
		since = earlier(since, t.at.from)
		if open = open || t.at.to.IsZero(); t.at.to.After(until) {
			until = t.at.to
		}
		times = max(times, int(amount(t.o, "times")))
		if text(t.o, "severity") == "error" {
			out["severity"] = "error"
		}
	}
	out["since"], out["until"] = stamp(since), stamp(until)
	if open {
		out["until"] = nil
		delete(out, "ended")
	}
	if times > 1 {
		out["times"] = times
	}
	if unit := text(out, "unit"); unit != "ns" && unit != "%" && ofNetwork(out) && len(all) > 1 {
		sum := 0.0
		for _, t := range all {
			sum += amount(t.o, "value")
		}
		if out["value"] != nil && text(out, "kind") != "queue_congested" {
			out["value"] = whole(sum)
		}
	}
	out["evidence"] = joinEvidence(worst, all)
	if !ofNetwork(out) {
		of, _ := out["place"].([]any)
		out["place"] = append([]any{place("sink", worst.sink.name)}, of...)
	}
	out["id"] = s.problems.of(key, since, until, open)
	return out
}

// badness orders what sinks say of one place: open before over, then by how far it is from what is usual.
func badness(p object) float64 {
	b := amount(p, "value")
	if usual := amount(p, "usual"); usual > 0 {
		b /= usual
	}
	if p["until"] == nil {
		b += 1e18
	}
	return b
}

// joinEvidence adds up who fills and who waits, and has each sink with its own number of the problem: one click away.
func joinEvidence(worst *told, all []*told) object {
	out := copyOf(inner(worst.o, "evidence"))
	var from []object
	flows, sinks := []any{}, []any{}
	for _, t := range all {
		e := inner(t.o, "evidence")
		from = append(from, e)
		for _, f := range listOf(e, "flows") {
			if len(flows) < mostShares && !slices.Contains(flows, f) {
				flows = append(flows, f)
			}
		}
		one := object{"sink": t.sink.name, "url": t.sink.page(), "id": t.o["id"], "since": t.o["since"], "until": t.o["until"], "value": t.o["value"]}
		if id := t.sink.identity(); id.node != "" {
			one["node"] = id.node
		}
		sinks = append(sinks, one)
	}
	if len(flows) > 0 {
		out["flows"] = flows
	}
	if len(all) > 1 {
		who(out, mostCulprits, from...)
		for k, v := range out { // as a sink leaves out what it has nothing to say of
			if l, is := v.([]any); is && len(l) == 0 || v == whole(0) {
				delete(out, k)
			}
		}
		delete(out, "episode") // each sink has another number for it
		if why := text(out, "why"); slices.ContainsFunc(from, func(e object) bool { return text(e, "why") != why }) {
			out["why"] = titleOf(worst.sink.name) + ": " + why // its numbers are of this sink alone
		}
	}
	out["sinks"] = sinks
	return out
}

// listOf is a field that is a list of texts.
func listOf(o object, name string) []any {
	l, _ := o[name].([]any)
	return l
}

// ofNetwork tells whether a problem is one of the network: at a node, between two, or of flows. All else is of the sink that
// tells it.
func ofNetwork(p object) bool {
	first := objects(p, "place")
	if len(first) == 0 {
		return len(listOf(inner(p, "evidence"), "flows")) > 0
	}
	return slices.Contains([]string{"node", "from", "to", "host", "service"}, text(first[0], "what"))
}

// unlessSeen makes of a node that is gone for one sink and seen by another what it is: flows of that sink go around it.
func unlessSeen(t *told, nodes *question) {
	of := objects(t.o, "place")
	if text(t.o, "kind") != "node_gone" || !t.at.to.IsZero() || len(of) == 0 {
		return
	}
	id := shown(of[0]["id"])
	for _, r := range nodes.answers() {
		if r.sink == t.sink {
			continue
		}
		behind := -r.sink.identity().ahead
		for _, n := range objects(r.o, "items") {
			seen, _ := when(n, "last_seen")
			if gone, _ := n["gone"].(bool); shown(n["node"]) != id || gone || !seen.Add(behind).After(t.at.from.Add(2*time.Second)) {
				continue
			}
			t.o["kind"], t.o["severity"] = "path_changed", "warning"
			t.o["what"] = fmt.Sprintf("flows to sink %s leave it for another way; sink %s sees packets that pass it, so it is the way between that has changed", t.sink.name, r.sink.name)
			t.o["todo"] = "look at the links between it and the nodes before and behind it"
			return
		}
	}
}

// ofSinks are the problems that sinks have as sinks of a network: one does not answer, its clock is off, two have one identity.
func (s *Sinks) ofSinks(q *question) (all []object) {
	begun := map[string]time.Time{}
	for _, r := range q.replies {
		p := s.ofSink(&r)
		if p == nil {
			continue
		}
		key := text(p, "kind") + " " + r.sink.name
		begun[key] = s.problems.begin(key, q.began)
		p["since"], p["id"] = stamp(begun[key]), s.problems.of(key, begun[key], time.Time{}, true)
		all = append(all, p)
	}
	s.problems.keep(begun)
	return all
}

// ofSink is what is wrong with one sink; nil: nothing.
func (s *Sinks) ofSink(r *reply) object {
	id := r.sink.identity()
	_, claims := s.twin(r.sink)
	var twin *twinError
	switch {
	case errors.As(r.err, &twin):
		return ownProblem(problem.SinkTwice, r.sink, cleanText(r.err.Error()), "name each sink once in network.sinks; where these are two, one of them lies")
	case r.err != nil:
		return ownProblem(problem.SinkAway, r.sink, "does not answer: what leaves the network there is not on this page", "look whether it runs, and whether this machine reaches its http.listen: "+cleanText(r.err.Error()))
	case id.ahead.Abs() > 2*time.Second:
		p := ownProblem(problem.SinkClock, r.sink, fmt.Sprintf("its clock is %s this machine's; its times are shown by this machine's clock", ahead(id.ahead)), "set both clocks by one source (NTP, PTP)")
		p["value"], p["unit"] = whole(float64(id.ahead.Abs().Nanoseconds())), "ns"
		return p
	case claims != nil:
		return ownProblem(problem.SinkTwice, r.sink, fmt.Sprintf("says that it is node %s, as sink %s does: their reports count as one sink's", id.node, claims.name), "give each sink a node { id } of its own")
	}
	return nil
}

func ahead(d time.Duration) string {
	if d < 0 {
		return fmt.Sprintf("%v behind", (-d).Round(time.Millisecond))
	}
	return fmt.Sprintf("%v ahead of", d.Round(time.Millisecond))
}

func ownProblem(kind problem.Kind, s *sink, what, todo string) object {
	return object{
		"kind": string(kind), "severity": string(kind.Severity()), "place": []any{place("sink", s.name)}, "what": what, "until": nil, "value": nil, "usual": nil,
		"evidence": object{"sinks": []any{object{"sink": s.name, "url": s.base + "/ui/"}}}, "todo": todo,
	}
}

// sortProblems puts what is wrong now first, the oldest first; then what is over, the one that ended last first.
func sortProblems(all []object) {
	slices.SortStableFunc(all, func(a, b object) int {
		x, y := spanOf(a, "since", "until"), spanOf(b, "since", "until")
		switch {
		case x.to.IsZero() != y.to.IsZero():
			return cmp.Compare(bit(y.to.IsZero()), bit(x.to.IsZero()))
		case x.to.IsZero():
			return x.from.Compare(y.from)
		}
		return y.to.Compare(x.to)
	})
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// selected is the answer with what f selects.
func selected(f *problem.Filter, all object) object {
	items, totals := problem.Select(f, all["items"].([]object), func(p object) (problem.Kind, time.Time) {
		return problem.Kind(text(p, "kind")), spanOf(p, "since", "until").to
	})
	out := object{"items": items, "totals": object{"open": totals.Open, "ended": totals.Ended, "left_out": whole(all["left_out"].(float64))}, "looked": all["looked"]}
	if p, ok := all["partial"]; ok {
		out["partial"] = p
	}
	return out
}

// numbers give problems ids that stay as long as they last.
type numbers struct {
	mu    sync.Mutex
	last  uint64
	all   map[string]*numbered
	begun map[string]time.Time // of sinks' problems that are there
}

// numbered is the last problem of a key.
type numbered struct {
	id uint64
	at span
}

// mostNumbers bounds the keys that are remembered; beyond, all get new ids.
const mostNumbers = 8192

// of is the id of the problem of key in a time.
func (n *numbers) of(key string, since, until time.Time, open bool) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if open {
		until = time.Time{}
	}
	x := n.all[key]
	switch {
	case x != nil && !until.IsZero() && until.Before(x.at.from): // one from before the one that is remembered
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %d", key, since.UnixNano())
		return 1<<52 | h.Sum64()>>12
	case x != nil && (x.at.to.IsZero() || !x.at.to.Add(problem.AgainWithin).Before(since)):
		x.at = span{earlier(x.at.from, since), until}
		return x.id
	case n.all == nil || len(n.all) >= mostNumbers:
		n.all = map[string]*numbered{}
	}
	n.last++
	n.all[key] = &numbered{n.last, span{since, until}}
	return n.last
}

// begin is when the problem of a sink began: now, unless it is there already.
func (n *numbers) begin(key string, now time.Time) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t, ok := n.begun[key]; ok {
		return t
	}
	return now
}

// keep has the problems of sinks that are there.
func (n *numbers) keep(begun map[string]time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key := range n.begun {
		if _, still := begun[key]; !still {
			delete(n.all, key)
		}
	}
	n.begun = begun
}
