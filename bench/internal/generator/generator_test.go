package generator

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/dpdk/dpdktest"
)

func TestMain(m *testing.M) { dpdktest.Main(m) }

func TestHistogram(t *testing.T) {
	var h Histogram
	if h.Quantile(0.5) != 0 {
		t.Error("an empty histogram has a median")
	}
	random := rand.New(rand.NewPCG(1, 1))
	var all []int64
	for range 10000 {
		v := int64(1) << random.IntN(40)
		v += random.Int64N(v)
		all = append(all, v)
		h.Add(v)
	}
	slices.Sort(all)
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.999, 1} {
		want := all[max(0, int(q*10000+0.5)-1)]
		if got := h.Quantile(q); got < want || got > want+want/128 {
			t.Errorf("quantile %v: %d, want %d", q, got, want)
		}
	}
	if h.Max() != all[len(all)-1] || h.N() != 10000 {
		t.Errorf("max %d of %d", h.Max(), h.N())
	}
	var sum Histogram
	sum.Merge(&h)
	sum.Merge(&h)
	if sum.N() != 20000 || sum.Max() != h.Max() || sum.Quantile(0.9) != h.Quantile(0.9) {
		t.Errorf("merged: %d, up to %d", sum.N(), sum.Max())
	}
	h.Add(-5)
	h.Add(1<<62 + 1<<61)
	for v := uint64(0); v < 1<<20; v++ {
		if u := Upper(bucketOf(v)); u < int64(v) || v > 0 && bucketOf(v-1) != bucketOf(v) && Upper(bucketOf(v-1)) != int64(v)-1 {
			t.Fatalf("%d is in bucket %d up to %d", v, bucketOf(v), u)
		}
	}
}

// What a ring takes comes back; what it has no room for is refused, and lost.
func TestRun(t *testing.T) {
	g, err := Open(Config{Out: dpdktest.Ring(7), In: dpdktest.Ring(7), CPU: 0, Mbufs: 8191})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := g.WaitLinks(time.Second); err != nil {
		t.Fatal(err)
	}
	for trial := range 2 {
		r, err := g.Run(Load{Frames: [][]byte{make([]byte, 60), make([]byte, 100)}, PPS: 100_000, Burst: 10, Duration: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if r.Offered == 0 || r.Offered > 2100 || r.Lost() != r.Refused || r.Foreign != 0 || r.Latency.N()+r.LateReads != r.Received {
			t.Errorf("run %d: %+v lost, offered %d, refused %d, received %d", trial, r.Lost(), r.Offered, r.Refused, r.Received)
		}
	}
	if _, err := g.Run(Load{Frames: [][]byte{make([]byte, 5)}}); err == nil {
		t.Error("a frame without room for a stamp is sent")
	}
	if g.pool.InUse() != 0 {
		t.Errorf("%d mbufs are missing", g.pool.InUse())
	}
}

// open opens a generator whose frames come back at once.
func open(t *testing.T, ring int) *Generator {
	t.Helper()
	g, err := Open(Config{Out: dpdktest.Ring(ring), In: dpdktest.Ring(ring), CPU: 0, Mbufs: 8191})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	if err := g.WaitLinks(time.Second); err != nil {
		t.Fatal(err)
	}
	return g
}

// With a rhythm, frames that are sent while it warms up count for nothing, and every turn ends
// with all frames back.
func TestRhythm(t *testing.T) {
	g := open(t, 8)
	l := Load{Frames: [][]byte{make([]byte, 60)}, PPS: 1e6, Burst: 10, Duration: 20 * time.Millisecond, Rhythm: Rhythm{
		Work: time.Millisecond, Rest: 200 * time.Microsecond, Warm: 500 * time.Microsecond, Stall: time.Second,
	}}
	r, err := g.Run(l)
	if os.Geteuid() != 0 {
		if err == nil || !strings.Contains(err.Error(), "root may set it") {
			t.Fatalf("not root, and the error is %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	turns := float64(r.Turns.Turns)
	if turns == 0 || turns > 17 || r.Counted < turns*0.5e-3 || r.Stalled != 0 || r.Lost() != 0 || r.Foreign != 0 {
		t.Errorf("%v turns, %v s of them, %d stalled, %d lost, %d foreign", turns, r.Counted, r.Stalled, r.Lost(), r.Foreign)
	}
	counted := r.Latency.N()
	if counted == 0 || counted+r.LateReads > r.Received*8/10 || r.Steady.N() != counted || r.Steady.Max() != r.Latency.Max() {
		t.Errorf("%d counted, %d in steady turns, %d late, of %d", counted, r.Steady.N(), r.LateReads, r.Received)
	}
	l.Rhythm.Stall = 1 // a turn without frames, where the process had to wait, has none
	if r, err = g.Run(l); err != nil || r.Stalled == 0 || r.Steady.N() != 0 || r.Latency.N() == 0 {
		t.Errorf("where every frame is a stall: %v, %d of %d turns, %d frames in steady ones", err, r.Stalled, r.Turns.Turns, r.Steady.N())
	}
}

// What was under way while the generator looked away is late; what it sent after is not.
func TestLateReads(t *testing.T) {
	g := open(t, 9)
	x := newTransfer(g, &Load{Frames: [][]byte{make([]byte, 60)}, PPS: 1e6, Burst: 10})
	x.begin(1)
	x.look() // back from a pause: begin was in the distant past
	if x.result.Pauses != 1 || x.back != x.now {
		t.Errorf("%d pauses, the last until %d, now %d", x.result.Pauses, x.back, x.now)
	}
	for _, c := range []struct {
		name         string
		pause        int64
		late, timely uint64
	}{{"no pause", 0, 0, 10}, {"a pause", 1, 10, 10}, {"after the pause", 0, 10, 20}} {
		x.look()
		x.back = 0
		x.send()
		if c.pause > 0 {
			x.back = x.now + c.pause
		} else {
			x.now = x.now + int64(time.Hour) // no gap that look could see
		}
		if n := x.receive(); n != 10 || x.result.LateReads != c.late || x.result.Latency.N() != c.timely || x.underWay != 0 {
			t.Errorf("%s: %d received, %d late, %d timely, %d under way", c.name, n, x.result.LateReads, x.result.Latency.N(), x.underWay)
		}
	}
}

func TestRhythmCheck(t *testing.T) {
	sound := Rhythm{Work: 2, Rest: 1, Warm: 1, Stall: 1}
	for _, c := range []struct {
		name string
		edit func(*Rhythm) float64
		ok   bool
	}{
		{"none", func(r *Rhythm) float64 { *r = Rhythm{}; return 0 }, true},
		{"sound", func(*Rhythm) float64 { return 1 }, true},
		{"no rate", func(*Rhythm) float64 { return 0 }, false},
		{"always warming up", func(r *Rhythm) float64 { r.Warm = r.Work; return 1 }, false},
		{"no rest", func(r *Rhythm) float64 { r.Rest = 0; return 1 }, false},
		{"no stall", func(r *Rhythm) float64 { r.Stall = 0; return 1 }, false},
	} {
		r := sound
		if err := r.check(c.edit(&r)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
