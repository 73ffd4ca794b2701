// Range: a run of report packets of one stream. Merges, subtracts ranges; what is told as lost is made of them.

package spool

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"

	"intsink/exporters/collect/streams"
	"intsink/exporters/ipfix/message"
	"intsink/exporters/record"
)

// Range is a run of report packets of one stream: Packets of them, from First to Last.
type Range struct {
	streams.Gap
	Packets    uint64 `json:"packets"`
	Unnumbered bool   `json:"unnumbered,omitempty"` // the switch does not number its packets
}

// Notice is the payload of a Note: a gap, stats or episode record, in JSON.
type Notice struct {
	Type    record.Type        `json:"type"`
	Version uint8              `json:"version"`
	Node    uint32             `json:"node_id"`
	HwID    uint8              `json:"hw_id"`
	Port    uint16             `json:"port,omitempty"` // of the collector: the packet of a Note has no ports
	First   uint64             `json:"first,omitempty"`
	Last    uint64             `json:"last,omitempty"`
	Count   uint64             `json:"count,omitempty"`
	Stats   record.StreamStats `json:"stats"`

	Instance uint64 `json:"instance,omitempty"` // of the sink, where its packets say who it is

	Time    int64  `json:"time,omitempty"`    // of an episode's record
	Episode []byte `json:"episode,omitempty"` // as report.Episode has it
	Sinks   int    `json:"sinks,omitempty"`   // that told of it
}

// span returns the report packets that are lost to an output which does not get e: a report packet
// itself, or those that a gap record tells of.
func span(e *Entry) (r Range, ok bool) {
	if e.Kind == Note {
		var n Notice
		if json.Unmarshal(e.Payload, &n) != nil || n.Type != record.Gap {
			return r, false
		}
		if n.Count == 0 { // of unknown length
			return r, false
		}
		k := streams.Key{Exporter: e.From.Addr(), Collector: e.collector(), Node: n.Node, HwID: n.HwID, Version: n.Version, Instance: n.Instance}
		if n.Instance != 0 {
			k.Began = e.Start
		}
		k.Collector = netip.AddrPortFrom(k.Collector.Addr(), n.Port)
		return Range{Gap: streams.Gap{Key: k, Start: e.Start, First: n.First, Last: n.Last}, Packets: n.Count}, true
	}
	h, ok := e.header()
	if !ok {
		return r, false
	}
	k := streams.KeyOf(e.From.Addr(), e.collector(), &h)
	r = Range{Gap: streams.Gap{Key: k, Start: e.Start, First: e.Sequence, Last: e.Sequence}, Packets: 1}
	r.Unnumbered = !streams.IsNumber(h, e.Sequence)
	return r, true
}

// header is that of the report packet, or of the data record.
func (e *Entry) header() (streams.Header, bool) {
	if e.Kind == Message {
		m, ok := message.ReadHeader(e.Payload)
		return streams.OfMessage(m, e.Payload), ok
	}
	return streams.ReadHeader(e.Payload)
}

// collector is e.To as a segment keeps it: an IPv4 packet on a socket that is bound to [::] has an IPv4 address.
func (e *Entry) collector() netip.AddrPort {
	if e.From.Addr().Unmap().Is4() && !e.To.Addr().Unmap().Is4() {
		return netip.AddrPortFrom(netip.IPv4Unspecified(), e.To.Port())
	}
	return e.To
}

// run identifies a stream between two starts of its sink.
type run struct {
	key   streams.Key
	start int64
}

// merger collects ranges, with an index of the last one of each run.
type merger struct {
	all  []Range
	last map[run]int
	at   int // of the range that was extended last
}

// maxRanges bounds the ranges of a merger: beyond it, each stream's ranges become one.
const maxRanges = 1024

// extends reports whether r goes on where x ends.
func (x *Range) extends(r *Range) bool {
	return r.First == x.Last+1 && r.Start == x.Start && r.Key == x.Key
}

func (m *merger) add(r Range) {
	if m.at < len(m.all) && m.all[m.at].extends(&r) {
		m.all[m.at].Last, m.all[m.at].Packets = r.Last, m.all[m.at].Packets+r.Packets
		return
	}
	k := run{r.Key, r.Start}
	i, ok := m.last[k]
	if ok && (r.First == m.all[i].Last+1 || len(m.all) >= maxRanges) {
		x := &m.all[i]
		x.First, x.Last = min(x.First, r.First), max(x.Last, r.Last)
		x.Packets += r.Packets
		m.at = i
		return
	}
	if m.last == nil {
		m.last = map[run]int{}
	}
	m.at = len(m.all)
	m.last[k] = m.at
	m.all = append(m.all, r)
}

func (m *merger) addAll(ranges []Range) {
	for _, r := range ranges {
		m.add(r)
	}
}

// addEntry adds what is lost without the entry.
func (m *merger) addEntry(e *Entry) {
	if r, ok := span(e); ok {
		m.add(r)
	}
}

// addSkipped adds the numbers that were missing in front of the report packet when it came.
func (m *merger) addSkipped(e *Entry) {
	if e.Skipped == 0 {
		return
	}
	if r, ok := span(e); ok {
		r.First, r.Last, r.Packets = e.Sequence-uint64(e.Skipped), e.Sequence-1, uint64(e.Skipped)
		m.add(r)
	}
}

// merge returns the ranges of all and more.
func merge(all, more []Range) []Range {
	var m merger
	m.addAll(all)
	m.addAll(more)
	return m.all
}

// without returns what of all is in no range of others.
func without(all []Range, others ...[]Range) []Range {
	by := map[run][]Range{}
	for _, list := range others {
		for _, r := range list {
			by[run{r.Key, r.Start}] = append(by[run{r.Key, r.Start}], r)
		}
	}
	for _, list := range by {
		slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.First, b.First) })
	}
	var left merger
	for _, r := range all {
		for _, x := range by[run{r.Key, r.Start}] {
			if x.Last < r.First || x.First > r.Last {
				continue
			}
			if x.First > r.First {
				left.add(r.part(r.First, x.First-1))
			}
			if r.First = x.Last + 1; r.First > r.Last || r.First == 0 {
				r.Packets = 0
				break
			}
			r = r.part(r.First, r.Last)
		}
		if r.Packets > 0 {
			left.add(r)
		}
	}
	return left.all
}

// part is the part of r from first to last. How many packets it has is known where r has no holes.
func (r Range) part(first, last uint64) Range {
	r.First, r.Last = first, last
	r.Packets = min(r.Packets, last-first+1)
	return r
}
