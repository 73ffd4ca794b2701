package distribute

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"intsink/dpdk/mbuf"
)

// wire is a queue of a port in memory: packets carry their flow in the first byte and their
// number behind it.
type wire struct {
	pool    *mbuf.Arena
	in      []uint32 // flow<<24 | number
	out     []uint32
	room    int // packets that TxBurst still takes
	refusal mbuf.Refusal
	rings   bool // the peer decides whether the queue can be used
}

func (w *wire) RxBurst(v *mbuf.Vec) int {
	n := min(len(w.in), len(v))
	if n == 0 || !w.pool.AllocBulk(v, n) {
		return 0
	}
	for i, x := range w.in[:n] {
		binary.BigEndian.PutUint32(v[i].SetLen(4), x)
	}
	w.in = w.in[n:]
	return n
}

func (w *wire) TxBurst(v *mbuf.Vec, n int) int {
	n = min(n, w.room)
	w.room -= n
	for _, m := range v[:n] {
		w.out = append(w.out, binary.BigEndian.Uint32(m.Bytes()))
	}
	w.pool.FreeBulk(v, n)
	return n
}

func (w *wire) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return w.TxBurst(tx, n), w.RxBurst(rx)
}
func (w *wire) Depth() int            { return len(w.in) }
func (w *wire) Refusal() mbuf.Refusal { return w.refusal }
func (w *wire) Negotiated() bool      { return w.rings }
func (w *wire) LinkDown() bool        { return w.refusal == mbuf.RefusedDown }

// byFlow hashes by the first byte, and keeps what was lost.
type byFlow struct {
	pool Pool
	lost []uint32
}

func (b *byFlow) Hash(v *mbuf.Vec, n int, h *[mbuf.MaxBurst]uint8) {
	for i, m := range v[:n] {
		h[i] = m.Bytes()[0]
	}
}

func (b *byFlow) Lost(v *mbuf.Vec, n int) {
	for _, m := range v[:n] {
		b.lost = append(b.lost, binary.BigEndian.Uint32(m.Bytes()))
	}
	b.pool.FreeBulk(v, n)
}

func arena(t testing.TB, n int) *mbuf.Arena {
	t.Helper()
	a, err := mbuf.NewArena(n, 256)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if a.InUse() != 0 {
			t.Errorf("%d mbufs in use at the end", a.InUse())
		}
		a.Close()
	})
	return a
}

// packets are n packets of each of flows 0 to 255, one flow after the other.
func packets(n int) (all []uint32) {
	for number := range n {
		for flow := range 256 {
			all = append(all, uint32(flow)<<24|uint32(number))
		}
	}
	return all
}

// take empties a queue, and frees what came.
func take(q *Queue, pool Pool) (all []uint32) {
	v := mbuf.NewVec()
	for n := q.RxBurst(v); n > 0; n = q.RxBurst(v) {
		for _, m := range v[:n] {
			all = append(all, binary.BigEndian.Uint32(m.Bytes()))
		}
		pool.FreeBulk(v, n)
	}
	return all
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		workers int
		owners  []int
		want    []int // parts of each worker
	}{
		{1, []int{0}, []int{256}},
		{2, []int{0}, []int{64, 192}},
		{2, []int{1}, []int{192, 64}},
		{2, []int{0, 1}, []int{128, 128}},
		{3, []int{0}, []int{0, 128, 128}},
		{3, []int{0, 1}, []int{64, 64, 128}},
		{4, []int{0}, []int{0, 86, 85, 85}},
		{4, []int{0, 1}, []int{32, 32, 96, 96}},
	} {
		t.Run(fmt.Sprint(c.workers, c.owners), func(t *testing.T) {
			got := make([]int, c.workers)
			for _, w := range shares(c.workers, c.owners) {
				got[w]++
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// Each packet is at one worker, those of a flow at the same one and in order; what comes by
// several queues, too.
func TestPacketsGoToTheWorkerOfTheirFlow(t *testing.T) {
	for _, c := range []struct{ workers, owner, rx int }{{2, 0, 1}, {2, 1, 1}, {3, 0, 1}, {4, 2, 2}, {1, 0, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			pool := arena(t, 4096)
			var rx []Driver
			for i := range c.rx {
				w := &wire{pool: pool}
				for _, p := range packets(10) {
					if int(p>>24)%c.rx == i {
						w.in = append(w.in, p)
					}
				}
				rx = append(rx, w)
			}
			p := New(Config{Workers: c.workers, Owner: c.owner, Sharers: []int{c.owner}, Rx: rx, Tx: rx[:1], Room: 4096, Pool: pool})
			h := &byFlow{pool: pool}
			for w := range c.workers {
				if asks := p.Queue(w).Deal(h); asks != (w == c.owner) {
					t.Errorf("worker %d asks for hashes: %v", w, asks)
				}
			}
			got := make([][]uint32, c.workers)
			for range 100 { // polls of the owner end while others have all that came
				got[c.owner] = append(got[c.owner], take(p.Queue(c.owner), pool)...)
			}
			total, at := 0, map[uint32]int{}
			for w := range c.workers {
				if w != c.owner {
					got[w] = take(p.Queue(w), pool)
				}
				next := map[uint32]uint32{}
				for _, x := range got[w] {
					flow, number := x>>24, x&0xffffff
					if was, ok := at[flow]; ok && was != w {
						t.Errorf("flow %d is at workers %d and %d", flow, was, w)
					}
					if at[flow] = w; number != next[flow] {
						t.Errorf("flow %d: packet %d, want %d", flow, number, next[flow])
					}
					next[flow]++
				}
				total += len(got[w])
				if k := p.Counters(w); w != c.owner && (k.Received != uint64(len(got[w])) || k.Dropped != 0 || k.Waiting != 0 || k.Room != 4096) || w == c.owner && k != (Counters{}) {
					t.Errorf("worker %d: %+v, %d packets", w, k, len(got[w]))
				}
			}
			if total != 2560 || len(h.lost) > 0 {
				t.Errorf("%d packets of 2560 at workers, %d lost", total, len(h.lost))
			}
		})
	}
}

// What finds a ring full is handed to Lost, once, counted for its worker, and the others keep
// their packets.
// What a worker takes out of its ring is prefetched, each burst once; the owner's is not.
func TestPrefetch(t *testing.T) {
	pool := arena(t, 1024)
	w := &wire{pool: pool, in: packets(1)}
	var got []uint32
	p := New(Config{Workers: 2, Sharers: []int{0}, Rx: []Driver{w}, Tx: []Driver{w}, Room: 512, Pool: pool, Prefetch: func(v *mbuf.Vec, n int) {
		for _, m := range v[:n] {
			got = append(got, binary.BigEndian.Uint32(m.Bytes()))
		}
	}})
	p.Queue(0).Deal(&byFlow{pool: pool})
	take(p.Queue(0), pool)
	if len(got) != 0 {
		t.Errorf("%d packets of the owner are prefetched", len(got))
	}
	if taken := take(p.Queue(1), pool); len(taken) == 0 || !slices.Equal(got, taken) {
		t.Errorf("%d of %d packets are prefetched", len(got), len(taken))
	}
}

func TestFullRingDrops(t *testing.T) {
	pool := arena(t, 4096)
	w := &wire{pool: pool, in: packets(4)}
	p := New(Config{Workers: 3, Owner: 0, Sharers: []int{0}, Rx: []Driver{w}, Tx: []Driver{w}, Room: 128, Pool: pool})
	h := &byFlow{pool: pool}
	p.Queue(0).Deal(h)
	var second []uint32
	for len(w.in) > 0 {
		take(p.Queue(0), pool)
		second = append(second, take(p.Queue(2), pool)...) // worker 1 does not poll
	}
	if n := p.Queue(1).Depth(); n != 128 || len(second) != 512 || len(h.lost) != 512-128 {
		t.Errorf("%d wait for worker 1, %d came to worker 2, %d are lost", n, len(second), len(h.lost))
	}
	if one, two := p.Counters(1), p.Counters(2); one != (Counters{Dropped: 384, Waiting: 128, Room: 128}) || two != (Counters{Received: 512, Room: 128}) {
		t.Errorf("%+v and %+v", one, two)
	}
	first := take(p.Queue(1), pool)
	for i, x := range append(slices.Clone(first), h.lost...) {
		if i > 0 && i != 128 && x>>24 == 0 && x&0xffffff == 0 {
			t.Errorf("packet %d came twice", i)
		}
	}
	if !slices.IsSortedFunc(first, func(a, b uint32) int { return int(a&0xffffff) - int(b&0xffffff) }) {
		t.Error("out of order")
	}
}

// Workers without a queue of their own send by the owner, in order; while the port takes no
// more, nothing is dropped until the ring is full.
func TestSendByTheOwner(t *testing.T) {
	pool := arena(t, 1024)
	first, second := &wire{pool: pool, room: 10}, &wire{pool: pool, room: 1 << 20}
	p := New(Config{Workers: 3, Owner: 1, Rx: []Driver{first}, Tx: []Driver{first, second}, Room: 128, Pool: pool})
	owner, own, by, v := p.Queue(1), p.Queue(0), p.Queue(2), mbuf.NewVec()
	send := func(q *Queue, from, n int) (sent int) {
		if !pool.AllocBulk(v, n) {
			t.Fatal("no mbufs")
		}
		for i, m := range v[:n] {
			binary.BigEndian.PutUint32(m.SetLen(4), uint32(from+i))
		}
		sent, _ = q.Exchange(v, n, mbuf.NewVec())
		copy(v[:], v[sent:n])
		pool.FreeBulk(v, n-sent)
		return sent
	}
	if n := send(own, 0, 5); n != 5 || len(second.out) != 5 {
		t.Errorf("by its own queue: %d, %d", n, len(second.out))
	}
	for i, want := range []int{64, 64, 0} {
		if n := send(by, 64*i, 64); n != want {
			t.Errorf("burst %d: the ring took %d, want %d", i, n, want)
		}
	}
	if by.Refusal() != mbuf.RefusedFull {
		t.Error("a full ring is no full port")
	}
	for range 3 {
		owner.RxBurst(v)
	}
	if len(first.out) != 10 || p.Empty() {
		t.Errorf("the port took %d; empty: %v", len(first.out), p.Empty())
	}
	first.room = 1 << 20
	for range 5 {
		owner.RxBurst(v)
	}
	for i, x := range first.out {
		if x != uint32(i) {
			t.Fatalf("%v", first.out)
		}
	}
	if len(first.out) != 128 || !p.Empty() {
		t.Errorf("the port took %d of 128; empty: %v", len(first.out), p.Empty())
	}
}

// A worker without a queue of its own hands the owner nothing while the port is down: its packets would leave
// when the port is up again, however late.
func TestNothingIsLentToAPortThatIsDown(t *testing.T) {
	pool := arena(t, 256)
	w := &wire{pool: pool, refusal: mbuf.RefusedDown}
	p := New(Config{Workers: 2, Owner: 0, Rx: []Driver{w}, Tx: []Driver{w}, Room: 64, Pool: pool})
	owner, q, v := p.Queue(0), p.Queue(1), mbuf.NewVec()
	pool.AllocBulk(v, 4)
	for _, m := range v[:4] {
		m.SetLen(4)
	}
	if n := q.TxBurst(v, 4); n != 0 || q.Refusal() != mbuf.RefusedDown || !p.Empty() {
		t.Errorf("down: %d taken, refusal %d, empty %v", n, q.Refusal(), p.Empty())
	}
	w.refusal, w.room = mbuf.RefusedFull, 1<<20
	if n := q.TxBurst(v, 4); n != 4 {
		t.Errorf("up: %d taken", n)
	}
	owner.RxBurst(v)
	if len(w.out) != 4 || !p.Empty() {
		t.Errorf("up: %d sent, empty %v", len(w.out), p.Empty())
	}
}

// A queue that the peer of the port has not asked for sends by the owner, while the owner can.
func TestQueueWithoutPeerSendsByTheOwner(t *testing.T) {
	pool := arena(t, 256)
	first, second := &wire{pool: pool, room: 1 << 20, rings: true}, &wire{pool: pool, rings: true, refusal: mbuf.RefusedDown}
	p := New(Config{Workers: 2, Owner: 0, Rx: []Driver{first}, Tx: []Driver{first, second}, Room: 16, Pool: pool})
	q, v := p.Queue(1), mbuf.NewVec()
	for _, c := range []struct {
		what         string
		ownerRefuses mbuf.Refusal
		want         int
		refusal      mbuf.Refusal
	}{
		{"the owner has a peer", mbuf.RefusedFull, 4, mbuf.RefusedFull},
		{"nobody has", mbuf.RefusedDown, 0, mbuf.RefusedDown},
	} {
		first.refusal = c.ownerRefuses
		pool.AllocBulk(v, 4)
		for _, m := range v[:4] {
			m.SetLen(4)
		}
		if n := q.TxBurst(v, 4); n != c.want || q.Refusal() != c.refusal {
			t.Errorf("%s: %d sent, refusal %d", c.what, n, q.Refusal())
		} else {
			pool.FreeBulk(v, 4-n)
		}
	}
	p.Queue(0).RxBurst(v)
	if len(first.out) != 4 {
		t.Errorf("%d left", len(first.out))
	}
}

// TestDrainAndFree: after Drain the port receives nothing, while workers still take packets from
// rings. Free returns how many were left.
func TestDrainAndFree(t *testing.T) {
	pool := arena(t, 1024)
	w := &wire{pool: pool, in: packets(1)}
	p := New(Config{Workers: 2, Owner: 0, Sharers: []int{0}, Rx: []Driver{w}, Tx: []Driver{w}, Room: 1024, Pool: pool})
	p.Queue(0).Deal(&byFlow{pool: pool})
	v := mbuf.NewVec()
	pool.FreeBulk(v, p.Queue(0).RxBurst(v))
	waiting := p.Queue(1).Depth()
	p.Drain()
	if n := p.Queue(0).RxBurst(v); n != 0 || p.Queue(1).Depth() != waiting || p.Empty() {
		t.Errorf("received %d, %d wait, empty: %v", n, p.Queue(1).Depth(), p.Empty())
	}
	n := p.Queue(1).RxBurst(v)
	if p.Queue(1).TxBurst(v, 10) != 10 { // which never leave
		t.Fatal("not taken")
	}
	copy(v[:], v[10:n])
	pool.FreeBulk(v, n-10)
	p.Queue(0).RxBurst(v) // the owner has taken them over
	unsent := map[int]int{}
	unseen := p.Free(func(worker, n int) { unsent[worker] += n })
	if unseen != waiting-n || len(unsent) != 1 || unsent[1] != 10 || !p.Empty() {
		t.Errorf("%d unseen of %d, unsent %v", unseen, waiting, unsent)
	}
}

// Goroutines as the workers are: the race detector watches; all packets come once, in order.
func TestWorkersAtOnce(t *testing.T) {
	const rounds = 400
	pool := &locked{Arena: arena(t, 8192)}
	in, out := &wire{pool: pool.Arena}, &wire{pool: pool.Arena, room: 1 << 30}
	all := packets(rounds)
	network := New(Config{Workers: 3, Owner: 0, Sharers: []int{0}, Rx: []Driver{safe{in, pool}}, Tx: []Driver{safe{in, pool}}, Room: 512, Pool: pool})
	host := New(Config{Workers: 3, Owner: 2, Rx: []Driver{safe{out, pool}}, Tx: []Driver{safe{out, pool}}, Room: 512, Pool: pool})
	h := &byFlow{pool: pool}
	network.Queue(0).Deal(h)
	in.in = all
	var wg sync.WaitGroup
	var stop atomic.Bool
	for w := range 3 {
		v := mbuf.NewVec()
		wg.Go(func() {
			for !stop.Load() {
				n := network.Queue(w).RxBurst(v)
				for n > 0 {
					sent := host.Queue(w).TxBurst(v, n)
					n = copy(v[:], v[sent:n])
				}
				host.Queue(w).Exchange(v, 0, v)
				runtime.Gosched()
			}
		})
	}
	for settled := 0; settled < len(all); runtime.Gosched() {
		pool.mu.Lock()
		settled = len(out.out)
		pool.mu.Unlock()
		for w := range 3 {
			settled += int(network.Counters(w).Dropped)
		}
	}
	stop.Store(true)
	wg.Wait() // until then the owner may not have noted that a burst was sent
	if !network.Empty() || !host.Empty() {
		t.Error("rings are not empty when all has left")
	}
	if n := network.Free(nil); n != 0 {
		t.Errorf("%d were left", n)
	}
	host.Free(func(w, n int) { t.Errorf("%d of worker %d were left", n, w) })
	last := map[uint32]int{}
	for _, x := range out.out {
		flow, number := x>>24, int(x&0xffffff)
		if was, ok := last[flow]; ok && number <= was {
			t.Fatalf("flow %d: packet %d after %d", flow, number, was)
		}
		last[flow] = number
	}
	dropped := uint64(0)
	for w := range 3 {
		dropped += network.Counters(w).Dropped
	}
	if len(out.out)+len(h.lost) != len(all) || int(dropped) != len(h.lost) {
		t.Errorf("%d packets left and %d of %d were dropped, counted as %d", len(out.out), len(h.lost), len(all), dropped)
	}
}

// locked is a pool for several goroutines.
type locked struct {
	*mbuf.Arena
	mu sync.Mutex
}

func (l *locked) FreeBulk(v *mbuf.Vec, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Arena.FreeBulk(v, n)
}

// safe is a wire whose pool is locked.
type safe struct {
	w    *wire
	pool *locked
}

func (s safe) RxBurst(v *mbuf.Vec) int {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	return s.w.RxBurst(v)
}

func (s safe) TxBurst(v *mbuf.Vec, n int) int {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	return s.w.TxBurst(v, n)
}

func (s safe) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (int, int) {
	return s.TxBurst(tx, n), s.RxBurst(rx)
}
func (s safe) Depth() int { return 0 }

func TestNoAllocations(t *testing.T) {
	pool := arena(t, 1024)
	w := &wire{pool: pool, room: 1 << 30}
	p := New(Config{Workers: 2, Owner: 0, Sharers: []int{0}, Rx: []Driver{w}, Tx: []Driver{w}, Room: 256, Pool: pool})
	h := &byFlow{pool: pool}
	p.Queue(0).Deal(h)
	all, v := packets(1), mbuf.NewVec()
	w.out = make([]uint32, 0, 1<<16)
	if n := testing.AllocsPerRun(100, func() {
		w.in = all
		for range 8 {
			for q := range 2 {
				n := p.Queue(q).RxBurst(v)
				p.Queue(q).TxBurst(v, n)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for range 8 {
		p.Queue(0).RxBurst(v)
	}
}

func BenchmarkHandOver(b *testing.B) {
	pool := arena(b, 1024)
	w := &wire{pool: pool, room: 1 << 30}
	p := New(Config{Workers: 2, Owner: 0, Sharers: []int{0}, Rx: []Driver{w}, Tx: []Driver{w}, Room: 256, Pool: pool})
	p.Queue(0).Deal(&byFlow{pool: pool})
	all, v := packets(1)[:mbuf.MaxBurst], mbuf.NewVec()
	b.ReportAllocs()
	for i := 0; i < b.N; i += mbuf.MaxBurst {
		w.in = all
		pool.FreeBulk(v, p.Queue(0).RxBurst(v))
		pool.FreeBulk(v, p.Queue(1).RxBurst(v))
	}
}
