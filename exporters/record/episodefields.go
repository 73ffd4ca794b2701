// Episodes of queues: those that a report sums up, and the one that a record of type episode is about.

package record

import "intsink/engine/wire/report"

// Episode is one episode of one queue, of Sinks sinks together.
type Episode struct {
	report.Episode
	Sinks int
}

const unknownEgress = 1<<16 - 1

// AppendEpisodeFlow appends the id of a flow of an episode.
func AppendEpisodeFlow(b []byte, f *report.EpisodeFlow) []byte {
	h := Headers{Source: f.Source, Destination: f.Destination, SourcePort: f.SourcePort, DestinationPort: f.DestinationPort, Protocol: f.Protocol}
	return h.appendFlow(b)
}
