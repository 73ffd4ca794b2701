// Episodes of queues as columns.

package record

import "intsink/engine/wire/report"

// episodeColumns are those of the field episodes.
type episodeColumns struct {
	all                                                                               *list
	id, node, peakLatency, peakOccupancy, usualLatency, usualOccupancy, windowPackets *numbers4
	sinks                                                                             *numbers4
	egress                                                                            *numbers2
	queue                                                                             *bytes8
	begin, end, peakAt                                                                *times
	packets, bytes, window, windowBytes                                               *numbers8
	culprits, victims                                                                 episodeFlowColumns
	doubt                                                                             *texts
}

// episodeFlowColumns are flows with their parts in an episode.
type episodeFlowColumns struct {
	all       *list
	flow      *texts
	sum, over *numbers8
}

func (e *episodeColumns) define(a *named) {
	t := new(named)
	e.id, e.node, e.egress, e.queue = t.n4("id"), t.n4("node"), t.null2("egress"), t.n1("queue")
	e.begin, e.end, e.packets, e.bytes = t.time("begin"), t.time("end"), t.n8("packets"), t.n8("bytes")
	e.peakAt, e.peakLatency, e.peakOccupancy = t.nullTime("peak_at"), t.null4("peak_latency_ns"), t.null4("peak_occupancy")
	e.usualLatency, e.usualOccupancy = t.null4("usual_latency_ns"), t.null4("usual_occupancy")
	e.window, e.windowPackets, e.windowBytes = t.n8("window_ns"), t.n4("window_packets"), t.n8("window_bytes")
	e.sinks = t.n4("sinks")
	e.culprits.define(t, "culprits", "bytes")
	e.victims.define(t, "victims", "added_ns")
	e.doubt = t.text("doubt")
	e.all = a.list("episodes", t)
}

func (f *episodeFlowColumns) define(a *named, name, sum string) {
	t := new(named)
	f.flow, f.sum, f.over = t.text("flow"), t.n8(sum), t.n8("over")
	f.all = a.list(name, t)
}

func (e *episodeColumns) append(n int, episodes []Episode) {
	if len(episodes) == 0 {
		return
	}
	e.all.open(n)
	for i := range episodes {
		e.put(e.all.next(), &episodes[i])
	}
	e.all.close()
}

func (e *episodeColumns) put(row int, x *Episode) {
	e.id.put(row, x.ID)
	e.node.put(row, x.Node)
	e.egress.putKnown(row, x.Egress != unknownEgress, x.Egress)
	e.queue.put(row, x.Queue)
	e.begin.put(row, x.Begin)
	e.end.put(row, x.End)
	e.packets.put(row, x.Packets)
	e.bytes.put(row, x.Bytes)
	e.peakAt.putKnown(row, x.Peak.At != 0, x.Peak.At)
	e.peakLatency.putKnown(row, x.Peak.Latency != 0, x.Peak.Latency)
	e.peakOccupancy.putKnown(row, x.Peak.Occupancy != 0, x.Peak.Occupancy)
	e.usualLatency.putKnown(row, x.UsualLatency != 0, x.UsualLatency)
	e.usualOccupancy.putKnown(row, x.UsualOccupancy != 0, x.UsualOccupancy)
	e.window.put(row, uint64(x.Peak.Window))
	e.windowPackets.put(row, x.Peak.Packets)
	e.windowBytes.put(row, x.Peak.Bytes)
	e.sinks.put(row, uint32(x.Sinks))
	e.culprits.append(row, x.Culprits[:x.NumCulprits])
	e.victims.append(row, x.Victims[:x.NumVictims])
	b, at := e.doubt.open(row)
	e.doubt.close(append(b, x.Doubt.String()...), at)
}

func (f *episodeFlowColumns) append(n int, flows []report.EpisodeFlow) {
	f.all.open(n)
	for i := range flows {
		row := f.all.next()
		b, at := f.flow.open(row)
		f.flow.close(AppendEpisodeFlow(b, &flows[i]), at)
		f.sum.put(row, flows[i].Sum)
		f.over.put(row, flows[i].Over)
	}
	f.all.close()
}
