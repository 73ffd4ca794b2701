package flows

import (
	"testing"
)

// TestEvictionsAtOnce: a thousand at one instant, and one more ten microseconds later.
func TestEvictionsAtOnce(t *testing.T) {
	x := &Table{}
	spend := func(now int64) (n int) {
		for n < 5000 && x.mayEvict(now) {
			x.evicted = max(x.evicted, now) + evictionNs
			n++
		}
		return n
	}
	const now = 5e9
	if first, later := spend(now), spend(now+evictionNs); first != 1000 || later != 1 {
		t.Errorf("%d at once and %d later, want 1000 and 1", first, later)
	}
}

// TestDisplaceMovesOneFlow: of two full buckets the one flow that has room in its other bucket moves there, with
// tag, place and birth. Where the table is almost full, or no flow has room elsewhere, nothing moves.
func TestDisplaceMovesOneFlow(t *testing.T) {
	for _, c := range []struct {
		name     string
		len      int
		free, is bool
	}{
		{"room in the other bucket", 61, true, true},
		{"no room anywhere", 61, false, false},
		{"more than 31/32 are used", 62, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := New(Config{Capacity: 64, Seed: 1, IdleTimeout: second})
			defer x.Close()
			tagTo := func(b uint64) uint16 { // of a flow with these candidates: bucket 0 and b
				tag := uint16(1)
				for x.alternate(0, tag) != b {
					tag += 2
				}
				return tag
			}
			const at, to = 3, 3 ^ 5
			stays, moves, h := tagTo(0), tagTo(5), uint64(tagTo(at))<<48
			if x.candidates(h) != [2]uint64{0, at} || x.alternate(at, moves) != to || x.alternate(at, stays) != at {
				t.Fatal("other candidates")
			}
			for b := range x.buckets {
				for s := range uint64(slots) {
					x.buckets[b].set(s, stays, uint32(b*slots)+uint32(s))
					x.buckets[b].births[s] = 1000 + uint16(b*slots) + uint16(s)
				}
			}
			x.buckets[at].setTag(5, moves)
			if c.free {
				x.buckets[to].set(6, 0, 0)
			}
			x.slab.used = c.len
			want := x.buckets[to]
			b, s, is := x.displace(h)
			if is != c.is || is && (b != at || s != 5) {
				t.Fatalf("slot %d of bucket %d, %v; want 5 of %d, %v", s, b, is, at, c.is)
			}
			if c.is {
				want.set(6, moves, uint32(at*slots)+5)
				want.births[6] = 1000 + uint16(at*slots) + 5
			}
			if x.buckets[to] != want {
				t.Errorf("the other bucket is\n%+v, want\n%+v", x.buckets[to], want)
			}
		})
	}
}
