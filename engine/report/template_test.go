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
	r.TrackedFlow = true // as VariantOf has it
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
			ok := template.Make(&of)
			if ok != of.sound() || template.IsNone() == ok {
				t.Fatalf("%+v: made %v, of which none is %v", of, ok, template.IsNone())
			}
			if !ok {
				if unmade++; by.Append(&of) {
					t.Fatalf("%+v: there is no template, but a report", of)
				}
				continue
			}
			made++
			for range rng.IntN(4) { // other packets of it
				other := templateReport(rng)
				r := of
				r.CongestedQueue, r.InType, r.Inner = other.CongestedQueue, other.InType, other.Inner
				want := by.Append(&r)
				if got := as.AppendAs(&template, VariantOf(r.InType, r.CongestedQueue), r.inner()); got != want {
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
	if !template.Make(&r) {
		t.Fatal("no template")
	}
	const size = GroupHeaderLen + firstWordLen + intMainLen + 8 + 8
	for room := range size + 2 {
		b := filled(size + 2)
		var p Packet
		p.Open(b[:room:room])
		if got := p.AppendAs(&template, VariantOf(IPv4, true), r.Inner); got != (room >= size) {
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
	if !template.Make(&r) {
		t.Fatal("no template")
	}
	for _, f := range []Format{Format10, Format05} {
		b := filled(500)
		var p Packet
		p.OpenAs(f, b)
		if n := p.Len(); p.AppendAs(&template, VariantOf(IPv4, false), r.Inner) || p.Len() != n || p.Reports() != 0 || !bytes.Equal(b, filled(500)) {
			t.Errorf("format %d: %x", f, b)
		}
	}
	if template.Clear(); !template.IsNone() {
		t.Error("cleared, and not none")
	}
}
