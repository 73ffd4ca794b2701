// Metrics of the rules; the packets that they select, workers count (engine/aside/mitigate).

package mitigation

import (
	"intsink/engine/aside/mitigate"
	"intsink/engine/metric"
)

// Paths are what can be read.
func (s *Server) Paths() []string { return []string{"/api/v1/mitigations", "/api/v1/mitigations/{id}"} }

// Metrics implements part.Metrics.
func (s *Server) Metrics() []metric.Bound { return metric.Bind(metrics, s.Store) }

var metrics = []metric.Of[Store]{
	{Name: "intsink_mitigation_rules", Help: "rules of mitigation in force, by action: count, drop, police", Samples: func(s *Store, to metric.Samples) {
		for a, n := range s.Rules() {
			to.Add(uint64(n), "action", mitigate.Action(a))
		}
	}},
}
