// Looks each second at what is wrong, and hands it to the list of problems; its metric.

package observe

import (
	"time"

	"intsink/cmd/intsink/internal/problem"
	"intsink/cmd/intsink/internal/webhook"
)

// lookEvery is how often it is looked whether something is wrong.
const lookEvery = time.Second

// WatchProblems looks until done is closed.
func (s *Source) WatchProblems(done <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	episodes := uint64(0)
	for {
		s.Problems.Look("sink", problem.OfStatus(s.status(), s.healthy()), time.Now())
		episodes = s.tellEpisodes(episodes)
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}

// addProblems adds how many problems of each kind there are now, and what became of telling others.
func (s *Source) addProblems(x *exposition) {
	now := map[problem.Kind]int{}
	if s.Problems != nil {
		now = s.Problems.Now()
	}
	for i := range problem.Kinds {
		k := problem.Kinds[i].Kind
		x.add("intsink_problems", uint64(now[k]), "kind", k)
	}
	if s.Hooks != nil {
		s.Hooks.Count(func(name string, r webhook.Result, n uint64) {
			x.add("intsink_notify_total", n, "name", name, "result", r)
		})
	}
}
