// Problems: looks each second at what is wrong, hands it to the list of problems, and serves the list.

package vitals

import (
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/status"
	"intsink/engine/metric"
)

// Problems serves what is wrong.
type Problems struct{ *problem.List }

// Register adds the routes.
func (p Problems) Register(mux control.Mux) {
	mux.Handle("GET /api/v1/problems", p.List)
	mux.HandleFunc("/api/v1/problems", control.Only("GET", "GET, HEAD"))
}

// Paths are what can be read.
func (p Problems) Paths() []string { return []string{"/api/v1/problems"} }

// Metrics implements part.Metrics.
func (p Problems) Metrics() []metric.Bound { return metric.Bind(problemMetrics, p.List) }

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

// Watch looks until done is closed: at the status of s, which each of looks is then given.
func (p Problems) Watch(done <-chan struct{}, s *Server, looks ...func(j *status.Status)) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		j := s.Status()
		p.Look("sink", j.Signs(s.Healthy(), s.behind(time.Now())), time.Now())
		for _, look := range looks {
			look(j)
		}
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}
