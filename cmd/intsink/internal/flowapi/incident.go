// GET /api/v1/incident: was it the network? Of flows, a host or a node, in a time: each hop and segment held against what is
// usual, what was wrong there, and a verdict.

package flowapi

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/engine/series"
	"intsink/engine/usual"
	"intsink/flows"
)

// Incident is the answer of GET /api/v1/incident.
type Incident struct {
	From     time.Time          `json:"from"`
	To       time.Time          `json:"to"`
	About    string             `json:"about"`
	Verdict  string             `json:"verdict"`
	At       string             `json:"at,omitempty"` // the place that is worst of those that something is wrong at; else of those that something was
	Title    string             `json:"title"`        // the verdict for people, and what else is wrong, or was in the time
	Why      []string           `json:"why"`          // the numbers that decide
	Flows    []string           `json:"flows"`        // the ids of those with the most packets, then of those that are gone
	Paths    []PathItem         `json:"paths"`        // that they are on now; of those that are gone, the last that is known
	Places   []PlaceItem        `json:"places"`       // hops and segments of these paths
	Problems []*problem.Problem `json:"problems"`     // that were there
	Episodes []*EpisodeItem     `json:"episodes"`     // that these flows met
	Recorded *RecordedItem      `json:"recorded"`     // packets of these flows in the flight recorder; null: it is off
	Lost     uint64             `json:"lost"`         // packets of these flows since each began
	Coverage CoverageItem       `json:"coverage"`

	ComparedNs int64 `json:"compared_ns,omitempty"` // how much earlier the time is that places have as "before"

	lossNow  bool        // packets of some flows were lost in this time
	untilNow bool        // the time ends about now
	left     []departure // of these flows from nodes
	sprayed  map[string]bool
	widest   SprayItem // of sprayed
}

// CoverageItem says how much is known.
type CoverageItem struct {
	Flows        int `json:"flows"`         // that were found in the tables
	Gone         int `json:"gone"`          // that are in no table any more, and that something of this time names
	WithoutPath  int `json:"without_path"`  // whose INT does not tell their path
	Places       int `json:"places"`        // hops and segments of the paths
	Told         int `json:"told"`          // of places, how many had a sample in the time
	WithoutUsual int `json:"without_usual"` // of those told, of how many nobody knows yet what is usual
	Doubtful     int `json:"doubtful"`      // of those told, how many have been slow since they were seen first, with nothing to hold that against

	Since        *time.Time `json:"since,omitempty"`         // nothing of the time is known of before; absent: it begins later
	BlindSeconds int        `json:"blind_seconds,omitempty"` // of the time after it, in which the sink saw nothing
	Missed       uint64     `json:"missed,omitempty"`        // packets that the sink missed, in problems of this time
}

// PlaceItem is a hop or segment in the time.
type PlaceItem struct {
	Place     string  `json:"place"`
	Kind      string  `json:"kind"`       // hop or segment
	MedianNs  *uint32 `json:"median_ns"`  // null: no sample told
	P99Ns     *uint32 `json:"p99_ns"`     // of its worst step
	MaxNs     *uint32 `json:"max_ns"`     //
	UsualNs   *uint32 `json:"usual_ns"`   // median, of its node where its own is not known; null: neither is
	State     string  `json:"state"`      // learning, doubtful or known: how far usual can be believed
	WorstNs   *uint32 `json:"worst_ns"`   // the highest median of a step
	SlowSteps int     `json:"slow_steps"` // seconds of steps in which half of all packets took eight times as long as usual
	Steps     int     `json:"steps"`      // seconds of steps that a sample told of

	Before *EarlierItem `json:"before,omitempty"` // where the time is compared with an earlier one

	place     usual.Place
	times     float64 // worst to usual
	held      uint32  // what it is held against; 0: nothing
	slower    bool    // a step was as far above usual as others that are slow, but below the floor
	floor     uint32
	slowAtEnd bool // in the last step that a sample told of
}

// untilNow is how long before now a time ends that is about now.
const untilNow = 10 * time.Second

// mostIncidentFlows is how many flows of an incident are looked at.
const mostIncidentFlows = 100

// incident is GET /api/v1/incident.
func (in *API) incident(ctx context.Context, p *parameters) (any, error) {
	if len(in.workers) == 0 {
		return nil, apiError{http.StatusServiceUnavailable, "there is no worker yet: ask again"}
	}
	now := in.Now()
	from, to := p.when("from", now, now.Add(-series.Seconds*time.Second)), p.when("to", now, now)
	filters, wanted, about := incidentFilters(p)
	format, earlier := p.oneOf("format", "json", "text", "html"), p.earlier("compare")
	if err := p.end(); err != nil {
		return nil, err
	}
	spans, err := incidentSpans(now, from, to)
	if err != nil {
		return nil, badRequest("%v", strings.NewReplacer("since", "from", "until", "to").Replace(err.Error()))
	}
	x := &Incident{From: from.UTC(), To: to.UTC(), About: about, Why: []string{}, Flows: []string{}, Paths: []PathItem{}, Places: []PlaceItem{}, Problems: []*problem.Problem{}, Episodes: []*EpisodeItem{}, untilNow: now.Sub(to) < untilNow, sprayed: map[string]bool{}}
	complete := filters[0].Node == nil
	for i := range filters {
		all, err := in.addFlows(ctx, x, &filters[i])
		if err != nil {
			return nil, err
		}
		complete = complete && all
	}
	if complete {
		in.addGone(x, filters)
	}
	in.addPlaces(x, spans, filters[0].Node)
	in.addEpisodes(x)
	in.addDepartures(x)
	in.addProblems(x)
	in.addBlind(x, now)
	if x.judge(); x.Coverage.Flows == 0 && filters[0].Node != nil {
		in.sayWhereNode(x, *filters[0].Node)
	}
	if earlier > 0 {
		if err := in.compare(x, now, earlier); err != nil {
			return nil, err
		}
	}
	in.addRecorded(x, now, &wanted)
	if format != "json" {
		return &document{format, in.Page(x, format)}, nil
	}
	return x, nil
}

// incidentSpans are the steps of the time: what is known by seconds is looked at by seconds, what is before that by minutes.
func incidentSpans(now, from, to time.Time) ([]*series.Span, error) {
	last := now.Add(-series.Seconds * time.Second).Truncate(time.Minute).Add(time.Minute)
	if now.Sub(from) <= series.Seconds*time.Second || !last.Before(to) {
		if now.Sub(from) > series.Seconds*time.Second {
			to = to.Truncate(time.Minute).Add(time.Minute) // a minute counts as a whole
		}
		span, err := series.NewSpan(now, from, to, 0)
		return []*series.Span{span}, err
	}
	span, err := series.NewSpan(now, from, last, time.Minute)
	if err != nil {
		return nil, err
	}
	rest, err := series.NewSpan(now, last, to, time.Second)
	return []*series.Span{span, rest}, err
}

// incidentFilters are those of the flows that it is about: exactly one of flow, host and node.
func incidentFilters(p *parameters) (filters []inspect.Filter, wanted Wanted, about string) {
	flow, host, node := p.text("flow"), p.prefix("host"), number[uint32](p, "node", 32)
	asked := 0
	if flow != "" {
		asked++
		if key, err := inspect.ParseFlowID(flow); err == nil {
			filters, wanted, about = bothWays(&key), wantedOf(&key), "flow "+inspect.FlowID(&key)
		} else {
			filters, wanted, about = between(p, flow)
		}
	}
	if p.values.Has("host") {
		asked++
		wanted.Source = p.values.Get("host")
		filters, about = []inspect.Filter{{Address: host}}, "flows of "+wanted.Source
	}
	if node != nil {
		asked++
		filters, about = []inspect.Filter{{Node: node, ByPath: true}}, fmt.Sprintf("flows through node %d", *node)
	}
	if asked != 1 {
		p.fail("write one of flow=A,B, host=ADDRESS, node=ID")
	}
	return filters, wanted, about
}

// between are filters of the flows between two addresses or prefixes, A,B.
func between(p *parameters, flow string) (filters []inspect.Filter, wanted Wanted, about string) {
	a, b, _ := strings.Cut(flow, ",")
	one := &parameters{values: map[string][]string{"a": {a}, "b": {b}}}
	from, to := one.prefix("a"), one.prefix("b")
	if one.err != nil || b == "" {
		p.fail("flow = %q: must be two addresses, such as 10.0.0.1,10.1.0.1, or a flow, such as tcp:10.0.0.1:1024-10.1.0.1:80", flow)
	}
	return []inspect.Filter{{Source: from, Destination: to}, {Source: to, Destination: from}}, Wanted{Source: a, Destination: b}, "flows between " + a + " and " + b
}

// bothWays are filters of a flow, and of the one in the opposite direction.
func bothWays(key *flows.Key) []inspect.Filter {
	src, dst, protocol := key.SrcAddr(), key.DstAddr(), key.Proto()
	from, to := inspect.PrefixOf(netip.PrefixFrom(src, src.BitLen())), inspect.PrefixOf(netip.PrefixFrom(dst, dst.BitLen()))
	forth := inspect.Filter{Source: from, Destination: to, Protocol: &protocol}
	back := inspect.Filter{Source: to, Destination: from, Protocol: &protocol}
	if flows.HasPorts(protocol) {
		forth.SourcePort, forth.DestPort = new(key.SrcPort()), new(key.DstPort())
		back.SourcePort, back.DestPort = forth.DestPort, forth.SourcePort
	}
	return []inspect.Filter{forth, back}
}

// addFlows adds the flows that a filter selects, and their paths. all: there are no more than these.
func (in *API) addFlows(ctx context.Context, x *Incident, f *inspect.Filter) (all bool, err error) {
	var onPaths [][]uint64
	if f.ByPath {
		if onPaths, err = in.onPaths(ctx, &wayFilter{node: f.Node}); err != nil {
			return false, err
		}
	}
	questions, err := in.ask(ctx, func(worker int) *inspect.Query {
		q := inspect.New(inspect.BestFlows|inspect.Ways, mostIncidentFlows)
		q.Filter = *f
		if onPaths != nil {
			q.Filter.OnPaths = onPaths[worker]
		}
		return q
	})
	if err != nil {
		return false, err
	}
	known := waysOf(questions)
	all = true
	for worker, q := range questions {
		all = all && q.Matched <= mostIncidentFlows
		for _, found := range q.Best() {
			flow := &found.Flow
			x.Coverage.Flows++
			x.Flows = append(x.Flows, inspect.FlowID(&flow.Key))
			x.Lost += flow.Lost
			if flow.NumPaths == 0 || known[worker][flow.Paths[0].Hash] == nil {
				x.Coverage.WithoutPath++
				continue
			}
			x.addWays(worker, q.Now, flow, known[worker])
		}
	}
	return all, nil
}

func (x *Incident) addPath(item PathItem) {
	for i := range x.Paths {
		if sameWay(x.Paths[i].Nodes, item.Nodes) {
			return
		}
	}
	x.Paths = append(x.Paths, item)
}

// addPlaces holds each hop and segment of the paths against what is usual there; of a node, those of the node.
func (in *API) addPlaces(x *Incident, spans []*series.Span, node *uint32) {
	seen := map[usual.Place]bool{}
	add := func(kind, name string, p usual.Place) {
		if node != nil && uint32(p.Key[0]>>32) != *node && (p.Kind == usual.Hop || uint32(p.Key[1]>>32) != *node) {
			return
		}
		if !seen[p] {
			seen[p] = true
			x.addPlace(in.placeItem(kind, name, p, spans))
		}
	}
	for i := range x.Paths {
		nodes := x.Paths[i].Nodes
		for n := range nodes {
			h := &nodes[n]
			add("hop", fmt.Sprintf("node %d", h.Node), usual.Place{Kind: usual.Hop, Key: usual.HopKey(h.Node, port(h.Ingress), port(h.Egress))})
			if n+1 == len(nodes) {
				continue
			}
			next := &nodes[n+1]
			key := [2]uint64{uint64(h.Node)<<32 | uint64(port(h.Egress)), uint64(next.Node)<<32 | uint64(port(next.Ingress))<<16}
			if in.workers[0].Series().Of(usual.Place{Kind: usual.Segment, Key: key}, spans[0]) != nil { // only timestamps tell of segments
				add("segment", fmt.Sprintf("from %d to %d", h.Node, next.Node), usual.Place{Kind: usual.Segment, Key: key})
			}
		}
	}
}

// Slow says for how long of the time that samples told of the place was slow.
func (p *PlaceItem) Slow() string {
	return fmt.Sprintf("%s of %s", cli.Lasted(p.SlowSteps), cli.Lasted(p.Steps))
}

func (x *Incident) addPlace(item PlaceItem) {
	x.Places = append(x.Places, item)
	x.Coverage.Places++
	if item.Steps > 0 {
		x.Coverage.Told++
		switch item.State {
		case usual.Learning.String():
			x.Coverage.WithoutUsual++
		case usual.Doubtful.String():
			x.Coverage.Doubtful++
		}
	}
}

func (in *API) placeItem(kind, name string, p usual.Place, spans []*series.Span) PlaceItem {
	v, _ := in.workers[0].Usual().Of(p)
	held, _ := v.Held()
	item := PlaceItem{Place: name, Kind: kind, place: p, State: v.State.String(), held: held.Median, floor: v.Floor}
	item.UsualNs = some(held.Median, held.Known && v.State != usual.Learning)
	var all []series.Point
	worst := uint32(0)
	for _, s := range spans {
		l := in.workers[0].Series().Of(p, s)
		if l == nil {
			continue
		}
		seconds := int(s.Step() / time.Second)
		for _, x := range l.Latency {
			if !x.Known {
				continue
			}
			x.Weight = seconds
			all = append(all, x)
			item.Steps += seconds
			worst = max(worst, x.Median)
			if item.slowAtEnd = v.IsFar(x.Median); item.slowAtEnd {
				item.SlowSteps += seconds
			}
			item.slower = item.slower || held.IsAbove(x.Median)
		}
	}
	if whole := series.Join(all); whole.Known {
		item.MedianNs, item.P99Ns, item.MaxNs, item.WorstNs = &whole.Median, &whole.P99, &whole.Max, &worst
		item.times = float64(worst) / float64(max(held.Median, 1))
	}
	return item
}
