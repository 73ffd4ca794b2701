package engine

import (
	"fmt"
	"net/netip"
	"testing"

	"intsink/engine/aside/inspect"
	"intsink/engine/burst/bursttest"
	"intsink/engine/event"
	"intsink/engine/wire/intgen"
)

// TestMarkedPacketsAreCounted: packets that come with the mark of a queue are counted by link, by flow and by the queues that they
// passed, whether a header template, the parser or nobody looks at them, and leave with their mark and without INT.
func TestMarkedPacketsAreCounted(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for _, way := range []string{"by template", "parsed", "unwatched", "in one burst"} {
			t.Run(fmt.Sprintf("%s, IPv6 %v", way, v6), func(t *testing.T) {
				b := newBed(t, func(r *Rules) {
					if way == "unwatched" {
						r.Watches = nil
						return
					}
					p := &r.Watches[0].Policy // so that a flow's first packet makes its queues known
					p.Events |= event.Congestion.Set()
					p.Thresholds.CongestionRaise = 1 << 20
				})
				if way == "parsed" {
					b.burst.Fast.ParseAll()
				}
				of := [2]uint64{}
				for n := range 400 {
					f := intgen.Flow{SrcMAC: [6]byte{2}, DstMAC: [6]byte{4}, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"), Proto: 17, SrcPort: uint16(1024 + n%2), DstPort: 8000}
					if v6 {
						f.Src, f.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
					}
					ecn := byte(n / 2 % 4)
					s := intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Type: intgen.TypeMD, Bitmap: 0xf000, MaxHops: 15}
					orig := f.Frame(100, 0)
					bursttest.SetECN(orig, 14, ecn)
					frame, err := s.Insert(orig, []intgen.Hop{{NodeID: 12, Egress: 2, QueueID: 1, LatencyNs: 500}, {NodeID: 11, Egress: 1, LatencyNs: 400}})
					if err != nil {
						t.Fatal(err)
					}
					if ecn == 3 {
						of[n%2]++
					}
					if b.network.RX = append(b.network.RX, frame); way != "in one burst" || n%8 == 7 {
						b.Poll()
						b.step(1000)
					}
					if got := b.host.TX; len(b.network.RX) == 0 && string(got[len(got)-1]) != string(orig) {
						t.Fatalf("packet %d left as %x\nwant %x", n, got, orig)
					}
				}
				b.step(2e6)
				if got := b.Snapshot().Links[0].Marked; got != of[0]+of[1] || got != 100 {
					t.Errorf("%d packets counted of the link, want 100", got)
				}
				if way == "unwatched" {
					return
				}
				q := inspect.New(inspect.BestFlows|inspect.Queues, 8)
				q.Order = inspect.ByMarked
				a := b.answer(q)
				best := a.Best()
				if len(best) != 2 || best[0].Flow.Marked != 50 || best[1].Flow.Marked != 50 || best[0].Flow.Packets != 200 {
					t.Errorf("flows: %+v", best)
				}
				for i := range a.Queues {
					if r := &a.Queues[i]; r.Value.Marked > 100 || r.Value.Marked < 86 || r.Value.MarkedAt == 0 { // the last 14 may wait for one that stands for them
						t.Errorf("queue %x: %+v", r.Key, r.Value)
					}
				}
				if len(a.Queues) != 2 {
					t.Errorf("%d queues, want 2", len(a.Queues))
				}
			})
		}
	}
}

// TestMarkedPacketsBelongToTheirQueues: packets pass two queues in even turns. The sample gives each queue the number of marked packets
// that passed it, within a tenth.
func TestMarkedPacketsBelongToTheirQueues(t *testing.T) {
	b := newBed(t, func(r *Rules) {
		p := &r.Watches[0].Policy
		p.Events |= event.Congestion.Set()
		p.Thresholds.CongestionRaise = 1 << 20
	})
	s := intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Type: intgen.TypeMD, Bitmap: 0xf000, MaxHops: 15}
	of := map[uint16]uint64{}
	for n := range 48000 {
		f := intgen.Flow{SrcMAC: [6]byte{2}, DstMAC: [6]byte{4}, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"), Proto: 17, SrcPort: uint16(1024 + n%2), DstPort: 8000}
		orig, egress := f.Frame(100, 0), uint16(1+n%2)
		if n%3 == 0 || egress == 2 && n%8 == 1 {
			bursttest.SetECN(orig, 14, 3)
			of[egress]++
		}
		frame, err := s.Insert(orig, []intgen.Hop{{NodeID: 11, Egress: egress, LatencyNs: 400}})
		if err != nil {
			t.Fatal(err)
		}
		if b.network.RX = append(b.network.RX, frame); n%16 == 15 {
			b.Poll()
			b.step(1000)
		}
	}
	a := b.answer(inspect.New(inspect.Queues, 8))
	for i := range a.Queues {
		egress := uint16(a.Queues[i].Key[0])
		if got, want := float64(a.Queues[i].Value.Marked), float64(of[egress]); got < 0.9*want || got > 1.1*want {
			t.Errorf("by interface %d %v packets, want %v", egress, got, want)
		}
	}
	if len(a.Queues) != 2 || of[1] == of[2] {
		t.Errorf("%d queues, %v", len(a.Queues), of)
	}
}
