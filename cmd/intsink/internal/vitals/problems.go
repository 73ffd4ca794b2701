// Problems: has parts look each second at what is wrong, and serves the list of problems.

package vitals

import (
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/status"
	"intsink/engine/metric"
)

// Problems serves what is wrong.
type Problems struct {
	*problem.List

	status func() *status.Status
	looks  []part.Looks
}

// named is a part that puts names to the places of problems.
type named interface{ Place(place []problem.Part) }

// reporter is a part that knows the status.
type reporter interface{ Status() *status.Status }

// Start implements part.Part: it takes up the problems of before a restart.
func (p *Problems) Start(e *part.Env) (stop func(), err error) {
	p.List, p.status, p.looks = e.Problems, part.Find[reporter](e).Status, part.All[part.Looks](e)
	if n := part.Find[named](e); n != nil {
		p.Named = n.Place
	}
	return p.Keep(e.State), nil
}

// Register adds the routes.
func (p *Problems) Register(mux control.Mux) {
	mux.Handle("GET /api/v1/problems", p.List)
	mux.HandleFunc("/api/v1/problems", control.Only("GET", "GET, HEAD"))
}

// Paths are what can be read.
func (p *Problems) Paths() []string { return []string{"/api/v1/problems"} }

// Metrics implements part.Metrics.
func (p *Problems) Metrics() []metric.Bound { return metric.Bind(problemMetrics, p.List) }

var problemMetrics = []metric.Of[problem.List]{
	{Name: "intsink_problems", Help: "what is wrong now, by kind: see docs/run.md, Problems", Samples: func(l *problem.List, to metric.Samples) {
		now := l.Now()
		for i := range problem.Kinds {
			k := problem.Kinds[i].Kind
			to.Add(uint64(now[k]), "kind", k)
		}
	}},
}

// lookEvery is how often it is looked whether something is wrong.
const lookEvery = time.Second

// Run implements part.Runs: it shows the status to all parts that look at it.
func (p *Problems) Run(done <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		j := p.status()
		for _, x := range p.looks {
			x.Look(j)
		}
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}
