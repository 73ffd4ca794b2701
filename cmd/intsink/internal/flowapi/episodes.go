// GET /api/v1/episodes: what happened in congested queues, open episodes and the last ones that ended.

package flowapi

import (
	"context"
	"fmt"
	"time"

	"intsink/engine/aside/inspect"
	"intsink/engine/episode"
	"intsink/flows"
)

// EpisodeItem is one episode of a queue.
type EpisodeItem struct {
	ID             uint32        `json:"id"`
	Node           uint32        `json:"node"`
	Egress         *uint16       `json:"egress"`
	Queue          uint8         `json:"queue"`
	Begin          time.Time     `json:"begin"`
	End            *time.Time    `json:"end"`   // null: it goes on
	Ended          string        `json:"ended"` // open, cleared or silent
	Packets        uint64        `json:"packets"`
	Bytes          uint64        `json:"bytes"`
	OtherPackets   uint64        `json:"other_packets"` // of flows that the flow table had no room for
	OtherBytes     uint64        `json:"other_bytes"`
	ECNCapable     uint64        `json:"ecn_capable"` // packets that queues on their way may mark, or have marked
	ECNMarked      uint64        `json:"ecn_marked"`  // that one of them has: CE
	PeakLatencyNs  *uint32       `json:"peak_latency_ns"`
	PeakOccupancy  *uint32       `json:"peak_occupancy"`
	PeakAt         *time.Time    `json:"peak_at"`
	UsualLatencyNs *uint32       `json:"usual_latency_ns"`
	UsualOccupancy *uint32       `json:"usual_occupancy"`
	Culprits       []culpritItem `json:"culprits"` // none where there is a doubt
	Doubt          string        `json:"doubt,omitempty"`
	Victims        []victimItem  `json:"victims"`
	Bursts         uint32        `json:"bursts"`   // in which it was congested, with calm between them
	FullNs         int64         `json:"full_ns"`  // how long they lasted together
	AddedNs        uint64        `json:"added_ns"` // that all packets waited longer than is usual
	Hosts          []shareItem   `json:"hosts"`
	Services       []shareItem   `json:"services"`
	Now            []culpritItem `json:"now"` // in its last ten seconds
	WindowNs       int64         `json:"window_ns"`
	Windows        []windowItem  `json:"windows"`

	inIt []string // flows that are no culprits, in doubt
}

// culpritItem is a flow with many bytes in the queue, in the episode.
type culpritItem struct {
	Flow  string  `json:"flow"`
	Bytes uint64  `json:"bytes"`
	Over  uint64  `json:"over"`  // by how much bytes may be too high
	Share float64 `json:"share"` // of all bytes of the episode
}

// victimItem is a flow whose packets were longer in the queue than is usual.
type victimItem struct {
	Flow    string `json:"flow"`
	AddedNs uint64 `json:"added_ns"` // by all its packets together
}

// shareItem is what a host, or a service, has of an episode, by a sample of its packets.
type shareItem struct {
	Name    string  `json:"name"` // an address; a protocol and a port, such as tcp/443
	Share   float64 `json:"share"`
	AddedNs uint64  `json:"added_ns"`
}

// sharesOf names the largest of a crowd.
func sharesOf(c *episode.Crowd, bytes uint64, name func(k *flows.Key) string) []shareItem {
	all := []shareItem{}
	for _, m := range c.Most(mostNamed) {
		all = append(all, shareItem{name(&m.Flow), min(float64(m.Bytes-m.Over)/float64(max(bytes, 1)), 1), m.Added})
	}
	return all
}

// culpritsOf names the flows with the most bytes.
func culpritsOf(t *episode.Top) []culpritItem {
	all := []culpritItem{}
	for _, c := range t.Most(mostNamed) {
		all = append(all, culpritItem{inspect.FlowID(&c.Flow), c.Sum, c.Over, float64(c.Sum-c.Over) / float64(max(t.Total, 1))})
	}
	return all
}

// windowItem is what passed the queue in window_ns.
type windowItem struct {
	Packets   uint64 `json:"packets"`
	Bytes     uint64 `json:"bytes"`
	LatencyNs uint32 `json:"max_latency_ns"`
	Occupancy uint32 `json:"max_occupancy"`
}

// mostNamed is how many culprits and victims an episode names.
const mostNamed = 8

// NewEpisodeItem is a record as JSON.
func NewEpisodeItem(r *episode.Record) *EpisodeItem {
	value := func(v uint32) *uint32 { return some(v, v != 0) }
	x := &EpisodeItem{
		ID: r.ID, Node: uint32(r.Queue[0] >> 32), Egress: knownPort(uint16(r.Queue[0])), Queue: uint8(r.Queue[1]),
		Begin: timestamp(r.Begin), End: someTime(r.End), Ended: r.Ended.String(), Packets: r.Packets, Bytes: r.Bytes, OtherPackets: r.OtherPackets, OtherBytes: r.OtherBytes, ECNCapable: r.Capable, ECNMarked: r.Marked,
		PeakLatencyNs: value(r.PeakLatency), PeakOccupancy: value(r.PeakOccupancy), PeakAt: someTime(r.PeakAt),
		UsualLatencyNs: value(r.UsualLatency), UsualOccupancy: value(r.UsualOccupancy),
		Culprits: culpritsOf(&r.Culprits), Doubt: r.Doubt(), Victims: []victimItem{}, Bursts: r.Bursts, FullNs: r.Over(), AddedNs: r.Victims.Total,
		Hosts: sharesOf(&r.Hosts, r.Bytes, func(k *flows.Key) string { return k.SrcAddr().String() }), Services: sharesOf(&r.Services, r.Bytes, inspect.ServiceID),
		Now: culpritsOf(r.Now()), WindowNs: r.Width, Windows: []windowItem{},
	}
	if x.Doubt != "" {
		for _, c := range x.Culprits {
			x.inIt = append(x.inIt, c.Flow)
		}
		x.Culprits, x.Now, x.Hosts, x.Services = []culpritItem{}, []culpritItem{}, []shareItem{}, []shareItem{}
	}
	for _, c := range r.Victims.Most(mostNamed) {
		x.Victims = append(x.Victims, victimItem{inspect.FlowID(&c.Flow), c.Sum})
	}
	for i := range min((r.Last-r.Begin)/max(r.Width, 1)+1, episode.Windows) {
		w := &r.Window[i]
		x.Windows = append(x.Windows, windowItem{w.Packets, w.Bytes, w.Latency, w.Occupancy})
	}
	return x
}

// episodeTotals are of the whole list.
type episodeTotals struct {
	Rows       int    `json:"rows"`
	Open       int    `json:"open"`
	Ended      uint64 `json:"ended"`      // since the start, those that are no longer kept, too
	Unrecorded uint64 `json:"unrecorded"` // for which there was no room
}

// episodes is GET /api/v1/episodes.
func (in *API) episodes(_ context.Context, p *parameters) (any, error) {
	node, egress, queue, open := number[uint32](p, "node", 32), number[uint16](p, "egress", 16), number[uint8](p, "queue", 8), p.yes("open")
	g := p.paging("begin", "bytes", "latency")
	if err := p.end(); err != nil {
		return nil, err
	}
	var all []listed[*EpisodeItem]
	totals := &episodeTotals{}
	if len(in.workers) > 0 {
		b := in.workers[0].Episodes()
		t := b.Totals()
		totals.Open, totals.Ended, totals.Unrecorded = t.Open, t.Ended, t.Unrecorded
		ended, _ := b.Ended(0)
		for _, r := range append(ended, b.Open()...) {
			x := NewEpisodeItem(&r)
			if node != nil && *node != x.Node || egress != nil && *egress != uint16(r.Queue[0]) || queue != nil && *queue != x.Queue || open != nil && *open != (x.End == nil) {
				continue
			}
			value := map[string]uint64{"begin": uint64(r.Begin), "bytes": r.Bytes, "latency": uint64(r.PeakLatency)}
			all = append(all, listed[*EpisodeItem]{value[g.sort], fmt.Sprintf("%08x", r.ID), x})
		}
	}
	totals.Rows = len(all)
	return cut(all, g, totals), nil
}
