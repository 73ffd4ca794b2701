package truth

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"
)

// Epoch is when every trace starts, Unix nanoseconds.
const Epoch = int64(1_750_000_000e9)

// Config configures a trace.
type Config struct {
	Seed     uint64
	Duration time.Duration // time in which scenes start
	Scenes   int           // scenes of one flow or a few, drawn from the catalog by weight
	Shared   int           // rounds of the scenes about queues, links and interfaces
	Floods   int
	Flood    int           // new flows of one flood
	Burst    time.Duration // time in which all flows of a flood come

	DropUnsound bool // malformed = "drop"
}

// Trace gives the packets of all scenes in the order of time.
type Trace struct {
	config  Config
	waiting []start // in the order of time
	playing queue
	last    int64
	index   int
	flows   uint32
	nodes   uint32
}

type start struct {
	at    int64
	scene *scene
	seed  uint64
}

// New makes a trace; the same Config gives the same packets.
func New(c Config) *Trace {
	t := &Trace{config: c, last: Epoch, nodes: ownNodes}
	r := rand.New(rand.NewPCG(c.Seed, 1))
	add := func(s *scene, at int64) {
		t.waiting = append(t.waiting, start{Epoch + at, s, r.Uint64()})
	}
	total := 0
	for i := range catalog {
		total += catalog[i].weight
	}
	for range c.Scenes {
		n := r.IntN(total)
		i := 0
		for ; n >= catalog[i].weight; i++ {
			n -= catalog[i].weight
		}
		add(&catalog[i], r.Int64N(int64(c.Duration)))
	}
	for i := range catalog { // each at least once
		add(&catalog[i], r.Int64N(int64(c.Duration)))
	}
	for range c.Shared {
		for i := range shared {
			add(&shared[i], r.Int64N(int64(c.Duration)))
		}
	}
	for i := range c.Floods {
		add(&flood, int64(c.Duration)/int64(c.Floods)*int64(i)+r.Int64N(1e9)+5e9)
	}
	slices.SortFunc(t.waiting, func(a, b start) int { return cmp.Compare(a.at, b.at) })
	return t
}

// Next returns the next packet, nil at the end.
func (t *Trace) Next() *Packet {
	for len(t.waiting) > 0 && (len(t.playing) == 0 || t.waiting[0].at <= t.playing[0][0].Time) {
		s := t.waiting[0]
		t.waiting = t.waiting[1:]
		p := &player{trace: t, at: s.at, name: s.scene.name, quiet: s.scene.quiet, Rand: rand.New(rand.NewPCG(s.seed, 2))}
		s.scene.play(p)
		slices.SortStableFunc(p.packets, func(a, b *Packet) int { return cmp.Compare(a.Time, b.Time) })
		heap.Push(&t.playing, p.packets)
	}
	if len(t.playing) == 0 {
		return nil
	}
	p := t.playing[0][0]
	if rest := t.playing[0][1:]; len(rest) > 0 {
		t.playing[0] = rest
		heap.Fix(&t.playing, 0)
	} else {
		heap.Pop(&t.playing)
	}
	p.Index, p.Time = t.index, max(p.Time, t.last+1)
	t.index, t.last = t.index+1, p.Time
	return p
}

// queue is a heap of scenes that are playing, by the time of their next packet.
type queue [][]*Packet

// Len is for package heap, as are the rest.
func (q queue) Len() int { return len(q) }

// Less is for package heap.
func (q queue) Less(i, j int) bool { return q[i][0].Time < q[j][0].Time }

// Swap is for package heap.
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is for package heap.
func (q *queue) Push(x any) { *q = append(*q, x.([]*Packet)) }

// Pop is for package heap.
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
