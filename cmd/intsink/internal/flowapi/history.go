// GET /api/v1/history/...: the last ten minutes by seconds and the last day by minutes, of queues, hops, segments and paths.

package flowapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/engine/aside/inspect"
	"intsink/engine/series"
	"intsink/engine/usual"
)

// Histories are what there is a history of.
var Histories = []string{"queues", "hops", "segments", "paths", "links", "sink"}

// historyAnswer is a history. Its lists of numbers are long: it is written without indentation.
type historyAnswer struct {
	Begin  time.Time `json:"begin"`   // of the first step
	StepNs int64     `json:"step_ns"` // how long each is
	Steps  int       `json:"steps"`   // how many
	Items  any       `json:"items"`
	Next   string    `json:"next,omitempty"`
	Totals any       `json:"totals,omitempty"`
}

// historyTotals are of all places of the kind.
type historyTotals struct {
	Rows int    `json:"rows"`
	Left uint64 `json:"left_out"` // samples since the start of places that there was no room for
}

// valueItem is what a value was in each step; null: there was no sample.
type valueItem struct {
	Median []*uint32 `json:"median"`
	P99    []*uint32 `json:"p99"`
	Max    []*uint32 `json:"max"`
}

// historyItem is what one place did.
type historyItem struct {
	Node        *uint32    `json:"node,omitempty"` // of queues and hops
	Ingress     *uint16    `json:"ingress,omitempty"`
	Egress      *uint16    `json:"egress,omitempty"`
	Queue       *uint8     `json:"queue,omitempty"`
	From        *uint32    `json:"from_node,omitempty"` // of segments
	FromEgress  *uint16    `json:"from_egress,omitempty"`
	To          *uint32    `json:"to_node,omitempty"`
	ToIngress   *uint16    `json:"to_ingress,omitempty"`
	Path        *PathItem  `json:"path,omitempty"`
	LatencyNs   *valueItem `json:"latency_ns,omitempty"` // absent: no sample told it
	Occupancy   *valueItem `json:"occupancy,omitempty"`
	Usual       usualItem  `json:"usual"`
	place       usual.Place
	mostLatency uint32
	mostFill    uint32
}

func newValueItem(all []series.Point) *valueItem {
	x, known := &valueItem{}, false
	for i := range all {
		p := &all[i]
		known = known || p.Known
		x.Median, x.P99, x.Max = append(x.Median, some(p.Median, p.Known)), append(x.P99, some(p.P99, p.Known)), append(x.Max, some(p.Max, p.Known))
	}
	if !known {
		return nil
	}
	return x
}

// span reads since, until and step.
func (p *parameters) span(now time.Time) *series.Span {
	since, until, step := p.when("since", now, now.Add(-series.Seconds*time.Second)), p.when("until", now, now), time.Duration(0)
	if s := p.text("step"); s != "" {
		var err error
		if step, err = time.ParseDuration(s); err != nil {
			p.fail("step = %q: must be a time such as 1s, 10s or 1m", cli.Short(s))
		}
	}
	if p.err != nil {
		return nil
	}
	span, err := series.NewSpan(now, since, until, step)
	if err != nil {
		p.fail("%v", err)
	}
	return span
}

// when is a time, or how long ago it is.
func (p *parameters) when(name string, now, otherwise time.Time) time.Time {
	s := p.text(name)
	if s == "" {
		return otherwise
	}
	t, ok := cli.When(s, now)
	if !ok {
		p.fail("%s = %q: must be "+cli.TimeForms, name, cli.Short(s))
	}
	return t
}

// Now is the wall clock's time, as series have it.
func (in *API) Now() time.Time { return time.Unix(0, in.clock()+in.ahead()) }

// history is GET /api/v1/history/{what}.
func (in *API) history(ctx context.Context, p *parameters) (any, error) {
	kinds := map[string]usual.Kind{"queues": usual.Queue, "hops": usual.Hop, "segments": usual.Segment}
	switch k, known := kinds[p.id]; {
	case known:
		return in.historyOf(k, p)
	case p.id == "paths":
		return in.historyOfPaths(ctx, p)
	case p.id == "links":
		return in.historyOfLinks(p)
	case p.id == "sink":
		return in.historyOfSink(p)
	}
	return nil, apiError{http.StatusNotFound, "there is no such history; there are " + strings.Join(Histories, ", ")}
}

// historyOf is of queues, hops or segments.
func (in *API) historyOf(k usual.Kind, p *parameters) (any, error) {
	span, node := p.span(in.Now()), number[uint32](p, "node", 32)
	var egress, ingress *uint16
	var queue *uint8
	var link *crossing
	sorts := []string{"latency"}
	switch k {
	case usual.Queue:
		egress, queue, sorts = number[uint16](p, "egress", 16), number[uint8](p, "queue", 8), append(sorts, "occupancy")
	case usual.Hop:
		egress, ingress = number[uint16](p, "egress", 16), number[uint16](p, "ingress", 16)
	default:
		link = p.crossing("link")
	}
	g := p.paging(sorts...)
	if err := p.end(); err != nil {
		return nil, err
	}
	keys, left := [][2]uint64(nil), uint64(0)
	if len(in.workers) > 0 {
		keys, left = in.workers[0].Series().Keys(k, span.Begin().UnixNano())
	}
	var all []*historyItem
	for _, key := range keys {
		x := newHistoryItem(k, key)
		switch {
		case node != nil && !x.has(*node), link != nil && *link != (crossing{*x.From, *x.To}):
		case egress != nil && *egress != uint16(key[0]), ingress != nil && *ingress != uint16(key[0]>>16), queue != nil && *queue != uint8(key[1]):
		default:
			all = append(all, x)
		}
	}
	return in.historyPage(all, left, span, g)
}

func newHistoryItem(k usual.Kind, key [2]uint64) *historyItem {
	x, node := &historyItem{place: usual.Place{Kind: k, Key: key}}, uint32(key[0]>>32)
	switch k {
	case usual.Queue:
		x.Node, x.Egress, x.Queue = &node, knownPort(uint16(key[0])), new(uint8(key[1]))
	case usual.Hop:
		x.Node, x.Ingress, x.Egress = &node, knownPort(uint16(key[0]>>16)), knownPort(uint16(key[0]))
	default:
		x.From, x.FromEgress, x.To, x.ToIngress = &node, knownPort(uint16(key[0])), new(uint32(key[1]>>32)), knownPort(uint16(key[1]>>16))
	}
	return x
}

// has tells whether the place is one of a node.
func (x *historyItem) has(node uint32) bool {
	return x.Node != nil && *x.Node == node || x.From != nil && (*x.From == node || *x.To == node)
}

// historyOfPaths is of the paths that workers know.
func (in *API) historyOfPaths(ctx context.Context, p *parameters) (any, error) {
	span, way, g := p.span(in.Now()), p.way("id"), p.paging("latency")
	if err := p.end(); err != nil {
		return nil, err
	}
	questions, err := in.ask(ctx, func(int) *inspect.Query { return inspect.New(inspect.Ways|inspect.Queues, 0) })
	if err != nil {
		return nil, err
	}
	hot, seen := in.hotOf(questions), map[string]bool{}
	var all []*historyItem
	for i, known := range waysOf(questions) {
		for hash, d := range known {
			id := pathID(i, hash, d)
			if d == nil || seen[id] || !way.match(id, d, hot) {
				continue
			}
			seen[id] = true
			item := newPathItem(i, hash, d)
			all = append(all, &historyItem{Path: &item, place: pathPlace(item.Nodes)})
		}
	}
	return in.historyPage(all, 0, span, g)
}

// historyPage fills a page of places with what they did, those that were worst first. Places without any sample in
// the span are left out.
func (in *API) historyPage(all []*historyItem, left uint64, span *series.Span, g paging) (any, error) {
	if span.Len()*g.limit > series.MostSteps {
		return nil, badRequest("%d places of %d steps each are too many: a lower limit, or a longer step", g.limit, span.Len())
	}
	whole := span.Whole()
	var rows []listed[*historyItem]
	for _, x := range all {
		l := in.workers[0].Series().Of(x.place, whole)
		if l == nil || len(l.Latency) == 0 {
			continue
		}
		known := l.Latency[0].Known
		x.mostLatency = l.Latency[0].Max
		if len(l.Occupancy) > 0 {
			known, x.mostFill = known || l.Occupancy[0].Known, l.Occupancy[0].Max
		}
		value := map[string]uint32{"latency": x.mostLatency, "occupancy": x.mostFill}
		if known {
			rows = append(rows, listed[*historyItem]{uint64(value[g.sort]), fmt.Sprintf("%016x:%016x", x.place.Key[0], x.place.Key[1]), x})
		}
	}
	c := cut(rows, g, &historyTotals{len(rows), left})
	for _, x := range c.Items {
		if l := in.workers[0].Series().Of(x.place, span); l != nil {
			x.LatencyNs, x.Occupancy = newValueItem(l.Latency), newValueItem(l.Occupancy)
		}
		x.Usual = in.usualOf(x.place)
	}
	return &historyAnswer{span.Begin(), int64(span.Step()), span.Len(), c.Items, c.Next, c.Totals}, nil
}

// linkHistoryItem is what went one way through a link of the sink, in each step; null: nobody looked.
type linkHistoryItem struct {
	Link      string    `json:"link"`
	Direction string    `json:"direction"`
	Packets   []*uint64 `json:"packets"`
	Bytes     []*uint64 `json:"bytes"`
	Dropped   []*uint64 `json:"dropped"`
}

// sinkHistoryItem is what the sink reported in each step.
type sinkHistoryItem struct {
	Reports           []*uint64 `json:"reports"`
	ReportPackets     []*uint64 `json:"report_packets"`
	ReportPacketsLost []*uint64 `json:"report_packets_lost"`
	LossEvents        []*uint64 `json:"loss_events"`
}

// counts is the growth of a counter in each step.
func (in *API) counts(span *series.Span, name string) []*uint64 {
	out := make([]*uint64, span.Len())
	for i, c := range in.Counts.Of(name, span) {
		out[i] = some(c.N, c.Known)
	}
	return out
}

func (in *API) historyOfLinks(p *parameters) (any, error) {
	span, link := p.span(in.Now()), p.text("name")
	if err := p.end(); err != nil {
		return nil, err
	}
	items := []linkHistoryItem{}
	for _, d := range in.Counts.Links() {
		if link != "" && link != d[0] {
			continue
		}
		count := func(what string) []*uint64 { return in.counts(span, series.LinkCounter(d[0], d[1], what)) }
		items = append(items, linkHistoryItem{d[0], d[1], count("packets"), count("bytes"), count("dropped")})
	}
	return &historyAnswer{Begin: span.Begin(), StepNs: int64(span.Step()), Steps: span.Len(), Items: items}, nil
}

func (in *API) historyOfSink(p *parameters) (any, error) {
	span := p.span(in.Now())
	if err := p.end(); err != nil {
		return nil, err
	}
	item := sinkHistoryItem{in.counts(span, "reports"), in.counts(span, "report_packets"), in.counts(span, "report_packets_lost"), in.counts(span, "loss_events")}
	return &historyAnswer{Begin: span.Begin(), StepNs: int64(span.Step()), Steps: span.Len(), Items: []sinkHistoryItem{item}}, nil
}
