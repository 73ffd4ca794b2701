package engine

import (
	"bytes"
	"net/netip"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
)

// longBed reports 7000 bytes of every packet in report packets of 9000.
func longBed(t *testing.T, change func(*Rules)) *bed {
	b := newBed(t, func(r *Rules) {
		r.Watches[0].Policy.Sample = 1
		r.Report.Fragment = 7000
		r.setPayloads(9000 - 42)
		change(r)
	})
	var err error
	if b.reports, err = mbuf.NewArena(64, 9400); err != nil {
		t.Fatal(err)
	}
	b.remake(func(c *WorkerConfig) { c.ReportPool = b.reports })
	return b
}

// chainOf returns frame in a chain of buffers. Each holds at most its size in sizes; buffers
// beyond sizes have the last size.
func (b *bed) chainOf(frame []byte, sizes ...int) *mbuf.Mbuf {
	b.t.Helper()
	v := mbuf.NewVec()
	var head *mbuf.Mbuf
	for k := 0; len(frame) > 0; k++ {
		if !b.pool.AllocBulk(v, 1) {
			b.t.Fatal("no mbufs")
		}
		n := min(sizes[min(k, len(sizes)-1)], len(frame))
		copy(v[0].SetLen(n), frame)
		if frame = frame[n:]; head == nil {
			head = v[0]
		} else {
			head.Chain(v[0])
		}
	}
	return head
}

// TestFragmentsOfChains: a fragment has all of its bytes wherever the buffers of the
// packet end, for a packet that is parsed as for those like it, with and without a
// template.
func TestFragmentsOfChains(t *testing.T) {
	flow := intgen.Flow{Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1")}
	orig := flow.Frame(7900, 1)
	for _, c := range []struct {
		name   string
		marked []byte
		change func(*Rules)
		want   int // bytes behind the Ethernet header
	}{
		{"by port", withINT(t, bytes.Clone(orig), nil), func(*Rules) {}, 7000},
		{"by a UDP header of its own", withINT(t, bytes.Clone(orig), func(s *intgen.Source, _ []intgen.Hop) { s.Marking = intgen.ByNewUDP }), func(*Rules) {}, 7000},
		{"explained", withINT(t, bytes.Clone(orig), nil), func(r *Rules) { r.Report.Explain = true }, report.MaxTLVData},
		{"version 1.0", withINT(t, bytes.Clone(orig), nil), func(r *Rules) { r.Report.Format = report.Format10 }, 7000},
	} {
		for _, sizes := range [][]int{{2048}, {70, 1, 2000}, {1600, 2000}, {129, 129, 129, 129, 2048}} {
			t.Run(c.name, func(t *testing.T) {
				b := longBed(t, c.change)
				for k := range 4 {
					b.host.TX = nil
					b.burst.Vec[0], b.burst.Vec[1] = b.chainOf(c.marked, sizes...), b.chainOf(c.marked, sizes...)
					b.burst.N, b.burst.Now = 2, b.now
					b.stages.toHost(&b.links[0], b.burst)
					b.exchange(&b.links[0], b.burst)
					b.step(2e6)
					if len(b.host.TX) != 2 || !bytes.Equal(b.host.TX[0], orig) || !bytes.Equal(b.host.TX[1], orig) {
						t.Fatalf("burst %d: another packet leaves", k)
					}
					got := b.sealed()
					if len(got) != 2 {
						t.Fatalf("burst %d: %d reports, want 2", k, len(got))
					}
					for _, p := range got {
						if want := c.marked[14:][:c.want]; !bytes.Contains(p, want) {
							t.Errorf("burst %d: a report of %d bytes lacks the fragment of %d", k, len(p), len(want))
						}
					}
				}
				b.balance()
			})
		}
	}
}
