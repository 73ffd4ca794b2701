// What is usual at a queue, a link or a path, as their lists have it.

package flowapi

import (
	"slices"
	"time"

	"intsink/engine/usual"
)

// usualItem is what is usual at a place: half of all packets have at most the first of two values, 99 of 100 at most the
// second. Null: too few packets have told.
type usualItem struct {
	LatencyNs    *uint32    `json:"latency_ns"`
	LatencyP99Ns *uint32    `json:"latency_p99_ns"`
	Occupancy    *uint32    `json:"occupancy"`
	OccupancyP99 *uint32    `json:"occupancy_p99"`
	Since        *time.Time `json:"since"`    // when the place was seen first
	State        string     `json:"state"`    // learning, doubtful or known
	FloorNs      uint32     `json:"floor_ns"` // no latency below is slow, however far above what is usual
}

// usualOf is what is usual at a place; of one that is not known all is null.
func (in *API) usualOf(p usual.Place) (x usualItem) {
	if len(in.workers) == 0 {
		return x
	}
	v, _ := in.workers[0].Usual().Of(p)
	x.LatencyNs, x.LatencyP99Ns = some(v.Latency.Median, v.Latency.Known), some(v.Latency.P99, v.Latency.Known)
	x.Occupancy, x.OccupancyP99 = some(v.Occupancy.Median, v.Occupancy.Known), some(v.Occupancy.P99, v.Occupancy.Known)
	x.Since, x.State, x.FloorNs = someTime(v.Since), v.State.String(), v.Floor
	return x
}

// usualPath is what is usual on the path with these nodes, the source's first.
func (in *API) usualPath(nodes []pathHopItem) usualItem { return in.usualOf(pathPlace(nodes)) }

// pathPlace is the place of a path with these nodes.
func pathPlace(nodes []pathHopItem) usual.Place {
	key := [2]uint64{}
	for _, n := range slices.Backward(nodes) { // as they stand in a packet: the last node first
		key = usual.PathKey(key, usual.HopKey(n.Node, port(n.Ingress), port(n.Egress)))
	}
	return usual.Place{Kind: usual.Path, Key: key}
}

// addUsual adds what is usual at the hops of the flow's current path, and on all of it.
func (in *API) addUsual(d *FlowDetail) {
	if len(d.Paths) == 0 {
		return
	}
	nodes := d.Paths[0].Nodes
	if d.EndToEnd != nil {
		d.EndToEnd.UsualNs = in.usualPath(nodes).LatencyNs
	}
	for i := range d.Hops {
		r := &d.Hops[i]
		if at := slices.IndexFunc(nodes, func(h pathHopItem) bool { return r.Node != nil && h.Node == *r.Node }); at >= 0 {
			h := &nodes[at]
			r.UsualNs = in.usualOf(usual.Place{Kind: usual.Hop, Key: usual.HopKey(h.Node, port(h.Ingress), port(h.Egress))}).LatencyNs
		}
	}
}

// port is an interface as places have it: all ones where it is unknown.
func port(p *uint16) uint16 {
	if p == nil {
		return 0xffff
	}
	return *p
}
