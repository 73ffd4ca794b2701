package report

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// ownReport returns a random report with metadata of the sink itself, as RepMdBits says.
func ownReport(rng *rand.Rand) Individual {
	r := randomReport(rng)
	m := &Metadata{
		IngressPort: uint16(rng.Uint32()), EgressPort: uint16(rng.Uint32()), HopLatencyNs: rng.Uint32(), QueueID: uint8(rng.Uint32()), QueueOccupancy: rng.Uint32(),
		IngressTimestamp: rng.Uint64() | uint64(rng.IntN(2))*0xffffffff, EgressTimestamp: rng.Uint64(), TxUtilization: rng.Uint32(), DropReason: uint8(rng.Uint32()),
	}
	r.InType = []InType{None, Ethernet, IPv4, IPv6}[rng.IntN(4)]
	r.RepMdBits &= MdInterfaces | MdHopLatency | MdQueue | MdIngressTimestamp | MdEgressTimestamp | MdTxUtilization | MdDropReason
	r.Own, r.Metadata = m, make([]byte, 48)
	r.Metadata = r.Metadata[:m.Put(r.Metadata, r.RepMdBits)]
	return r
}

// appended is a report packet that reports are appended to, with the bytes that it lies in.
type appended struct {
	b []byte
	p Packet
}

func openAs(f Format, room int) *appended {
	a := &appended{b: filled(room)}
	a.p.OpenAs(f, a.b)
	return a
}

// TestTemplatesOfAllKinds: of every format, explained and not, packets by a template are byte
// for byte what they are by Append, wherever the room ends, and so are the sizes that a
// budget asks for.
func TestTemplatesOfAllKinds(t *testing.T) {
	for name, kind := range map[string]struct {
		format    Format
		explained bool
	}{"2.0": {Format20, false}, "2.0 explained": {Format20, true}, "1.0": {Format10, false}, "0.5": {Format05, false}} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(9, 10))
			taken := 0
			for range 3000 {
				of := ownReport(rng)
				var template Template
				if !template.Make(kind.format, &of, kind.explained) {
					t.Fatalf("no template of %+v", of)
				}
				room := rng.IntN(2600)
				by, as := openAs(kind.format, room), openAs(kind.format, room)
				for range 1 + rng.IntN(6) {
					r := of
					r.CongestedQueue, r.Inner = rng.IntN(2) == 0, randomReport(rng).Inner
					if r.InType == None {
						r.Inner = nil
					} else if rng.IntN(8) == 0 {
						r.Inner = slices.Repeat([]byte{7}, rng.IntN(1300))
					}
					e := Explanation{Events: rng.Uint32(), Packets: rng.Uint64(), Bytes: rng.Uint64(), Trigger: Trigger{1, rng.Uint32(), 3}}
					inner := r.Inner
					if kind.explained {
						r.Explain(&e, make([]byte, 4+ExplanationLen+4+MaxTLVData))
					}
					if got, want := as.p.GrowthAs(&template, len(inner)), by.p.Growth(&r); got != want {
						t.Fatalf("grows by %d, want %d", got, want)
					}
					if got, want := template.Alone(len(inner), room), Alone(kind.format, &r, room); got != want {
						t.Fatalf("alone %d, want %d", got, want)
					}
					want := by.p.Append(&r)
					got := false
					if kind.explained {
						template.SetEvents(e.Events)
					}
					n := as.p.Len()
					if rng.IntN(2) == 0 {
						got = as.p.AppendAs(&template, r.CongestedQueue, inner)
					} else {
						got = as.p.AppendEach(&template, r.CongestedQueue, [][]byte{inner}) == 1
					}
					if got && kind.explained {
						written := as.p.Since(n)
						if len(written) != template.Size(len(inner)) {
							t.Fatalf("%d bytes, by Size %d", len(written), template.Size(len(inner)))
						}
						e.Put(written[template.Explained():])
					}
					if got != want || as.p.Reports() != by.p.Reports() || as.p.Len() != by.p.Len() || as.p.Full() != by.p.Full() {
						t.Fatalf("taken %v, by Append %v: %+v", got, want, r)
					}
					if want {
						taken++
					}
				}
				h := GroupHeader{HwID: 3, Sequence: 7, NodeID: 9}
				if got, want := as.p.Seal(h), by.p.Seal(h); !bytes.Equal(got, want) {
					t.Fatalf("sealed\n%x\nby Append\n%x", got, want)
				}
			}
			if taken < 1000 {
				t.Errorf("only %d reports taken", taken)
			}
		})
	}
}

// TestTemplatesThatThereAreNot: the old formats have no Explanation, and no TLVs.
func TestTemplatesThatThereAreNot(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, f := range []Format{Format10, Format05} {
		var template Template
		r := ownReport(rng)
		if template.Make(f, &r, true) || !template.IsNone() {
			t.Errorf("format %d: an explained template", f)
		}
		r.InType = TLV
		if template.Make(f, &r, false) || !template.IsNone() {
			t.Errorf("format %d: a template with TLVs", f)
		}
	}
}
