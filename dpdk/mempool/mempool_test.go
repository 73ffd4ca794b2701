package mempool_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/eal"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
)

func TestMain(m *testing.M) { dpdktest.Main(m) }

func pool(t testing.TB, n, cache, room int) *mempool.Mempool {
	t.Helper()
	p, err := mempool.New(strings.ReplaceAll(t.Name(), "/", "-")[:min(len(t.Name()), 25)], n, cache, room, mempool.AnySocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.InUse() != 0 {
			t.Errorf("%d mbufs in use at the end", p.InUse())
		}
		p.Free()
	})
	return p
}

func TestFreshMbufs(t *testing.T) {
	p, v := pool(t, 1000, 0, 2176), mbuf.NewVec() // not a power of two minus one: works
	if p.Size() != 1000 || !p.AllocBulk(v, 64) || p.InUse() != 64 {
		t.Fatalf("size %d, in use %d", p.Size(), p.InUse())
	}
	for _, m := range v {
		if m.Headroom() != 128 || m.Room() != 2048 || m.PktLen() != 0 || m.NbSegs() != 1 || m.Next() != nil {
			t.Fatalf("headroom %d, room %d, %d bytes, %d segments", m.Headroom(), m.Room(), m.PktLen(), m.NbSegs())
		}
		if b := m.SetLen(2048); len(b) != 2048 || cap(b) != 2048 || m.SetLen(2049) != nil {
			t.Fatalf("len %d, cap %d", len(b), cap(b))
		}
	}
	p.FreeBulk(v, 64)
}

// Prefetch leaves mbufs as they are, those with less room than it fetches too.
func TestPrefetch(t *testing.T) {
	p, v := pool(t, 127, 0, 160), mbuf.NewVec()
	if !p.AllocBulk(v, 64) {
		t.Fatal("no mbufs")
	}
	for i, m := range v {
		m.SetLen(32)[0] = byte(i)
	}
	p.Prefetch(v, 0)
	p.Prefetch(v, 64)
	for i, m := range v {
		if b := m.Bytes(); len(b) != 32 || b[0] != byte(i) || m.Headroom() != 128 {
			t.Errorf("mbuf %d: % x", i, b)
		}
	}
	p.FreeBulk(v, 64)
}

func TestEmptyPoolGivesNone(t *testing.T) {
	p, v, w := pool(t, 70, 0, 256), mbuf.NewVec(), mbuf.NewVec()
	if !p.AllocBulk(v, 64) || p.AllocBulk(w, 7) || !p.AllocBulk(w, 6) {
		t.Errorf("in use %d of 70", p.InUse())
	}
	p.FreeBulk(v, 64)
	p.FreeBulk(w, 6)
}

func TestFreeBulkTakesWholeChainsOfSeveralPools(t *testing.T) {
	small, v, w := pool(t, 100, 0, 256), mbuf.NewVec(), mbuf.NewVec()
	large, err := mempool.New("large", 100, 0, 4096, mempool.AnySocket)
	if err != nil {
		t.Fatal(err)
	}
	defer large.Free()
	small.AllocBulk(v, 3)
	large.AllocBulk(w, 2)
	v[0].Chain(v[1])
	v[0].Chain(w[0])
	v[1], v[2] = v[2], w[1]
	small.FreeBulk(v, 3) // a chain of three, one of each pool
	if small.InUse() != 0 || large.InUse() != 0 {
		t.Errorf("in use: %d small, %d large", small.InUse(), large.InUse())
	}
}

// TestBalanceWithCaches: mbufs that a worker's cache keeps are not in use, also
// when another worker frees what the first allocated.
func TestBalanceWithCaches(t *testing.T) {
	p := pool(t, 4095, 256, 256)
	var wg sync.WaitGroup
	handed := make(chan *mbuf.Vec, 8)
	worker := func(f func()) {
		wg.Go(func() {
			runtime.LockOSThread()
			if err := eal.RegisterThread(); err != nil {
				t.Error(err)
				return
			}
			defer eal.UnregisterThread()
			f()
		})
	}
	worker(func() {
		defer close(handed)
		for range 1000 {
			if v := mbuf.NewVec(); p.AllocBulk(v, 32) {
				handed <- v
			}
		}
	})
	worker(func() {
		for v := range handed {
			p.FreeBulk(v, 32)
		}
	})
	wg.Wait()
}

func TestCacheIsMadeToFit(t *testing.T) {
	for _, c := range []struct{ n, cache int }{{10, 256}, {1, 1}, {4095, 100_000}, {100, -1}} {
		p, err := mempool.New("fit", c.n, c.cache, 256, mempool.AnySocket)
		if err != nil {
			t.Errorf("%d mbufs, cache %d: %v", c.n, c.cache, err)
			continue
		}
		p.Free()
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	taken, err := mempool.New("taken", 10, 0, 256, mempool.AnySocket)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Free()
	for _, c := range []struct {
		name    string
		n, room int
		is      error
		want    string
	}{
		{"huge", 10_000_000, 2176, syscall.ENOMEM, "needs about 22583 MiB: fewer mbufs, or more hugepages"},
		{"taken", 10, 256, syscall.EEXIST, "a pool of this name exists"},
		{"a-name-of-twenty-six-bytes", 10, 256, syscall.ENAMETOOLONG, "at most 25 bytes"},
		{"none", 0, 256, nil, "at least one"},
		{"negative", -1, 256, nil, "at least one"},
		{"wide", 10, 65536, nil, "128 (its headroom) to 65535"},
		{"narrow", 10, 127, nil, "128 (its headroom) to 65535"},
	} {
		_, err := mempool.New(c.name, c.n, 0, c.room, mempool.AnySocket)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v; want %q in it", c.name, err, c.want)
		}
	}
}

func TestNameOfTwentyFiveBytes(t *testing.T) {
	p, err := mempool.New("a-name-of-twentyfivebytes", 10, 0, 256, mempool.AnySocket)
	if err != nil {
		t.Fatal(err)
	}
	p.Free()
}
