// Followed flows: what each does from look to look: its way, its usual gap; who passes a spot.

package network

import (
	"slices"
	"time"

	"intsink/engine/aside/inspect"
	"intsink/flows"
)

// followed is a flow that is looked at again and again.
type followed struct {
	path     inspect.Path
	way      []uint32 // nodes; nil: not known
	home     []uint32 // way that it was on before it began to move; nil: it is on it
	reported int64    // when a report told of its way, Unix nanoseconds: what a worker told before is older
	seen     int64    // last packet, Unix nanoseconds
	packets  uint64
	bytes    uint64
	gap      float64 // from packet to packet, usually, nanoseconds
	rate     float64 // bytes a second, usually
	told     int     // looks at which it had sent something
	roams    float64 // the share of the last looks at which it had another way
	ends     bool
	at       time.Time // of the look that told of it last
}

// What is known of a flow, and when it counts.
const (
	toldOften = 4    // looks at which a flow has sent something before its gap is known
	lately    = 8    // of so many looks gap, rate and roams are means
	sprays    = 0.25 // a flow that has another way at more of its looks is sprayed over several
	maxFlow   = 1 << 16
)

// spot is a node that flows pass, or a link: both its nodes.
type spot struct {
	from, to uint32
	isLink   bool
}

// spotsOf are the nodes and links of a way.
func spotsOf(way []uint32) []spot {
	all := make([]spot, 0, 2*len(way))
	for i, id := range way {
		if all = append(all, spot{from: id, to: id}); i > 0 {
			all = append(all, spot{way[i-1], id, true})
		}
	}
	return all
}

// follow takes up what the workers tell of flows. Flows that are not told of any more are forgotten. The caller holds x.mu.
func (x *Network) follow(tables []*inspect.PendingQuery, now time.Time) {
	for _, q := range tables {
		ways := make(map[uint64]*inspect.Path, len(q.Ways))
		for i := range q.Ways {
			ways[q.Ways[i].Key[0]] = &q.Ways[i].Value
		}
		for i := range q.Followed {
			x.followOne(&q.Followed[i], ways, now)
		}
	}
	for key, f := range x.followed {
		if !f.at.Equal(now) {
			delete(x.followed, key)
		}
	}
}

func (x *Network) followOne(r *inspect.Followed, ways map[uint64]*inspect.Path, now time.Time) {
	f, path := x.followed[r.Key], ways[r.Path]
	if f != nil && r.Seen < f.reported {
		path = &f.path
	}
	if f == nil || r.Packets < f.packets {
		if f == nil && len(x.followed) >= maxFlow {
			return
		}
		f = &followed{seen: r.Seen, packets: r.Packets, bytes: r.Bytes}
		x.followed[r.Key] = f
	}
	if n := r.Packets - f.packets; n > 0 && r.Seen > f.seen {
		passed := float64(r.Seen - f.seen)
		f.told++
		share := 1 / float64(min(f.told, lately))
		f.gap += (passed/float64(n) - f.gap) * share
		f.rate += (float64(r.Bytes-f.bytes)*1e9/passed - f.rate) * share
		moved := 0.0
		if path != nil && f.way != nil && path.ID != f.path.ID {
			if moved = 1; !f.isSprayed() {
				was := f.path
				x.move(time.Unix(0, r.Seen), inspect.FlowID(&r.Key), f.moves(path), &was, path)
			}
		}
		f.roams += (moved - f.roams) / lately
	}
	f.seen, f.packets, f.bytes, f.ends, f.at = r.Seen, r.Packets, r.Bytes, r.Ends, now
	switch {
	case path == nil:
		f.way = nil
	case f.way == nil || path.ID != f.path.ID:
		f.path, f.way = *path, nodesOf(path)
	}
}

// moves has f be on another way, and returns the one that it was on before it began to move.
func (f *followed) moves(to *inspect.Path) (home []uint32) {
	if f.home == nil {
		f.home = f.way
	}
	home = f.home
	if f.path, f.way = *to, nodesOf(to); slices.Equal(home, f.way) {
		f.home = nil
	}
	return home
}

// pace is how many packets a second there are of all flows that are followed, as they usually go. The caller holds x.mu.
func (x *Network) pace() (n float64) {
	for _, f := range x.followed {
		if f.told > 0 {
			n += 1e9 / max(f.gap, 1)
		}
	}
	return n
}

// knows takes up the new way of a flow that a report told: it is no news at the next look. It returns the way that the flow was on
// before it began to move; nil: nobody knows. news: no look has told of it before.
func (x *Network) knows(at int64, key *flows.Key, path *inspect.Path) (home []uint32, news bool) {
	f := x.followed[key.Canonical()]
	if f == nil || f.way == nil || f.path.ID == path.ID {
		return nil, f == nil || f.way == nil
	}
	f.reported = at
	f.roams += (1 - f.roams) / lately
	return f.moves(path), true
}

// isSprayed reports whether the flow's packets take one way, then another.
func (f *followed) isSprayed() bool { return f.roams > sprays }

// crowd is who passes a spot.
type crowd struct {
	flows   []*followed
	keys    []flows.Key
	last    int64 // packet of them
	edge    bool  // a way of theirs begins or ends there
	sprayed int   // flows that are sprayed, and passed it with their last packet
}

// crowds are those of all spots. The caller holds x.mu.
func (x *Network) crowds() map[spot]*crowd {
	all := map[spot]*crowd{}
	for key, f := range x.followed {
		for _, s := range spotsOf(f.way) {
			c := all[s]
			if c == nil {
				c = &crowd{}
				all[s] = c
			}
			c.last = max(c.last, f.seen)
			c.edge = c.edge || !s.isLink && (s.from == f.way[0] || s.from == f.way[len(f.way)-1])
			if f.isSprayed() {
				c.sprayed++
				continue
			}
			c.flows, c.keys = append(c.flows, f), append(c.keys, key)
		}
	}
	return all
}
