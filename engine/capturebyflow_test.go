package engine

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside/capture"
	"intsink/engine/aside/checksum"
	"intsink/engine/aside/mitigate"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/selector"
	"intsink/engine/wire/intgen"
	"intsink/flows"
	"intsink/internal/rounds"
)

// anyFilter draws what a capture takes: most often packets of some flows, now and then of those with this and that.
func anyFilter(r *rand.Rand) (f capture.Filter) {
	f.Stages, f.SnapLength = capture.Stages(1+r.IntN(3)), []int{capture.MaxSnap, 60, 0}[r.IntN(3)]
	var m selector.Match
	if r.IntN(3) > 0 {
		port := 7999 + uint16(r.IntN(6))
		m.DestinationPort = []selector.PortRange{{First: port, Last: port + uint16(r.IntN(3))}}
	}
	if r.IntN(2) == 0 {
		m.Source = []netip.Prefix{netip.PrefixFrom(address(10, 0, 0, byte(r.IntN(3))), 31+r.IntN(2)).Masked()}
	}
	if r.IntN(6) == 0 {
		m.SourceMAC = []uint64{0x020000000001 + r.Uint64N(2)}
	}
	if r.IntN(8) == 0 {
		m.Device = []uint64{uint64(r.IntN(3))}
	}
	if r.IntN(8) > 0 {
		f.Match = selector.Of(m)
	}
	if r.IntN(4) == 0 {
		f.Links = []int{r.IntN(2)}
	}
	switch r.IntN(8) {
	case 0:
		f.Watches = []string{"all", "none"}
	case 1:
		f.Events = event.Set(r.Uint32())
	case 2, 3:
		f.Dropped = 1<<burst.DropTxFull | 1<<burst.DropRule | r.Uint32()&r.Uint32()
	case 4:
		f.Malformed = r.Uint32()
	}
	return f
}

// records ends what is published of c so far, and returns it as text.
func records(c *capture.Capture) (all [][]byte) {
	if c == nil {
		return nil
	}
	c.Publish()
	for r := (capture.Record{}); c.Next(&r); c.Done() {
		data := r.Data
		r.Data = nil
		all = append(all, append(fmt.Appendf(nil, "%+v ", r), bytes.Clone(data)...))
	}
	return all
}

// TestCaptureByFlowsTakesTheSame: a worker in which flows tell which packets a capture may want captures, strips, reports and counts as one
// that parses each packet and asks the filter about it: over changes of the filter, of rules of mitigation and of all rules, with more flows
// than there is room for, and ports that take not all.
func TestCaptureByFlowsTakesTheSame(t *testing.T) {
	nested := nestedFrames(t)
	all := manyRules()
	for seed, name := range []string{"samples", "explained", "more is asked", "not watched", "malformed drops", "flows by what is inside", "tap", "congestion by what is usual"} {
		for _, portable := range []bool{false, true} {
			t.Run(fmt.Sprint(name, portable), func(t *testing.T) { sameCaptures(t, name == "tap", portable, uint64(seed), nested, all[name]) })
		}
	}
}

// steady makes the packets from the network of a round such that say what their flows' last ones said, in most bursts all of them.
func (x *round) steady(t *testing.T, r *rand.Rand) {
	for port := 0; port < len(x.frames); port += 2 {
		x.frames[port], x.room[port+1] = nil, []int{unlimited, unlimited, 0, r.IntN(4)}[r.IntN(4)]
		for range 1 + r.IntN([]int{mbuf.MaxBurst, 3}[r.IntN(2)]) {
			f := intgen.Flow{Src: address(10, 0, 0, byte(r.IntN(3))), Dst: address(10, 1, 0, 1), Proto: intgen.UDP, SrcPort: 1024, DstPort: 7999 + uint16(r.IntN(6))}
			frame := f.Frame(r.IntN(50), r.Uint32())
			if r.IntN(300) > 0 {
				frame = withINT(t, frame, nil)
			}
			x.frames[port] = append(x.frames[port], frame)
		}
	}
}

func sameCaptures(t *testing.T, tap, portable bool, seed uint64, nested [][]byte, change func(*Rules)) {
	b, long, r := newLinksBed(t, tap, change), newLinksBed(t, tap, change), rand.New(rand.NewPCG(8, seed))
	if portable {
		b.burst.Fast.Portable()
	}
	long.stages.marks.Asker().Ask(func(*flows.Flow) bool { return true }) // of no flow it is known what the filter says
	var by, whole *capture.Capture
	taken := 0
	for n := range rounds.Of(300, 10) {
		x := newRound(t, r, tap, nested)
		if n%30 > 10 {
			x.steady(t, r)
		}
		switch n % 16 {
		case 0:
			x.rules = uint64(n) + 1
		case 8:
			for _, w := range []*linksBed{b, long} {
				w.mitigations = nil
				AsideOf[*mitigate.Aside](w.Worker).Mitigate(nil)
			}
		}
		b.live(&x)
		long.forget()
		long.live(&x)
		for _, w := range []*linksBed{b, long} {
			for l := range w.counters.Links {
				w.counters.Links[l].Checksum.Checksums = [checksum.NumStates][checksum.NumStates]uint64{} // samples are of other packets
			}
		}
		b.sameAs(t, long)
		got, want := records(by), records(whole)
		if len(got) != len(want) || len(got) > 0 && !bytes.Equal(bytes.Join(got, nil), bytes.Join(want, nil)) {
			t.Fatalf("round %d, captured: %s", n, firstDifference(got, want))
		}
		taken += len(got)
		if n%5 != 0 {
			continue
		}
		by, whole = nil, nil
		if n%15 != 0 {
			f, rate := anyFilter(r), []float64{1e12, 1e6, 1e3}[r.IntN(3)]
			by, whole = capture.New(f, math.MaxInt64, rate, 1<<20), capture.New(f, math.MaxInt64, rate, 1<<20)
		}
		b.Captures.Capture(by)
		long.Captures.Capture(whole)
	}
	for _, b := range []*linksBed{b, long} {
		b.Close()
		b.handedOver()
		b.balance()
	}
	if !rounds.Race && taken < 300 {
		t.Errorf("%d records: the test says little", taken)
	}
}
