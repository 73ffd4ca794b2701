// Paths: describes the nodes and interfaces of each path by its hash; Totals sums flows by
// path, for the list of paths.

package inspect

import (
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// MaxWay is how many hops of a path are kept; further ones only count in its ID.
const MaxWay = 16

// MaxPaths is how many paths one worker keeps descriptions of.
const MaxPaths = 1 << 12

// Path describes a path, from the INT of a packet on it. It has no pointers: descriptions stand
// in a flows.Small, by the hash that flows keep of their path.
type Path struct {
	ID   uint64 // the same on every worker and after every start
	Hops uint16 // on the way

	Bitmap uint16 // of the INT of the last flow that came onto it, in that format
	Format inthdr.Format

	IPHops     uint8 // routers that the last flow that came onto it passed, by its source's TTL
	IPHopsTold bool

	Way [MaxWay]PathHop

	learned int64 // when it was
	proven  int64 // when a flow was found on it last that had been there for long
}

// PathHop is one node of a path, and the interfaces that packets enter and leave by.
type PathHop struct {
	Node            uint32
	Ingress, Egress uint16
}

// Known returns the hops that are kept, the source's first.
func (p *Path) Known() []PathHop { return p.Way[:min(p.Hops, MaxWay)] }

// Describe reads the path of a packet whose nodes and interfaces are known, as they
// are of every packet that made a path its flow's current one. Telling it is all
// that the ID is for: it has no key, so that it means the same everywhere.
func (p *Path) Describe(o *event.Observation) {
	hopLen := int(o.Info.HopLen)
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	*p = Path{Hops: o.Info.Hops}
	id := inthdr.StartOfPath
	for i := 0; hopLen > 0 && len(stack) >= hopLen; i++ { // newest hop first: the source's is the last
		hop := stack[len(stack)-hopLen:]
		stack = stack[:len(stack)-hopLen]
		h, level2 := pathHop(hop, o.Layout)
		id = id.Via(h.Node, h.Ingress, h.Egress, level2)
		if i < MaxWay {
			p.Way[i] = h
		}
	}
	p.ID = uint64(id)
}

func pathHop(hop []byte, l *inthdr.Layout) (h PathHop, level2 uint64) {
	var v inthdr.Hop
	l.Read(&v, hop)
	switch {
	case l.Level2Interfaces < 0 || l.Format == inthdr.Format2016:
	case l.Format == inthdr.FormatGEANT:
		level2 = uint64(v.Ingress2)<<16 | uint64(v.Egress2)
	default:
		level2 = uint64(v.Ingress2)<<32 | uint64(v.Egress2)
	}
	return PathHop{v.NodeID, uint16(v.Ingress), uint16(v.Egress)}, level2
}

// Paths keeps the descriptions of one worker.
type Paths struct {
	*flows.Small[Path]
	asked [1 << 10]uint64 // hashes of paths without a description that a flow has been on for long
}

// NewPaths makes room for MaxPaths; where a bucket is full, the one makes room that no packet took for longest, one that is
// proven last.
func NewPaths(seed uint64) *Paths {
	return &Paths{Small: flows.NewSmall(MaxPaths, seed, (*Path).isProven)}
}

// WithoutINT returns how many of the routers on p wrote nothing into packets; false where nobody told. Of a packet that
// reached its hop limit that cannot be told.
func (p *Path) WithoutINT() (hops int, known bool) {
	return max(int(p.IPHops)-int(p.Hops), 0), p.IPHopsTold
}

// Learn keeps the path of o, whose hash is hash, unless it is kept already, and returns what is kept. It
// costs a look-up, and is for packets that make a path their flow's current one.
func Learn(t *Paths, now int64, hash uint64, o *event.Observation) *Path {
	p, fresh := t.Get(now, [2]uint64{hash})
	if fresh {
		p.Describe(o)
		p.learned = now
		if t.asked[hash%uint64(len(t.asked))] == hash {
			p.proven = now
		}
	}
	p.Bitmap, p.Format = o.Layout.Bitmap, o.Layout.Format
	return p
}

// Crowded is how many descriptions there are where new ones begin to take the place of others. From then on the path of a new flow
// is kept from its second packet on, and whoever makes paths up has to keep flows on them to keep them.
const Crowded = MaxPaths / 8

// A path is proven by a flow whose packets took it for so long, and no longer when none has for provenFor.
const (
	provenAfter = 2e9
	provenFor   = 60e9
)

func (p *Path) isProven(now int64) bool { return p.proven != 0 && now-p.proven < provenFor }

// refreshWork is the work of a millisecond for that where paths are crowded, two a flow: a million flows take 16 s.
const refreshWork = 128

// refresh takes up that a flow is on its path. Where its description is gone, the next packet gives it again.
func (a *Aside) refresh(f *flows.Flow) int {
	if f.NumPaths == 0 {
		return 1
	}
	p := a.Paths.Touch([2]uint64{f.PathHash}, f.PathSeen)
	last := flows.Since(a.now, f.PathSeen)
	switch {
	case p == nil:
		if event.Unstore(f); last-a.now+a.table.Lifetime(a.now, f) >= provenAfter {
			a.Paths.asked[f.PathHash%uint64(len(a.Paths.asked))] = f.PathHash
		}
	case last-p.learned >= provenAfter && a.now-last < provenFor:
		p.proven = a.now
	}
	return 1
}

// totalSlots is how many paths Totals has room for, of one worker.
const totalSlots = 1 << 13

// Totals adds up the flows on each path: a table with open addressing, in memory that the
// asking goroutine has allocated.
type Totals struct {
	slots    []PathTotal
	used     bool
	Pathless uint64 // flows without a known path
	Left     uint64 // flows on paths that there was no room for
}

// PathTotal is what the flows that are on a path now add up to, since each began.
type PathTotal struct {
	Hash           uint64
	Flows          uint64 // 0: the slot is free
	Sprayed        uint64 // of Flows, those whose next packets take other paths
	Packets, Bytes uint64
	Seen           int64  // last packet, Unix nanoseconds
	MaxLatency     uint32 // highest of the whole way, last reported
}

func newTotals() Totals { return Totals{slots: make([]PathTotal, totalSlots)} }

// clear empties a table that was used; a new one is empty.
func (t *Totals) clear() {
	if t.used {
		clear(t.slots)
	}
	t.used, t.Pathless, t.Left = false, 0, 0
}

// maxProbes bounds the work for one flow.
const maxProbes = 16

func (t *Totals) add(f *flows.Flow) {
	if f.NumPaths == 0 {
		t.Pathless++
		return
	}
	t.used = true
	h := f.PathHash
	for i := range uint64(maxProbes) {
		s := &t.slots[(h^h>>32+i)%totalSlots]
		if s.Flows != 0 && s.Hash != h {
			continue
		}
		packets, bytes := f.Totals()
		s.Hash = h
		s.Flows++
		if event.IsSprayed(f.LastSeen(), f) {
			s.Sprayed++
		}
		s.Packets += packets
		s.Bytes += bytes
		s.Seen = max(s.Seen, f.LastSeen())
		if f.EndKnown() {
			s.MaxLatency = max(s.MaxLatency, f.EndRef)
		}
		return
	}
	t.Left++
}

// All are the paths that have flows.
func (t *Totals) All(yield func(*PathTotal) bool) {
	for i := range t.slots {
		if t.slots[i].Flows > 0 && !yield(&t.slots[i]) {
			return
		}
	}
}
