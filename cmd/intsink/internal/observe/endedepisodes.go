// Episodes of queues that ended: an event for clients of /api/v1/events, metrics.

package observe

import (
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/engine/usual"
)

// tellEpisodes tells of the episodes that ended behind the first told ones, and returns how many it has told then.
func (s *Source) tellEpisodes(told uint64) uint64 {
	if len(s.Workers) == 0 {
		return told
	}
	ended, next := s.Workers[0].Episodes().Ended(told)
	for i := range ended {
		if s.Live != nil {
			s.Live.Announce("episode", flowapi.NewEpisodeItem(&ended[i]))
		}
	}
	return next
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
