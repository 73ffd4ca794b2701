package generator

import (
	"math/rand/v2"
	"slices"
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
		if got := h.Quantile(q); got < want || got > want+want/32 {
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
		if u := upper(bucketOf(v)); u < int64(v) || v > 0 && bucketOf(v-1) != bucketOf(v) && upper(bucketOf(v-1)) != int64(v)-1 {
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
