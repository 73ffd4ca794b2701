package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/internal/rounds"
)

// TestBusyInterfacesTheLongWay: of packets that leave by interfaces that become busy and calm again, under watches with other thresholds, a
// worker with templates makes the reports and interfaces that one makes that parses each packet.
func TestBusyInterfacesTheLongWay(t *testing.T) {
	for way := range 4 {
		portable, watches := way&1 != 0, 1+way&2
		t.Run(fmt.Sprintf("portable %v, %d watches", portable, watches), func(t *testing.T) {
			rules := func(r *Rules) {
				for i := range r.Watches {
					p := &r.Watches[i].Policy
					p.Sample, p.Events = 0, event.NewFlow.Set()|event.PathChange.Set()|event.TxUtilization.Set()|event.Congestion.Set()
					p.Thresholds.TxRaise, p.Thresholds.TxClear, p.Thresholds.TxHold = 80+uint32(i%2)*10, 60-uint32(i%2)*20, 5e6
					p.Thresholds.CongestionRaise, p.Thresholds.CongestionClear = 1000, 500
				}
			}
			b, long := newLinksBed(t, false, rules), newLinksBed(t, false, rules)
			if portable {
				b.burst.Fast.Portable()
			}
			r := rand.New(rand.NewPCG(7, uint64(way)))
			source := intgen.Source{UDPPort: 5000, Bitmap: 0xf100, MaxHops: 20}
			var loads [12]uint32
			left, quick := 0, 0
			for n := range rounds.Of(1000, 30) {
				x := round{room: [4]int{unlimited, unlimited, unlimited, unlimited}, step: r.Int64N(8e6)}
				for range 1 + r.IntN(48) {
					if left--; left < 0 {
						left = 1000 + r.IntN(4000)
						for i := range loads {
							loads[i] = []uint32{20, 20, 20, 45, 55, 70, 85, 95}[r.IntN(8)]
						}
					}
					flow := r.IntN(12)
					f := intgen.Flow{Src: address(10, 0, 1, byte(flow)), Dst: address(10, 1, 0, 1), Proto: intgen.UDP, SrcPort: 1024, DstPort: 7999 + uint16(flow%watches)}
					hops := make([]intgen.Hop, 3)
					for i := range hops {
						at := (3*flow + i) % len(loads)
						hops[i] = intgen.Hop{NodeID: uint32(at), Ingress: 1, Egress: 2, LatencyNs: 10_000, QueueID: 1, QueueOccupancy: 10, TxUtilization: loads[at] + r.Uint32N(3)}
						switch r.IntN(1500) {
						case 0:
							hops[i].TxUtilization = r.Uint32N(100)
						case 1:
							hops[i].TxUtilization = 1<<32 - 1
						case 2:
							hops[i].QueueOccupancy = 1500
						}
					}
					frame, err := source.Insert(f.Frame(100, 1), hops)
					if err != nil {
						t.Fatal(err)
					}
					x.frames[0] = append(x.frames[0], frame)
				}
				b.live(&x)
				if b.detector.View().Hot&event.HotInterfaces != 0 {
					quick += b.burst.Fast.Len() - len(b.burst.Fast.Deferred())
				}
				long.forget()
				long.live(&x)
				b.sameAs(t, long)
				if got, want := b.detector.Busy(0), long.detector.Busy(0); !reflect.DeepEqual(got, want) {
					t.Fatalf("round %d: busy interfaces (-the long way)\n%s", n, cmp.Diff(want, got))
				}
			}
			if fired := b.detector.Counters.Fired[event.TxUtilization]; !rounds.Race && (fired < 10 || quick < 1000) {
				t.Errorf("%d times busy, %d packets passed in C while some interface was: the test says little", fired, quick)
			}
		})
	}
}

// TestBusyInterfaceIsLookedAtNowAndThen: Go sees one packet of an interface that stays busy every 100 ms, by which other workers learn of it.
func TestBusyInterfaceIsLookedAtNowAndThen(t *testing.T) {
	b := newLinksBed(t, false, func(r *Rules) {
		for i := range r.Watches {
			p := &r.Watches[i].Policy
			p.Sample, p.Events = 0, event.TxUtilization.Set()
			p.Thresholds.TxRaise, p.Thresholds.TxClear, p.Thresholds.TxHold = 80, 60, 5e6
		}
	})
	f := intgen.Flow{Src: address(10, 0, 1, 1), Dst: address(10, 1, 0, 1), Proto: intgen.UDP, SrcPort: 1024, DstPort: 7999}
	hops := []intgen.Hop{{NodeID: 1, Ingress: 1, Egress: 2, TxUtilization: 90}}
	source := intgen.Source{UDPPort: 5000, Bitmap: 0xf100, MaxHops: 20}
	deferred := func(after int64) (n int) {
		x := round{room: [4]int{unlimited, unlimited, unlimited, unlimited}, step: 1000}
		for range 4 {
			frame, err := source.Insert(f.Frame(100, 1), hops)
			if err != nil {
				t.Fatal(err)
			}
			x.frames[0] = append(x.frames[0], frame)
		}
		b.step(after)
		b.live(&x)
		b.handedOver()
		return len(b.burst.Fast.Deferred())
	}
	for range 10 {
		deferred(1000)
	}
	if soon, late := deferred(1000), deferred(150e6); soon != 0 || late == 0 {
		t.Errorf("%d of 4 packets came to Go at once, %d after 150 ms", soon, late)
	}
}
