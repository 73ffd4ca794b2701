// summary: an episode as the report that ends it has it.

package episode

import (
	"math"

	"intsink/engine/wire/report"
)

// summary writes r to e.
func (r *Record) summary(e *report.Episode) {
	w := r.peakWindow()
	*e = report.Episode{
		ID: r.ID, Node: uint32(r.Queue[0] >> 32), Egress: uint16(r.Queue[0]), Queue: uint8(r.Queue[1]),
		Begin: r.Begin, End: r.End, Packets: r.Packets, Bytes: r.Bytes, OtherPackets: r.OtherPackets, OtherBytes: r.OtherBytes,
		UsualLatency: r.UsualLatency, UsualOccupancy: r.UsualOccupancy,
		Peak: report.EpisodePeak{At: r.PeakAt, Latency: r.PeakLatency, Occupancy: r.PeakOccupancy, Window: r.Width, Packets: uint32(min(w.Packets, math.MaxUint32)), Bytes: w.Bytes},
	}
	e.NumCulprits = r.Culprits.summary(&e.Culprits)
	if e.NumCulprits > 0 {
		e.Doubt = r.doubt()
	}
	e.NumVictims = r.Victims.summary(&e.Victims)
}

// culprits returns the bytes of the three flows with most of them, at least.
func (r *Record) culprits() (bytes uint64) {
	var most [3]Counter
	for i := range r.Culprits.most(most[:]) {
		bytes += most[i].Sum - most[i].Over
	}
	return bytes
}

// peakWindow is the window in which the queue was longest.
func (r *Record) peakWindow() *Window {
	return &r.Window[min(max(r.PeakAt-r.Begin, 0)/max(r.Width, 1), Windows-1)]
}

// summary writes the flows with the highest sums to dst, and returns how many.
func (t *Top) summary(dst *[report.MostFlows]report.EpisodeFlow) int {
	var most [report.MostFlows]Counter
	n := t.most(most[:])
	for i := range most[:n] {
		c := &most[i]
		k := &c.Flow
		dst[i] = report.EpisodeFlow{
			Source: k.SrcAddr(), Destination: k.DstAddr(), SourcePort: k.SrcPort(), DestinationPort: k.DstPort(), Protocol: k.Proto(), Sum: c.Sum, Over: c.Over,
		}
	}
	return n
}
