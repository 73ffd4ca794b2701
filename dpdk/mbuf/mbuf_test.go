package mbuf

import (
	"bytes"
	"testing"
	"unsafe"
)

// arena of n mbufs whose buffers hold the headroom and room bytes more.
func arena(t testing.TB, n, room int) *Arena {
	t.Helper()
	a, err := NewArena(n, arenaHeadroom+room)
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

// one mbuf with bytes 0, 1, 2, ... n-1.
func one(t testing.TB, a *Arena, n int) (*Mbuf, func()) {
	t.Helper()
	v := NewVec()
	if !a.AllocBulk(v, 1) {
		t.Fatal("arena is empty")
	}
	m := v[0]
	for i := range m.SetLen(n) {
		m.Bytes()[i] = byte(i)
	}
	return m, func() { v[0] = m; a.FreeBulk(v, 1) }
}

// Offsets of the public header rte_mbuf_core.h of DPDK 22.11, without DPDK at
// hand; dpdk/ethdev compares with the header that is installed.
func TestLayoutOfDPDK2211(t *testing.T) {
	want := []uintptr{0, 16, 18, 20, 22, 24, 36, 40, 54, 64, 128}
	for i, got := range Layout() {
		if got != want[i] {
			t.Errorf("field %d at %d, want %d", i, got, want[i])
		}
	}
}

func TestFreshMbuf(t *testing.T) {
	m, free := one(t, arena(t, 1, 100), 0)
	defer free()
	if m.Headroom() != 128 || m.Room() != 100 || m.NbSegs() != 1 || m.Next() != nil || m.PktLen() != 0 || len(m.Bytes()) != 0 {
		t.Errorf("headroom %d, room %d, %d segments, %d bytes", m.Headroom(), m.Room(), m.NbSegs(), m.PktLen())
	}
}

func TestBytesCannotGrow(t *testing.T) {
	m, free := one(t, arena(t, 1, 100), 60)
	defer free()
	if b := m.Bytes(); len(b) != 60 || cap(b) != 60 {
		t.Errorf("len %d, cap %d, want 60 both", len(b), cap(b))
	}
}

func TestAdjAndPrepend(t *testing.T) {
	m, free := one(t, arena(t, 1, 100), 60)
	defer free()
	steps := []struct {
		name  string
		do    func()
		first byte // of the data
		n     int  // bytes, both data_len and pkt_len
		head  int
	}{
		{"adj 14", func() { m.Adj(14) }, 14, 46, 142},
		{"adj nothing", func() { m.Adj(0) }, 14, 46, 142},
		{"adj too much", func() { m.Adj(47) }, 14, 46, 142},
		{"adj less than nothing", func() { m.Adj(-1) }, 14, 46, 142},
		{"prepend 4", func() { m.Prepend(4) }, 10, 50, 138},
		{"prepend too much", func() {
			if m.Prepend(139) != nil {
				t.Error("prepend beyond the headroom")
			}
		}, 10, 50, 138},
		{"prepend less than nothing", func() {
			if m.Prepend(-1) != nil {
				t.Error("prepend -1")
			}
		}, 10, 50, 138},
		{"prepend all", func() { m.Prepend(138)[0] = 0xaa }, 0xaa, 188, 0},
		{"adj all but one", func() { m.Adj(187) }, 59, 1, 187},
	}
	for _, s := range steps {
		s.do()
		if m.Bytes()[0] != s.first || m.DataLen() != s.n || m.PktLen() != s.n || m.Headroom() != s.head {
			t.Fatalf("%s: first byte %d, %d/%d bytes, headroom %d; want %d, %d, %d",
				s.name, m.Bytes()[0], m.DataLen(), m.PktLen(), m.Headroom(), s.first, s.n, s.head)
		}
	}
}

func TestSetLen(t *testing.T) {
	m, free := one(t, arena(t, 1, 100), 0)
	defer free()
	for _, c := range []struct {
		n  int
		ok bool
	}{{100, true}, {101, false}, {-1, false}, {0, true}, {70000, false}} {
		before := m.PktLen()
		b := m.SetLen(c.n)
		if (b != nil) != c.ok || c.ok && (len(b) != c.n || m.PktLen() != c.n) || !c.ok && m.PktLen() != before {
			t.Errorf("SetLen(%d): %d bytes, pkt_len %d", c.n, len(b), m.PktLen())
		}
	}
}

// chain of segments of the given sizes, holding bytes 0, 1, 2, ...
func chain(t testing.TB, a *Arena, sizes ...int) (*Mbuf, func()) {
	t.Helper()
	v := NewVec()
	if !a.AllocBulk(v, len(sizes)) {
		t.Fatal("arena is empty")
	}
	n := byte(0)
	for i, size := range sizes {
		for j := range v[i].SetLen(size) {
			v[i].Bytes()[j] = n
			n++
		}
		if i > 0 {
			v[0].Chain(v[i])
		}
	}
	m := v[0]
	return m, func() { v[0] = m; a.FreeBulk(v, 1) }
}

func TestPullup(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int
		n     int
		ok    bool
		want  []int // data_len of each segment afterwards
	}{
		{"already there", []int{40, 40}, 40, true, []int{40, 40}},
		{"from the second", []int{10, 40}, 30, true, []int{30, 20}},
		{"over three", []int{10, 5, 40}, 30, true, []int{30, 0, 25}},
		{"everything", []int{10, 20, 30}, 60, true, []int{60, 0, 0}},
		{"longer than the chain", []int{10, 20}, 31, false, []int{10, 20}},
		{"longer than the buffer", []int{60, 60}, 101, false, []int{60, 60}},
		{"as long as the buffer", []int{60, 60}, 100, true, []int{100, 20}},
		{"single segment, too long", []int{10}, 11, false, []int{10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, free := chain(t, arena(t, 4, 100), c.sizes...)
			defer free()
			total := m.PktLen()
			before := m.AppendTo(nil, total)
			if m.Pullup(c.n) != c.ok {
				t.Fatalf("Pullup(%d) = %v", c.n, !c.ok)
			}
			i := 0
			for s := m; s != nil; s = s.Next() {
				if s.DataLen() != c.want[i] {
					t.Errorf("segment %d: %d bytes, want %d", i, s.DataLen(), c.want[i])
				}
				i++
			}
			if after := m.AppendTo(nil, total); m.PktLen() != total || m.NbSegs() != len(c.sizes) || !bytes.Equal(before, after) {
				t.Errorf("packet changed: % x, now % x", before, after)
			}
		})
	}
}

// A driver that promised more bytes than it delivered must not make Pullup
// return bytes that are not there.
func TestPullupOfChainThatLies(t *testing.T) {
	m, free := chain(t, arena(t, 2, 100), 10, 10)
	defer free()
	m.pktLen = 50
	if m.Pullup(40) || m.DataLen() > 20 {
		t.Errorf("%d bytes in the first segment; 20 exist", m.DataLen())
	}
}

func TestAppendTo(t *testing.T) {
	m, free := chain(t, arena(t, 3, 100), 3, 0, 4)
	defer free()
	for limit, want := range map[int]string{0: "x", 2: "x\x00\x01", 5: "x\x00\x01\x02\x03\x04", 100: "x\x00\x01\x02\x03\x04\x05\x06"} {
		if got := m.AppendTo([]byte("x"), limit); string(got) != want {
			t.Errorf("%d bytes: % x, want % x", limit, got, want)
		}
	}
}

func TestVecIsOffTheHeapAndAddressable(t *testing.T) {
	v := NewVec()
	if v.Addr() != uintptr(unsafe.Pointer(v)) || v.Addr()%64 != 0 || len(v) != MaxBurst {
		t.Errorf("vector at %#x", v.Addr())
	}
}
