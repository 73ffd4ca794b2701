// Adds up what several sinks tell of one episode of a queue, and makes its record: each sink sees only the packets that
// leave the network by it.

package collect

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"intsink/engine/wire/report"
	"intsink/exporters/collect/spool"
	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

const (
	episodeHold  = 3 * time.Second // the record of an episode waits so long for other sinks
	episodeKept  = time.Minute     // so long after its record, one more sink adds to it, and it is made anew
	mostEpisodes = 1024
	mostParts    = 64

	// sinkClocks is by how much the clocks of two sinks, and the ends that they see, may differ. Of one sink an episode
	// ends before the next one begins.
	sinkClocks = int64(time.Second)
)

// episodes are those that sinks told of lately, in the order in which they were first told. The collector's lock guards it.
type episodes struct{ held []*heldEpisode }

// heldEpisode is one episode of one queue.
type heldEpisode struct {
	whole record.Episode
	key   streams.Key // of the stream that told of it first
	start int64
	time  int64         // of the record, Unix nanoseconds
	due   time.Duration // when its record is to be made; 0: it is made
	told  time.Duration // when a sink told of it last
	parts []episodePart
}

// episodePart is the episode as one sink knows it.
type episodePart struct {
	sink  episodeSink
	id    uint32
	begin int64
}

type episodeSink struct {
	instance uint64     // 0: the next two tell sinks apart
	exporter netip.Addr // of a sink with an instance it is not valid
	node     uint32
}

// heard takes the episodes of a report.
func (c *Collector) heard(l *listen, r *record.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := streams.Key{Exporter: r.Exporter, Collector: l.local, Node: r.NodeID, HwID: r.HwID, Version: report.Version, Instance: r.Instance}
	sink := episodeSink{exporter: r.Exporter, node: r.NodeID}
	if r.Instance != 0 {
		sink = episodeSink{instance: r.Instance}
	}
	for i := range r.Episodes {
		e := &r.Episodes[i]
		part := episodePart{sink, e.ID, e.Begin}
		h := &heldEpisode{whole: *e, key: k, start: r.Start, time: cmp.Or(r.EpisodeTime(e), r.Received), parts: []episodePart{part}}
		if gone := c.episodes.add(h, time.Since(c.began)); gone != nil && gone.due != 0 {
			c.pushEpisodes([]*heldEpisode{gone})
		}
	}
}

// add adds an episode of one sink at a time. It returns one that has to go for it, if there is no room.
func (s *episodes) add(h *heldEpisode, now time.Duration) (gone *heldEpisode) {
	if slices.ContainsFunc(s.held, func(o *heldEpisode) bool { return slices.Contains(o.parts, h.parts[0]) }) {
		return nil // the sink has two collectors here, or the packet came twice
	}
	h.due, h.told = now+episodeHold, now
	into := h
	for i := 0; i < len(s.held); i++ {
		o := s.held[i]
		switch {
		case o == into || !o.isOf(into) || len(o.parts)+len(into.parts) > mostParts:
		case into == h:
			o.join(h)
			into, o.told, o.due = o, now, cmp.Or(o.due, h.due)
			i = -1 // those that this one brings together
		case o.due != 0:
			into.join(o)
			s.held = slices.Delete(s.held, i, i+1)
			i = -1
		}
	}
	if into != h {
		return nil
	}
	if len(s.held) == mostEpisodes {
		gone = s.held[0]
		s.held = slices.Delete(s.held, 0, 1)
	}
	s.held = append(s.held, h)
	return gone
}

// due returns the episodes whose record is to be made at a time, and forgets those that are long made.
func (s *episodes) due(now time.Duration) (due []*heldEpisode) {
	s.held = slices.DeleteFunc(s.held, func(h *heldEpisode) bool {
		if h.due != 0 && now >= h.due {
			due, h.due = append(due, h), 0
		}
		return h.due == 0 && now-h.told >= episodeKept
	})
	return due
}

// isOf reports whether h and o are parts of one episode.
func (h *heldEpisode) isOf(o *heldEpisode) bool {
	a, b := &h.whole, &o.whole
	if a.Node != b.Node || a.Egress != b.Egress || a.Queue != b.Queue {
		return false
	}
	slack := sinkClocks
	if slices.ContainsFunc(h.parts, func(p episodePart) bool {
		return slices.ContainsFunc(o.parts, func(q episodePart) bool { return p.sink == q.sink })
	}) {
		slack = 0
	}
	return a.Begin <= b.End+slack && b.Begin <= a.End+slack
}

// join adds what o knows to h.
func (h *heldEpisode) join(o *heldEpisode) {
	h.parts = append(h.parts, o.parts...)
	a, b := &h.whole, &o.whole
	a.Begin, a.End = min(a.Begin, b.Begin), max(a.End, b.End)
	a.Packets, a.Bytes = a.Packets+b.Packets, a.Bytes+b.Bytes
	a.OtherPackets, a.OtherBytes = a.OtherPackets+b.OtherPackets, a.OtherBytes+b.OtherBytes
	longest := max(a.Peak.Occupancy, b.Peak.Occupancy)
	if b.Peak.Latency > a.Peak.Latency || b.Peak.Latency == a.Peak.Latency && b.Peak.Occupancy > a.Peak.Occupancy {
		a.Peak = b.Peak
	}
	a.Peak.Occupancy = longest
	a.UsualLatency, a.UsualOccupancy = cmp.Or(a.UsualLatency, b.UsualLatency), cmp.Or(a.UsualOccupancy, b.UsualOccupancy)
	alone := a.Doubt == report.OneSource && b.Doubt == report.OneSource
	if a.NumCulprits == 0 || b.NumCulprits > 0 && b.Doubt == report.NoDoubt {
		a.Doubt = b.Doubt // one of them has evidence
	}
	a.NumCulprits = joinFlows(&a.Culprits, a.NumCulprits, b.Culprits[:b.NumCulprits])
	a.NumVictims = joinFlows(&a.Victims, a.NumVictims, b.Victims[:b.NumVictims])
	if alone && sources(a.Victims[:a.NumVictims]) > 1 {
		a.Doubt = report.NoDoubt // both together have
	}
	var sinks []episodeSink
	for _, p := range h.parts {
		if !slices.Contains(sinks, p.sink) {
			sinks = append(sinks, p.sink)
		}
	}
	a.Sinks = len(sinks)
}

// sources is how many addresses flows come from.
func sources(all []report.EpisodeFlow) int {
	seen := map[netip.Addr]bool{}
	for i := range all {
		seen[all[i].Source] = true
	}
	return len(seen)
}

// joinFlows adds flows to the first n of all, and returns how many there are then: those with the highest sums, highest first.
func joinFlows(all *[report.MostFlows]report.EpisodeFlow, n int, more []report.EpisodeFlow) int {
	flows := slices.Clone(all[:n])
	for _, f := range more {
		i := slices.IndexFunc(flows, func(g report.EpisodeFlow) bool {
			g.Sum, g.Over = f.Sum, f.Over
			return g == f
		})
		if i < 0 {
			flows = append(flows, f)
			continue
		}
		flows[i].Sum += f.Sum
		flows[i].Over += f.Over
	}
	slices.SortStableFunc(flows, func(a, b report.EpisodeFlow) int { return cmp.Compare(b.Sum-b.Over/2, a.Sum-a.Over/2) })
	return copy(all[:], flows)
}

// tellEpisodes makes the records of episodes that are due.
func (c *Collector) tellEpisodes(now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pushEpisodes(c.episodes.due(now))
}

// pushEpisodes pushes a record of each episode. The collector is locked.
func (c *Collector) pushEpisodes(all []*heldEpisode) {
	if len(all) == 0 {
		return
	}
	b, m, now := newBatch(0), newMaker(nil, nil), time.Now().UnixNano()
	for _, h := range all {
		n := spool.Notice{Type: record.EpisodeType, Time: h.time, Episode: h.whole.Append(nil), Sinks: h.whole.Sinks}
		m.note(b, h.key, h.start, now, n, c.formats())
	}
	b.seal()
	c.push(b)
	b.release()
}
