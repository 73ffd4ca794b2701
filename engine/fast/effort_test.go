package fast

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/intgen"
)

// bed is a worker in small that gets bursts of usual packets, of hostile ones, or of both.
type bed struct {
	*world
	t              *testing.T
	r              *rand.Rand
	usual, hostile []*source
	now            int64
}

func newBed(t *testing.T, portable bool) *bed {
	r := rand.New(rand.NewPCG(3, 4))
	b := &bed{world: newWorld(t, anyMarking(intgen.ByPort, false), everyEvent(), portable), t: t, r: r, now: 1e18}
	b.usual, b.hostile = newSources(r, 2, intgen.ByPort), newSources(r, 400, intgen.ByPort)
	b.setUsual()
	return b
}

// setUsual makes two flows the usual ones, of IPv4 and IPv6, with as many tags.
func (b *bed) setUsual(tags ...uint16) {
	for i, x := range b.usual {
		x.s = &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Type: intgen.TypeMD, Bitmap: intgen.DefaultBitmap, MaxHops: 10}
		f := intgen.NthFlow(i, false, i == 1)
		f.VLANs = tags
		x.orig, x.hops = f.Frame(40, 1), make([]intgen.Hop, 3)
	}
}

// bursts takes n bursts with so many hostile packets each through, and returns how many bursts
// were matched and how many packets were parsed.
func (b *bed) bursts(n, hostile int) (matched, parsed int) {
	for range n {
		frames, lens := make([][]byte, mbuf.MaxBurst), make([]int, mbuf.MaxBurst)
		for i := range frames {
			from := b.usual
			if i < hostile {
				from = b.hostile
			}
			frames[i] = from[b.r.IntN(len(from))].next(b.t, b.r, b.now)
			lens[i] = len(frames[i])
		}
		b.now += 1000
		b.burst(b.now, frames, lens, 0)
		if parsed += int(b.tried); !b.skipped {
			matched++
		}
	}
	return matched, parsed
}

// TestHostileShapes: while packets are of many more shapes than there is room for, one burst of
// eight is matched, and few templates are made; usual packets beside them keep theirs, and usual
// traffic is matched again with the next burst that is.
func TestHostileShapes(t *testing.T) {
	for _, portable := range []bool{false, true} {
		t.Run(fmt.Sprint("portable ", portable), func(t *testing.T) {
			b := newBed(t, portable)
			for _, s := range []struct {
				name             string
				bursts, hostile  int
				tags             []uint16
				matched          int
				parsed, parsedTo int // from and to
			}{
				{"usual", 100, 0, nil, 100, 2, 2},
				{"a quarter hostile", 64, 16, nil, 64, 64 * 14, 64 * 16},
				{"half hostile", 64, 32, nil, 64, 64 * 29, 64 * 32},
				{"hostile", 64, 64, nil, 11, 64 * 62, 64 * 64},
				{"hostile still", 64, 64, nil, 8, 64 * 62, 64 * 64},
				{"usual again", 64, 0, nil, 61, 3 * 64, 3 * 64},
				{"usual for good", 100, 0, nil, 100, 0, 0},
				{"hostile again", 64, 64, nil, 11, 64 * 62, 64 * 64},
				{"unusual tags", 64, 0, []uint16{5, 6}, 54, 0, 12 * 64},
				{"usual tags", 100, 0, []uint16{5, 6}, 100, 0, 0},
			} {
				b.setUsual(s.tags...)
				matched, parsed := b.bursts(s.bursts, s.hostile)
				if matched != s.matched || parsed < s.parsed || parsed > s.parsedTo {
					t.Errorf("%s: %d bursts matched, %d packets parsed; want %d, and %d to %d", s.name, matched, parsed, s.matched, s.parsed, s.parsedTo)
				}
			}
		})
	}
}
