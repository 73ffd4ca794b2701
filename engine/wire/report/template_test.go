package report

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// templateReport is any report that a template may be made of, and some that none may.
func templateReport(rng *rand.Rand) Individual {
	r := randomReport(rng)
	if rng.IntN(10) == 0 {
		r.InType = TLV
	}
	switch n := len(r.Metadata); {
	case r.RepType != INT || rng.IntN(4) > 0:
	case rng.IntN(2) == 0:
		r.Metadata = append(r.Metadata, make([]byte, 1+rng.IntN(3))...) // no whole words
	default:
		r.Metadata = append(r.Metadata, make([]byte, MaxMetadata-n+4*rng.IntN(3))...) // about as long as MD Length says
	}
	return r
}

// filled is room for a packet, which holds what an earlier one left there.
func filled(n int) []byte { return slices.Repeat([]byte{0xa5}, n) }

// TestTemplateIsAppend: by a template, packets get byte for byte what they get by
// Append, or neither takes it.
func TestTemplateIsAppend(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var made, unmade, taken, refused int
	var template Template // serves for all, as that of a worker does
	for range 3000 {
		room := rng.IntN(3000)
		a, b := filled(room), filled(room)
		var by, as Packet
		if rng.IntN(50) > 0 {
			by.Open(a)
			as.Open(b)
		}
		for range 1 + rng.IntN(8) {
			of := templateReport(rng)
			ok := template.Make(Format20, &of, false)
			if long := of.RepType == INT && firstWordLen+intMainLen+len(of.Metadata)+explainedLen > maxHead; ok != (of.sound() && !long) || template.IsNone() == ok {
				t.Fatalf("%+v: made %v, zero value %v", of, ok, template.IsNone())
			}
			if !ok {
				unmade++
				continue
			}
			made++
			for range rng.IntN(4) { // other packets of it
				other := templateReport(rng)
				r := of
				r.CongestedQueue, r.Inner = other.CongestedQueue, other.Inner
				want := by.Append(&r)
				if got := as.AppendAs(&template, r.CongestedQueue, r.inner()); got != want {
					t.Fatalf("%+v: taken %v, by Append %v", r, got, want)
				}
				if as.Len() != by.Len() || as.Reports() != by.Reports() || as.Full() != by.Full() || !bytes.Equal(a, b) {
					t.Fatalf("%+v:\n%x\nby Append\n%x", r, b, a)
				}
				if want {
					taken++
				} else {
					refused++
				}
			}
		}
		h := GroupHeader{HwID: 3, Sequence: 7, NodeID: 9}
		if got, want := as.Seal(h), by.Seal(h); !bytes.Equal(got, want) {
			t.Fatalf("sealed\n%x\nby Append\n%x", got, want)
		}
	}
	if made < 5000 || unmade < 500 || taken < 2000 || refused < 2000 {
		t.Errorf("%d templates, %d not made; %d reports taken, %d not", made, unmade, taken, refused)
	}
}

// TestTemplateEndsWithTheRoom: a report takes no byte more than Append would, where the room
// ends with it and one byte before.
func TestTemplateEndsWithTheRoom(t *testing.T) {
	r := Individual{RepType: INT, TrackedFlow: true, InType: IPv4, Metadata: make([]byte, 8), Inner: []byte{1, 2, 3, 4, 5}}
	var template Template
	if !template.Make(Format20, &r, false) {
		t.Fatal("no template")
	}
	const size = GroupHeaderLen + firstWordLen + intMainLen + 8 + 8
	for room := range size + 2 {
		b := filled(size + 2)
		var p Packet
		p.Open(b[:room:room])
		if got := p.AppendAs(&template, true, r.Inner); got != (room >= size) {
			t.Errorf("a room of %d bytes for %d: taken %v", room, size, got)
		}
		if !bytes.Equal(b[min(room, size):], filled(len(b)-min(room, size))) {
			t.Errorf("a room of %d bytes: %x", room, b)
		}
	}
}

// TestTemplateIsOfOneFormat: packets of the older formats and closed ones take none.
func TestTemplateIsOfOneFormat(t *testing.T) {
	var template Template
	if !template.IsNone() {
		t.Error("the zero value is a template")
	}
	r := Individual{InType: IPv4, TrackedFlow: true, Inner: make([]byte, 40)}
	if !template.Make(Format20, &r, false) {
		t.Fatal("no template")
	}
	for _, f := range []Format{Format10, Format05} {
		b := filled(500)
		var p Packet
		p.OpenAs(f, b)
		if n := p.Len(); p.AppendAs(&template, false, r.Inner) || p.Len() != n || p.Reports() != 0 || !bytes.Equal(b, filled(500)) {
			t.Errorf("format %d: %x", f, b)
		}
	}
	if template.Clear(); !template.IsNone() {
		t.Error("cleared, and not none")
	}
}

// TestAppendEachIsAppendAs: several reports at once are byte for byte what they are one by
// one, for every length of a fragment and wherever the room ends, and nothing is written
// beyond them.
func TestAppendEachIsAppendAs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	of := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(1 + rng.IntN(255))
		}
		return b
	}
	taken, full, refused := 0, 0, 0
	for size := range 1200 {
		for _, metadata := range []int{0, 4, 24, 48, 52, 56, 64} {
			r := Individual{RepType: INT, InType: IPv4, TrackedFlow: true, Metadata: of(metadata)}
			if metadata == 0 {
				r.RepType = InnerOnly
			}
			var template Template
			if !template.Make(Format20, &r, metadata <= 48 && rng.IntN(2) == 0) {
				t.Fatal("no template")
			}
			template.SetEvents(rng.Uint32())
			one := template.n + (size+3)&^3
			room := GroupHeaderLen + one*rng.IntN(6) + rng.IntN(9) - 4 // about as many as fit
			inner := make([][]byte, 1+rng.IntN(8))
			for i := range inner {
				inner[i] = of(size)
				if rng.IntN(12) == 0 {
					inner[i] = of(max(size+rng.IntN(9)-4, 0))
				}
			}
			a, b := filled(room+200), filled(room+200)
			var by, as Packet
			by.Open(a[:max(room, 0):max(room, 0)])
			as.Open(b[:max(room, 0):max(room, 0)])
			v := rng.IntN(2) == 0
			want := 0
			for want < len(inner) && by.AppendAs(&template, v, inner[want]) {
				want++
			}
			if got := as.AppendEach(&template, v, inner); got != want {
				t.Fatalf("%d bytes: %d taken, one by one %d", size, got, want)
			}
			if as.n != by.n || as.reports != by.reports || as.last != by.last || !bytes.Equal(a, b) {
				t.Fatalf("%d bytes, %d of metadata:\n%x\none by one\n%x", size, metadata, b, a)
			}
			taken += want
			refused += len(inner) - want
			if by.Len() == room {
				full++
			}
		}
	}
	if taken < 5000 || refused < 5000 || full < 500 {
		t.Errorf("%d taken, %d refused, %d packets full to the last byte", taken, refused, full)
	}
}

// TestAppendEachNeedsAPacket: a closed packet and one of another format take nothing.
func TestAppendEachNeedsAPacket(t *testing.T) {
	r := Individual{RepType: INT, TrackedFlow: true, Metadata: make([]byte, 24)}
	var template Template
	if !template.Make(Format20, &r, false) {
		t.Fatal("no template")
	}
	inner := [][]byte{make([]byte, 100), make([]byte, 100)}
	var closed, old, small Packet
	old.OpenAs(Format10, filled(500))
	small.Open(filled(4))
	for name, p := range map[string]*Packet{"closed": &closed, "1.0": &old, "no room for a group header": &small} {
		if was := p.Len(); p.AppendEach(&template, false, inner) != 0 || p.Len() != was || p.Reports() != 0 {
			t.Errorf("%s: %d reports", name, p.Reports())
		}
	}
	if small.AppendEach(&template, false, nil) != 0 {
		t.Error("none is not none")
	}
}
