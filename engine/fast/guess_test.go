//go:build cgo

package fast

import (
	"slices"
	"testing"

	"intsink/engine/wire/intgen"
)

// TestGuesses: packets with the same hint are compared first with the one template that they have had so far, or
// with one of two, by a byte in which these differ. Where there are three, C looks at their shape.
func TestGuesses(t *testing.T) {
	w := newWorld(t, anyMarking(intgen.ByPort, false), everyEvent(), false)
	var frames [][]byte
	for _, bitmap := range []uint16{intgen.DefaultBitmap, 0xe180, 0xe800} {
		frames = append(frames, marked(t, intgen.NthFlow(1, false, false), bitmap, 3))
	}
	const many = 0xff
	for n := 1; n <= 3; n++ {
		mixed := slices.Repeat(frames[:n], 5)
		for range 4 {
			w.of(mixed...)
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

// TestWhatMadeRoomIsNotGuessed: a template that was taken from its shape for another, for which there was no
// place in the end, is no longer found: the next template is made in its place.
func TestWhatMadeRoomIsNotGuessed(t *testing.T) {
	flow, tagged := intgen.NthFlow(1, false, false), intgen.NthFlow(1, false, false)
	tagged.VLAN = 7
	var chained [chain + 1][]byte // alike in all that tells variants apart
	for i, bitmap := range []uint16{0xe000, 0xc080, 0xa080, 0x6080, 0x8200} {
		chained[i] = marked(t, flow, bitmap, 3)
	}
	victim := marked(t, tagged, 0xe000, 3)
	frames := [][]byte{chained[0], victim, chained[1], chained[2], chained[3]}
	for n := 0; len(frames) < maxTemplates; n++ {
		bits := []uint16{0x1000, 0x0800, 0x0400, 0x0100, 0x1800, 0x1400, 0x1100, 0x0c00}[n%8]
		frames = append(frames, marked(t, flow, 0x8000|bits, 1+n/8))
	}
	for _, portable := range []bool{false, true} {
		w := newWorld(t, anyMarking(intgen.ByPort, false), everyEvent(), portable)
		w.of(frames...)
		w.of(victim, victim)
		if w.stored != maxTemplates || w.Template[0] != 1 || w.victim != 0 {
			t.Fatalf("portable %v: %d templates, the victim has number %d, the last was %d", portable, w.stored, w.Template[0], w.victim)
		}
		w.stores = sparing - 1                 // the next packet may become a template
		w.of(chained[chain-1], chained[chain]) // the last template of the chain, and one more
		if w.stored != maxTemplates || w.learned[1].shape != none {
			t.Fatalf("portable %v: %d templates; the victim has shape %d", portable, w.stored, w.learned[1].shape)
		}
		w.receive(1e18, [][]byte{victim, victim}, []int{len(victim), len(victim)}, 0)
		if w.Unknown != 3 {
			t.Errorf("portable %v: a packet is of a template without a shape: unknown %b", portable, w.Unknown)
		}
	}
}
