// Episodes of queues that ended: a line in the log and an event for clients of /api/v1/events.

package observe

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/flowapi"
	"intsink/engine/usual"
)

// linesAtOnce is how many episodes have a line each, of those that ended between two looks. The others have one together.
const linesAtOnce = 10

// tellEpisodes tells of the episodes that ended behind the first told ones, and returns how many it has told then.
func (s *Source) tellEpisodes(told uint64) uint64 {
	if len(s.Workers) == 0 {
		return told
	}
	ended, next := s.Workers[0].Episodes().Ended(told)
	for i := range ended {
		x := flowapi.NewEpisodeItem(&ended[i])
		if s.Live != nil {
			s.Live.Announce("episode", x)
		}
		if i < linesAtOnce {
			logEpisode(slog.Default(), x)
		}
	}
	if more := len(ended) - linesAtOnce; more > 0 {
		slog.Info("queue: more episodes of congestion are over", "episodes", more)
	}
	return next
}

// logEpisode writes the line of an episode.
func logEpisode(log *slog.Logger, x *flowapi.EpisodeItem) {
	attrs := []any{"node", x.Node, "queue", x.Queue, "lasted", x.End.Sub(x.Begin).Round(time.Millisecond), "packets", x.Packets, "bytes", x.Bytes}
	if x.Egress != nil {
		attrs = append(attrs, "egress", *x.Egress)
	}
	if x.PeakLatencyNs != nil {
		attrs = append(attrs, "peak", time.Duration(*x.PeakLatencyNs))
	}
	if x.UsualLatencyNs != nil {
		attrs = append(attrs, "usual", time.Duration(*x.UsualLatencyNs))
	}
	if x.PeakOccupancy != nil {
		attrs = append(attrs, "peak_occupancy", *x.PeakOccupancy)
	}
	var culprits []string
	for _, f := range x.Culprits[:min(3, len(x.Culprits))] {
		culprits = append(culprits, fmt.Sprintf("%s %.0f %%", f.Flow, 100*f.Share))
	}
	if x.Doubt != "" {
		attrs = append(attrs, "doubt", x.Doubt)
	} else {
		attrs = append(attrs, "culprits", strings.Join(culprits, ", "))
	}
	log.Info("queue: congestion is over", attrs...)
}

// addEpisodes adds what all episodes add up to, and of how many places it is known what they usually do.
func (s *Source) addEpisodes(x *exposition) {
	if len(s.Workers) == 0 {
		return
	}
	t := s.Workers[0].Episodes().Totals()
	x.add("intsink_episodes_open", uint64(t.Open))
	x.add("intsink_episodes_total", t.Ended)
	x.add("intsink_episodes_unrecorded_total", t.Unrecorded)
	x.addSeconds("intsink_episode_seconds_total", t.Ns)
	x.add("intsink_episode_packets_total", t.Packets)
	x.add("intsink_episode_bytes_total", t.Bytes)
	x.add("intsink_episode_culprit_bytes_total", t.Culprits)
	for kind := range usual.NumKinds {
		known, evicted := s.Workers[0].Usual().Places(kind)
		x.add("intsink_usual_places", uint64(known), "kind", kind)
		x.add("intsink_usual_evictions_total", evicted, "kind", kind)
	}
}
