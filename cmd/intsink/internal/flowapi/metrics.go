// Metrics of episodes, and of how many places it is known what they usually do.

package flowapi

import (
	"intsink/engine/episode"
	"intsink/engine/metric"
	"intsink/engine/usual"
)

// Metrics implements part.Metrics.
func (in *API) Metrics() []metric.Bound {
	if len(in.workers) == 0 {
		return nil
	}
	w := in.workers[0]
	t := w.Episodes().Totals()
	return append(metric.Bind(episodeMetrics, &t), metric.Bind(usualMetrics, w.Usual())...)
}

var episodeMetrics = []metric.Of[episode.Totals]{
	{Name: "intsink_episodes_open", Help: "queues in an episode of congestion that is recorded", Samples: func(t *episode.Totals, to metric.Samples) { to.Add(uint64(t.Open)) }},
	{Name: "intsink_episodes_total", Help: "recorded episodes that ended", Samples: func(t *episode.Totals, to metric.Samples) { to.Add(t.Ended) }},
	{Name: "intsink_episodes_unrecorded_total", Help: "episodes for which there was no record left: 64 may be open", Samples: func(t *episode.Totals, to metric.Samples) { to.Add(t.Unrecorded) }},
	{Name: "intsink_episode_seconds_total", Help: "time that the recorded episodes lasted, all together", Samples: func(t *episode.Totals, to metric.Samples) { to.Seconds(t.Ns) }},
	{Name: "intsink_episode_packets_total", Help: "packets that passed the queues in these episodes", Samples: func(t *episode.Totals, to metric.Samples) { to.Add(t.Packets) }},
	{Name: "intsink_episode_bytes_total", Help: "bytes of these packets, without INT", Samples: func(t *episode.Totals, to metric.Samples) { to.Add(t.Bytes) }},
	{Name: "intsink_episode_other_bytes_total", Help: "bytes of them that were of flows without a record, for which the flow table had no room", Samples: func(t *episode.Totals, to metric.Samples) { to.Add(t.Others) }},
	{Name: "intsink_episode_culprit_bytes_total", Help: "bytes of them that were of the three flows with most of them, of each episode", Samples: func(t *episode.Totals, to metric.Samples) { to.Add(t.Culprits) }},
}

var usualMetrics = []metric.Of[usual.Usual]{
	{Name: "intsink_usual_places", Help: "queues, hops, segments and paths that samples have told of, by kind: queue, hop, segment, path", Samples: func(u *usual.Usual, to metric.Samples) {
		for kind := range usual.NumKinds {
			known, _ := u.Places(kind)
			to.Add(uint64(known), "kind", kind)
		}
	}},
	{Name: "intsink_usual_evictions_total", Help: "places that made room for others: 8192 of each kind are remembered", Samples: func(u *usual.Usual, to metric.Samples) {
		for kind := range usual.NumKinds {
			_, evicted := u.Places(kind)
			to.Add(evicted, "kind", kind)
		}
	}},
}
