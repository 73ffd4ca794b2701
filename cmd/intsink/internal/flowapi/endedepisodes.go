// EndedEpisodes: episodes that ended lately, which the feed of events announces.

package flowapi

// EndedEpisodes tells of the episodes that ended since its last call.
func (in *API) EndedEpisodes(tell func(*EpisodeItem)) {
	if len(in.workers) == 0 {
		return
	}
	ended, next := in.workers[0].Episodes().Ended(in.told)
	in.told = next
	for i := range ended {
		tell(NewEpisodeItem(&ended[i]))
	}
}
