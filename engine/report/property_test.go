package report

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

// randomReport is any report that Append takes.
func randomReport(rng *rand.Rand) Individual {
	bytesOf := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	r := Individual{
		Dropped: rng.IntN(2) == 0, CongestedQueue: rng.IntN(2) == 0, TrackedFlow: rng.IntN(2) == 0, Intermediate: rng.IntN(2) == 0,
		InType: []InType{None, DSExtension, Ethernet, IPv4, IPv6}[rng.IntN(5)],
	}
	if rng.IntN(3) > 0 {
		r.RepType = INT
		r.RepMdBits, r.DomainSpecificID = uint16(rng.Uint32()), uint16(rng.Uint32())
		r.DSMdBits, r.DSMdStatus = uint16(rng.Uint32()), uint16(rng.Uint32())
		r.Metadata = bytesOf(repBits.size(r.RepMdBits) + 4*rng.IntN(4))
	}
	if r.InType != None {
		r.Inner = bytesOf(rng.IntN(150))
	}
	if rng.IntN(20) == 0 && r.InType != None {
		r.Inner = bytesOf(1000 + rng.IntN(200))
	}
	return r
}

// same tells whether the decoded report says what r said.
func same(t *testing.T, r *Individual, got *Report) {
	t.Helper()
	if *got.RepType != uint8(r.RepType) || *got.InType != uint8(r.InType) || got.Dropped != r.Dropped ||
		got.CongestedQueue != r.CongestedQueue || got.TrackedFlow != r.TrackedFlow || *got.Intermediate != r.Intermediate ||
		int(*got.MDLength)*4 != len(r.Metadata) || got.Inner.Length != (len(r.Inner)+3)&^3 || got.Problem != "" {
		t.Errorf("%+v became %s", r, toJSON(t, got))
	}
	if r.RepType != INT {
		if got.RepMdBits != nil || len(got.Metadata) != 0 {
			t.Errorf("inner only with metadata: %s", toJSON(t, got))
		}
		return
	}
	if *got.RepMdBits != r.RepMdBits || *got.DomainSpecificID != r.DomainSpecificID || *got.DSMdBits != r.DSMdBits || *got.DSMdStatus != r.DSMdStatus {
		t.Errorf("%+v became %s", r, toJSON(t, got))
	}
	if base := repBits.size(r.RepMdBits); !bytes.Equal(got.DSMetadata, r.Metadata[base:]) && len(r.Metadata) > base {
		t.Errorf("domain specific %x became %x", r.Metadata[base:], got.DSMetadata)
	}
	at := 0
	for i := range repBits { // every value, read by hand
		if r.RepMdBits<<i&0x8000 == 0 {
			continue
		}
		if p := repBits[i][0]; p.bits == 64 || p.bits == 32 {
			want := uint64(binary.BigEndian.Uint32(r.Metadata[at:]))
			if p.bits == 64 {
				want = binary.BigEndian.Uint64(r.Metadata[at:])
			}
			if v, ok := got.Metadata.Get(p.name); ok && v != want {
				t.Errorf("%s is %d, want %d", p.name, v, want)
			}
		}
		at += repBits.size(0x8000 >> i)
	}
}

// decode(encode(r)) == r, whatever is coalesced.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		var p Packet
		p.Open(make([]byte, 64+rng.IntN(3000)))
		var in []Individual
		for range 1 + rng.IntN(12) {
			r := randomReport(rng)
			if p.Append(&r) {
				in = append(in, r)
			}
		}
		h := GroupHeader{HwID: uint8(rng.IntN(64)), Sequence: rng.Uint32N(1 << 22), NodeID: rng.Uint32()}
		m, err := Decode(p.Seal(h))
		if len(in) == 0 {
			if !errors.Is(err, ErrTruncated) {
				t.Errorf("no report: %v", err)
			}
			continue
		}
		if err != nil || len(m.Reports) != len(in) || m.HwID != h.HwID || m.SequenceNumber != h.Sequence || *m.NodeID != h.NodeID {
			t.Fatalf("%v: %d of %d reports, %s", err, len(m.Reports), len(in), toJSON(t, m.Header))
		}
		for i := range in {
			same(t, &in[i], &m.Reports[i])
		}
	}
}

// Growth and Alone say before what Append does.
func TestLengthsAreKnownBefore(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	grown := 0
	for range 5000 {
		f := []Format{Format20, Format20, Format10, Format05}[rng.IntN(4)]
		room := 20 + rng.IntN(1400)
		var p Packet
		if r := randomReport(rng); p.Growth(&r) != 0 {
			t.Fatal("a closed packet grows")
		}
		p.OpenAs(f, make([]byte, room))
		for i := range 12 {
			r := randomReport(rng)
			r.Own = &Metadata{}
			before, want := p.Len(), p.Growth(&r)
			if alone := Alone(f, &r, room); i == 0 && (want > 0) != (alone > 0) || i == 0 && want > 0 && alone != before+want {
				t.Fatalf("format %d, room %d: grows by %d from %d, alone %d", f, room, want, before, alone)
			}
			if ok := p.Append(&r); ok != (want > 0) || p.Len() != before+want {
				t.Fatalf("format %d, room %d: %v, from %d to %d, want %d more", f, room, ok, before, p.Len(), want)
			}
			grown += want
		}
	}
	if grown == 0 {
		t.Error("nothing was appended")
	}
}
