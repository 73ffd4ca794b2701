package ring

import (
	"encoding/binary"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"intsink/dpdk/mbuf"
)

// packets are n mbufs, numbered by their first four bytes.
func packets(t testing.TB, n int) []*mbuf.Mbuf {
	t.Helper()
	a, err := mbuf.NewArena(n, 256)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	v := mbuf.NewVec()
	var all []*mbuf.Mbuf
	for i := range n {
		a.AllocBulk(v, 1)
		binary.BigEndian.PutUint32(v[0].SetLen(4), uint32(i))
		all = append(all, v[0])
	}
	return all
}

func TestFullEmptyAndRoundAgain(t *testing.T) {
	r, v, in := New(4), mbuf.NewVec(), packets(t, 5)
	for round := range 10 { // the ends go round the slots
		if n := r.Pop(v, 64); n != 0 {
			t.Fatalf("round %d: %d from an empty ring", round, n)
		}
		for i := range 4 {
			if !r.Push(in[i]) {
				t.Fatalf("round %d: full at %d of 4", round, i)
			}
		}
		if r.Push(in[4]) || r.Len() != 4 {
			t.Fatalf("round %d: took a fifth of 4, len %d", round, r.Len())
		}
		if n := r.Pop(v, 3); n != 3 || v[0] != in[0] || v[1] != in[1] || v[2] != in[2] {
			t.Fatalf("round %d: popped %d", round, n)
		}
		if !r.Push(in[4]) {
			t.Fatalf("round %d: full after 3 were popped", round)
		}
		if n := r.Pop(v, 64); n != 2 || v[0] != in[3] || v[1] != in[4] {
			t.Fatalf("round %d: popped %d, want the two left, in order", round, n)
		}
	}
}

func TestPopAllThatIsThere(t *testing.T) {
	r, v, in := New(128), mbuf.NewVec(), packets(t, 100)
	r.Push(in[0])
	r.Pop(v, 0) // the consumer may have looked before the rest came
	for _, m := range in[1:] {
		r.Push(m)
	}
	for _, c := range []struct{ limit, want int }{{-1, 0}, {0, 0}, {1, 1}, {1000, mbuf.MaxBurst}, {64, 35}, {64, 0}} {
		if n := r.Pop(v, c.limit); n != c.want {
			t.Errorf("Pop(%d) = %d, want %d", c.limit, n, c.want)
		}
	}
}

func TestSizeIsRoundedUp(t *testing.T) {
	in := packets(t, 9)
	for size, want := range map[int]int{-1: 1, 0: 1, 1: 1, 2: 2, 5: 8, 8: 8} {
		r, n := New(size), 0
		for r.Push(in[n]) {
			n++
		}
		if n != want {
			t.Errorf("New(%d) holds %d, want %d", size, n, want)
		}
	}
}

// Everything arrives once and in order, and what the producer wrote into an
// mbuf is there: the race detector watches.
func TestTwoGoroutines(t *testing.T) {
	const total, size = 200_000, 64
	r, pool := New(size), packets(t, 4*size)
	back := New(4 * size) // mbufs go home, as through a pool
	for _, m := range pool {
		back.Push(m)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		v := mbuf.NewVec()
		for i := uint32(0); i < total; {
			n := back.Pop(v, 8)
			for _, m := range v[:n] {
				binary.BigEndian.PutUint32(m.SetLen(4), i)
				for !r.Push(m) {
					runtime.Gosched()
				}
				i++
			}
			if n == 0 {
				runtime.Gosched()
			}
		}
	})
	v := mbuf.NewVec()
	for want := uint32(0); want < total; {
		n := r.Pop(v, 32)
		for _, m := range v[:n] {
			if got := binary.BigEndian.Uint32(m.Bytes()); got != want {
				t.Fatalf("packet %d came, want %d", got, want)
			}
			want++
			back.Push(m)
		}
		if n == 0 {
			runtime.Gosched()
		}
	}
	wg.Wait()
}

func TestEndsAreOnLinesOfTheirOwn(t *testing.T) {
	var r Ring
	const line = 64
	head, tail, rest := unsafe.Offsetof(r.head), unsafe.Offsetof(r.tail), unsafe.Offsetof(r.mask)
	if head < line || tail-head < line || rest-tail < line {
		t.Errorf("head at %d, tail at %d, the rest at %d", head, tail, rest)
	}
}

func BenchmarkPushPop(b *testing.B) {
	r, v, in := New(1024), mbuf.NewVec(), packets(b, mbuf.MaxBurst)
	b.ReportAllocs()
	for i := 0; i < b.N; i += mbuf.MaxBurst {
		for _, m := range in {
			r.Push(m)
		}
		r.Pop(v, mbuf.MaxBurst)
	}
}
