//go:build cgo && !purego

package fast

import (
	"slices"
	"testing"

	"intsink/engine/intgen"
)

// TestGuesses: packets with the same hint are compared first with the one template that they have had so far, or
// with one of two, by a byte in which these differ. Where there are three, C looks at their shape.
func TestGuesses(t *testing.T) {
	w := newWorld(t, anyMarking(intgen.ByPort, false), everyEvent(), false)
	var frames [][]byte
	var lens []int
	for _, bitmap := range []uint16{intgen.DefaultBitmap, 0xe180, 0xe800} {
		f := intgen.NthFlow(1, false, false)
		s := intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Type: intgen.TypeMD, Bitmap: bitmap, MaxHops: 9}
		frame, err := s.Insert(f.Frame(64, 0), make([]intgen.Hop, 3))
		if err != nil {
			t.Fatal(err)
		}
		frames, lens = append(frames, frame), append(lens, len(frame))
	}
	const many = 0xff
	for n := 1; n <= 3; n++ {
		mixed := slices.Repeat(frames[:n], 5)
		for range 4 {
			w.burst(1e18, mixed, slices.Repeat(lens[:n], 5), false)
		}
		if w.stored != n || w.Unknown != 0 {
			t.Fatalf("%d templates, want %d", w.stored, n)
		}
		var made []guess
		for _, g := range w.guesses {
			if g.of[0] != None {
				made = append(made, g)
			}
		}
		if len(made) != 1 {
			t.Fatalf("%d templates: guesses %+v, want one", n, made)
		}
		g, of := made[0], func(f []byte) uint8 { return w.Recognise(f, len(f)) }
		switch n {
		case 1:
			if g.of[0] != of(frames[0]) || g.of[1] != g.of[0] {
				t.Errorf("guess %+v, want template %d", g, of(frames[0]))
			}
		case 2:
			for _, f := range frames[:2] {
				which := 0
				if f[g.at] != g.value {
					which = 1
				}
				if g.of[which] != of(f) {
					t.Errorf("guess %+v: template %d, want %d", g, g.of[which], of(f))
				}
			}
		case 3:
			if g.of != [2]uint8{many, many} {
				t.Errorf("guess %+v of three templates", g)
			}
		}
	}
}
