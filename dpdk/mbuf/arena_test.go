package mbuf

import (
	"sync"
	"testing"
)

func TestArenaGivesAllAndNoMore(t *testing.T) {
	a := arena(t, 10, 64)
	v, w := NewVec(), NewVec()
	if !a.AllocBulk(v, 8) || a.AllocBulk(w, 3) || w[0] != nil || !a.AllocBulk(w, 2) || a.InUse() != 10 {
		t.Fatalf("%d in use", a.InUse())
	}
	seen := map[*Mbuf]bool{}
	for _, m := range append(v[:8:8], w[:2]...) {
		seen[m] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d different mbufs, want 10", len(seen))
	}
	a.FreeBulk(v, 8)
	a.FreeBulk(w, 2)
}

// Buffers lie beside each other: none may reach into the next.
func TestArenaBuffersAreApart(t *testing.T) {
	a := arena(t, 4, 61)
	v := NewVec()
	a.AllocBulk(v, 4)
	for i, m := range v[:4] {
		m.Reset(0)
		for j := range m.SetLen(m.Room()) {
			m.Bytes()[j] = byte(i + 1)
		}
	}
	for i, m := range v[:4] {
		for _, b := range m.Bytes() {
			if b != byte(i+1) {
				t.Fatalf("mbuf %d holds a byte of mbuf %d", i, b-1)
			}
		}
	}
	a.FreeBulk(v, 4)
}

func TestArenaFreesChains(t *testing.T) {
	a := arena(t, 5, 64)
	m, free := chain(t, a, 1, 2, 3)
	if a.InUse() != 3 || m.NbSegs() != 3 {
		t.Errorf("%d in use, %d segments", a.InUse(), m.NbSegs())
	}
	free()
	v := NewVec()
	a.AllocBulk(v, 5)
	for _, m := range v[:5] {
		if m.Next() != nil || m.NbSegs() != 1 || m.PktLen() != 0 {
			t.Error("an mbuf remembers the chain it was in")
		}
	}
	a.FreeBulk(v, 5)
}

func TestArenaNoticesDoubleFree(t *testing.T) {
	a := arena(t, 2, 64)
	m, free := one(t, a, 1)
	free()
	defer func() {
		if recover() == nil {
			t.Error("freed twice, unnoticed")
		}
	}()
	v := NewVec()
	v[0] = m
	a.FreeBulk(v, 1)
}

func TestArenaRefusesSizes(t *testing.T) {
	for _, c := range [][2]int{{0, 64}, {-1, 64}, {1, 0}, {1, 65536}} {
		if _, err := NewArena(c[0], c[1]); err == nil {
			t.Errorf("an arena of %d mbufs of %d bytes", c[0], c[1])
		}
	}
}

func TestArenaFromManyGoroutines(t *testing.T) {
	a := arena(t, 64, 64)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			v := NewVec()
			for range 1000 {
				if !a.AllocBulk(v, 16) {
					t.Error("16 of 64 mbufs are not there for each of 4")
					return
				}
				for _, m := range v[:16] {
					m.SetLen(1)[0] = byte(g)
				}
				for _, m := range v[:16] {
					if m.Bytes()[0] != byte(g) {
						t.Error("an mbuf has two owners")
					}
				}
				a.FreeBulk(v, 16)
			}
		})
	}
	wg.Wait()
}
