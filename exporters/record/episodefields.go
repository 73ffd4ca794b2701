// Writes episodes of queues: those that a report sums up, and the one that a record of type episode is about.

package record

import "intsink/engine/wire/report"

// Episode is one episode of one queue, of Sinks sinks together.
type Episode struct {
	report.Episode
	Sinks int
}

const unknownEgress = 1<<16 - 1

// appendEpisodes appends the field episodes, if there are any.
func (r *Record) appendEpisodes(b []byte) []byte {
	for i := range r.Episodes {
		if i == 0 {
			b = append(b, `,"episodes":[`...)
		} else {
			b = append(b, ',')
		}
		b = r.Episodes[i].AppendJSON(b)
	}
	if len(r.Episodes) > 0 {
		b = append(b, ']')
	}
	return b
}

// AppendJSON appends e as an object.
func (e *Episode) AppendJSON(b []byte) []byte {
	start := len(b)
	b = appendNumber(b, `,"id":`, uint64(e.ID))
	b = appendNumber(b, `,"node":`, uint64(e.Node))
	if e.Egress != unknownEgress {
		b = appendNumber(b, `,"egress":`, uint64(e.Egress))
	}
	b = appendNumber(b, `,"queue":`, uint64(e.Queue))
	b = append(appendTime(append(b, `,"begin":"`...), uint64(e.Begin)), '"')
	b = append(appendTime(append(b, `,"end":"`...), uint64(e.End)), '"')
	b = appendNumber(b, `,"packets":`, e.Packets)
	b = appendNumber(b, `,"bytes":`, e.Bytes)
	if e.Peak.At != 0 {
		b = append(appendTime(append(b, `,"peak_at":"`...), uint64(e.Peak.At)), '"')
	}
	known := func(name string, v uint32) {
		if v != 0 {
			b = appendNumber(b, name, uint64(v))
		}
	}
	known(`,"peak_latency_ns":`, e.Peak.Latency)
	known(`,"peak_occupancy":`, e.Peak.Occupancy)
	known(`,"usual_latency_ns":`, e.UsualLatency)
	known(`,"usual_occupancy":`, e.UsualOccupancy)
	b = appendNumber(b, `,"window_ns":`, uint64(e.Peak.Window))
	b = appendNumber(b, `,"window_packets":`, uint64(e.Peak.Packets))
	b = appendNumber(b, `,"window_bytes":`, e.Peak.Bytes)
	b = appendNumber(b, `,"sinks":`, uint64(e.Sinks))
	if e.Doubt != report.NoDoubt {
		b = append(append(append(b, `,"doubt":"`...), e.Doubt.String()...), '"')
	}
	b = appendEpisodeFlows(append(b, `,"culprits":[`...), e.Culprits[:e.NumCulprits], `,"bytes":`)
	b = appendEpisodeFlows(append(b, `,"victims":[`...), e.Victims[:e.NumVictims], `,"added_ns":`)
	return closeObject(b, start)
}

// appendEpisodeFlows appends the elements of an array of flows, whose sums have that name, and ends the array.
func appendEpisodeFlows(b []byte, flows []report.EpisodeFlow, sum string) []byte {
	for i := range flows {
		f := &flows[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendEpisodeFlow(append(b, `{"flow":"`...), f), '"')
		b = appendNumber(b, sum, f.Sum)
		b = append(appendNumber(b, `,"over":`, f.Over), '}')
	}
	return append(b, ']')
}

// AppendEpisodeFlow appends the id of a flow of an episode.
func AppendEpisodeFlow(b []byte, f *report.EpisodeFlow) []byte {
	h := Headers{Source: f.Source, Destination: f.Destination, SourcePort: f.SourcePort, DestinationPort: f.DestinationPort, Protocol: f.Protocol}
	return h.appendFlow(b)
}

// putEpisodes appends each episode as a message.
func (r *Record) putEpisodes(b []byte) []byte {
	for i := range r.Episodes {
		at := 0
		b, at = openField(b, fieldEpisodes)
		b = closeField(r.Episodes[i].put(b), at)
	}
	return b
}

func (e *Episode) put(b []byte) []byte {
	b = putNumber(b, 1, uint64(e.ID))
	b = putNumber(b, 2, uint64(e.Node))
	b = putKnown(b, e.Egress != unknownEgress, 3, uint64(e.Egress))
	b = putNumber(b, 4, uint64(e.Queue))
	b = putFixed64(b, 5, uint64(e.Begin))
	b = putFixed64(b, 6, uint64(e.End))
	b = putNumber(b, 7, e.Packets)
	b = putNumber(b, 8, e.Bytes)
	if e.Peak.At != 0 {
		b = putFixed64(b, 9, uint64(e.Peak.At))
	}
	for i, v := range [...]uint32{e.Peak.Latency, e.Peak.Occupancy, e.UsualLatency, e.UsualOccupancy} {
		b = putKnown(b, v != 0, 10+i, uint64(v))
	}
	b = putNumber(b, 14, uint64(e.Peak.Window))
	b = putNumber(b, 15, uint64(e.Peak.Packets))
	b = putNumber(b, 16, e.Peak.Bytes)
	b = putNumber(b, 17, uint64(e.Sinks))
	b = putEpisodeFlows(b, 18, e.Culprits[:e.NumCulprits])
	b = putEpisodeFlows(b, 19, e.Victims[:e.NumVictims])
	if e.Doubt != report.NoDoubt {
		var at int
		b, at = openField(b, 20)
		b = closeField(append(b, e.Doubt.String()...), at)
	}
	return b
}

func putEpisodeFlows(b []byte, field int, flows []report.EpisodeFlow) []byte {
	for i := range flows {
		f := &flows[i]
		var start, at int
		b, start = openField(b, field)
		b, at = openField(b, 1)
		b = closeField(AppendEpisodeFlow(b, f), at)
		b = putNumber(b, 2, f.Sum)
		b = closeField(putNumber(b, 3, f.Over), start)
	}
	return b
}
