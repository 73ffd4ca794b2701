package fast

import (
	"encoding/binary"
	"fmt"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// TestVariants: lengths of INT, modulo 16 words, and the bits of the bitmap that count have a place
// each, wherever the bitmap stands behind the length, whatever stands between.
func TestVariants(t *testing.T) {
	for bitmap := 5; bitmap <= 7; bitmap++ {
		t.Run(fmt.Sprint(bitmap, " bytes"), func(t *testing.T) {
			var s shape
			s.variantsBy(bitmap)
			places := map[int][2]int{}
			for length := range 16 {
				for bits := range 256 {
					if bits&^0x1d != 0 {
						continue
					}
					f := binary.LittleEndian.AppendUint64(nil, 0xa5a5a5a5_a5a5a5a5)
					f[0], f[bitmap] = byte(length|0x30), byte(bits|0xe2)
					v := s.variantOf(f)
					if was, ok := places[v]; ok {
						t.Errorf("length %d with bitmap %#x has the place of %v", length, bits, was)
					}
					places[v] = [2]int{length, bits}
				}
			}
			if len(places) != 16*16 {
				t.Errorf("%d places, want 256", len(places))
			}
		})
	}
}

// TestBitmapsOfOneShape: packets with the same headers and bitmaps of one length have a template
// each that is the first to be tried.
func TestBitmapsOfOneShape(t *testing.T) {
	for _, portable := range []bool{false, true} {
		t.Run(fmt.Sprint("portable ", portable), func(t *testing.T) {
			w := newWorld(t, anyMarking(intgen.ByPort, false), everyEvent(), portable)
			bitmaps := []uint16{intgen.DefaultBitmap, 0xf080, 0xe180, 0xe800, 0xe400}
			var frames [][]byte
			for _, bitmap := range bitmaps {
				frames = append(frames, marked(t, intgen.NthFlow(1, false, false), bitmap, 3))
			}
			w.of(frames...)
			if w.stored != len(bitmaps) || w.shapes != 1 {
				t.Fatalf("%d templates of %d shapes, want %d of one", w.stored, w.shapes, len(bitmaps))
			}
			for i, f := range frames {
				at := w.shape[0].variant[w.shape[0].variantOf(f)]
				if at == None || w.Info(at).Bitmap != bitmaps[i] || w.templates[at].next != None {
					t.Errorf("bitmap %#x: template %d of %#x, followed by %d", bitmaps[i], at, w.Info(at%maxTemplates).Bitmap, w.templates[at].next)
				}
				if w.Info(at%maxTemplates).Format != inthdr.Format2 {
					t.Errorf("bitmap %#x: another format", bitmaps[i])
				}
			}
		})
	}
}
