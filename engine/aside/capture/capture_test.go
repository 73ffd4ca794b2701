package capture

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
)

// chain returns a packet of n bytes, the first ones a number, in buffers of up to 100 bytes.
func chain(t testing.TB, pool *mbuf.Arena, number uint32, n int) *mbuf.Mbuf {
	t.Helper()
	var head *mbuf.Mbuf
	v := mbuf.NewVec()
	for at := 0; at < n || head == nil; at += 100 {
		if !pool.AllocBulk(v, 1) {
			t.Fatal("no mbufs")
		}
		for i, b := 0, v[0].SetLen(min(100, n-at)); i < len(b); i++ {
			b[i] = byte(at+i) + byte(number)
		}
		if head == nil {
			head = v[0]
		} else {
			head.Chain(v[0])
		}
	}
	return head
}

func free(pool *mbuf.Arena, m *mbuf.Mbuf) {
	v := mbuf.NewVec()
	v[0] = m
	pool.FreeBulk(v, 1)
}

func arena(t testing.TB) *mbuf.Arena {
	pool, err := mbuf.NewArena(1000, 256)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// TestRecordsComeBack: records are read as they were put, cut at the snap length, in all sizes.
func TestRecordsComeBack(t *testing.T) {
	pool := arena(t)
	for _, n := range []int{0, 1, 60, 99, 100, 101, 1500, 9000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := New(Filter{SnapLength: 1000}, 0, 1e6, 1<<16)
			m := chain(t, pool, 7, n)
			put := Record{Time: 1<<62 + 5, Link: 300, Host: true, Out: true, ToNetwork: true, Malformed: inthdr.ReasonNPT, Events: event.Leak.Set() | 1, Watch: "web"}
			s := takeRecord(c, &put, m)
			var r Record
			if c.Next(&r) {
				t.Error("it is there before it is published")
			}
			s.SetDropped(4)
			c.Publish()
			if !c.Next(&r) {
				t.Fatal("it is not there")
			}
			want := m.AppendTo(nil, 1000)
			if !bytes.Equal(r.Data, want) || r.Len != n {
				t.Errorf("%d bytes of %d, want %d of %d", len(r.Data), r.Len, len(want), n)
			}
			put.Dropped, put.Reason, put.Len, put.Data, r.Data = true, 4, n, nil, nil
			if fmt.Sprint(r) != fmt.Sprint(put) {
				t.Errorf("%+v, want %+v", r, put)
			}
			c.Done()
			if c.Next(&r) {
				t.Error("it is there twice")
			}
			free(pool, m)
		})
	}
	Slot{}.SetDropped(1) // nothing happens to what found no room
}

func takeRecord(c *Capture, r *Record, m *mbuf.Mbuf) Slot {
	h := r.head()
	return c.take(&h, m)
}

// TestRingBetweenThreads: records that find room are read once, whole and in order; the others
// are counted.
func TestRingBetweenThreads(t *testing.T) {
	pool := arena(t)
	c := New(Filter{SnapLength: MaxSnap}, 0, 1e12, 1<<13)
	const n = 20000
	var worker sync.WaitGroup
	taken := 0
	worker.Go(func() {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			m := chain(t, pool, uint32(i), r.IntN(3000))
			if takeRecord(c, &Record{Time: int64(i)}, m) != (Slot{}) {
				taken++
			}
			if i%3 == 0 {
				c.Publish()
			}
			free(pool, m)
		}
		c.Publish()
		c.End()
	})
	last, read := int64(-1), 0
	var r Record
	for {
		ended := c.Ended()
		if !c.Next(&r) {
			if ended {
				break
			}
			continue
		}
		if r.Time <= last || r.Len != len(r.Data) {
			t.Fatalf("record %d after %d: %d bytes of %d", r.Time, last, len(r.Data), r.Len)
		}
		for i, b := range r.Data {
			if b != byte(i)+byte(r.Time) {
				t.Fatalf("record %d: byte %d is damaged", r.Time, i)
			}
		}
		last = r.Time
		read++
		c.Done()
	}
	worker.Wait()
	if _, full := c.Dropped(); read != taken || read+int(full) != n || read == 0 {
		t.Errorf("%d taken, %d read, %d without room, of %d", taken, read, full, n)
	}
}

// TestRate: a burst passes, and over time no more than the rate.
func TestRate(t *testing.T) {
	c := New(Filter{}, 0, 1e6, 1<<13)
	allowed := 0
	for i := range 100_000 {
		if c.Allow(int64(i) * 10) { // 100 a microsecond, for a millisecond
			allowed++
		}
	}
	if rate, _ := c.Dropped(); allowed < 1000 || allowed > 1000+burstRoom+1 || allowed+int(rate) != 100_000 {
		t.Errorf("%d allowed in a millisecond at 1,000,000/s, %d not", allowed, rate)
	}
}

// FuzzRecord puts a record of any contents into the ring and reads it back.
func FuzzRecord(f *testing.F) {
	f.Add([]byte("packet"), "watch", uint32(5), uint16(1), uint8(9), int64(1), uint16(3))
	pool := arena(f)
	f.Fuzz(func(t *testing.T, data []byte, watch string, events uint32, link uint16, flags uint8, at int64, snap uint16) {
		if len(data) > 50_000 {
			return
		}
		g := newRing(1 << 17)
		var whole *mbuf.Mbuf
		v := mbuf.NewVec()
		for rest := data; whole == nil || len(rest) > 0; {
			k := min(len(rest), 100)
			if !pool.AllocBulk(v, 1) {
				t.Fatal("no mbufs")
			}
			copy(v[0].SetLen(k), rest)
			rest = rest[k:]
			if whole == nil {
				whole = v[0]
			} else {
				whole.Chain(v[0])
			}
		}
		defer free(pool, whole)
		in := Record{Time: at, Link: int(link), Host: flags&1 != 0, Out: flags&2 != 0, ToNetwork: flags&4 != 0, Dropped: flags&8 != 0, Reason: flags >> 4, Events: event.Set(events), Watch: watch}
		for range 3 { // over the end of the ring, too
			h := in.head()
			if g.put(&h, whole, int(snap)) == (Slot{}) {
				t.Fatal("no room in an empty ring")
			}
			g.publish()
			var out Record
			if !g.get(&out) {
				t.Fatal("it is not there")
			}
			if !bytes.Equal(out.Data, data[:min(len(data), int(snap))]) || out.Len != len(data) || out.Watch != watch[:min(len(watch), maxWatch)] {
				t.Fatalf("%+v", out)
			}
			out.Data, out.Len, out.Watch = nil, 0, watch
			if fmt.Sprint(out) != fmt.Sprint(in) {
				t.Fatalf("%+v, want %+v", out, in)
			}
			g.done()
		}
	})
}
