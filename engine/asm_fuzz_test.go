//go:build amd64 && !purego && !race

package engine

import (
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
)

// FuzzTwins puts a packet, between two that are known, through all twins: in a first
// segment of so many bytes, with a packet length that is off by so many, in a flow that
// seed makes.
func FuzzTwins(f *testing.F) {
	seeds := newTwinBed(f, 10, twinConfigs()["all kinds"])
	for n := range 60 {
		g := seeds.frame()
		f.Add(g, uint16(len(g)-n/40*n), int32(n/50), uint64(n))
	}
	good := withINT(f, plain(1), nil)
	f.Add(good, uint16(len(good)), int32(0), uint64(1))
	f.Add(good, uint16(57), int32(0), uint64(1))
	f.Add(good, uint16(len(good)), int32(-1), uint64(1))
	x := newQuietBed(f, 11)
	f.Fuzz(func(t *testing.T, frame []byte, segment uint16, off int32, seed uint64) {
		frame = frame[:min(len(frame), page/2)]
		x.TB = t
		x.reseed(seed)
		x.find(good)
		x.find(frame)

		b := x.begin(3)
		for i, g := range [][]byte{good, frame, good} {
			first := len(g)
			if i == 1 {
				first = int(segment)
			}
			b.vec[i] = x.yard.put(i, g, first, mbuf.MaxBurst+i)
		}
		*at[uint32](x.yard.page(1), atPktLen) += uint32(off)
		x.recallTwins()

		x.burst(0)
		for _, g := range [][]byte{good, frame, good} {
			x.add(g)
		}
		x.quietTwins()

		x.begin(0)
		x.addPlain(16+int(segment)%253*4, len(frame)%64, func(n int) []byte { return append(slices.Clone(frame), x.random(n)...)[:n] })
		x.stripTwins()
	})
}
