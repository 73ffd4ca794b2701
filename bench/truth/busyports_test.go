package truth

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/engine"
	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
)

// busyPortModel is one interface whose load is looked at by samples, with all its loads in per cent.
type busyPortModel struct {
	known bool // what is full is
	last  []uint32
	times []int64

	busy    bool
	since   int64
	owed    bool  // it is busy, and nobody was told
	toldAt  int64 // 0: never
	restful int64 // since when the load is as low as arms it again, without a break; 0: it is not
}

// take models one sample, and reports whether its packet is told.
func (m *busyPortModel) take(at int64, load uint32, first bool) bool {
	if !m.known {
		return false
	}
	if n := len(m.times); n > 0 && at-m.times[n-1] > int64(10*time.Minute) {
		m.busy, m.owed, m.restful, m.last = false, false, 0, nil
	}
	m.times = append(m.times, at)
	switch {
	case load > 75:
		m.restful = 0
	case m.restful == 0:
		m.restful = at
	}
	if m.busy && m.restful != 0 && at-m.restful >= 5*s {
		m.busy, m.owed, m.last = false, false, nil
	}
	if !m.busy {
		m.last = append(m.last, load)
		over := 0
		for _, x := range m.last[max(0, len(m.last)-4):] {
			if x >= 90 {
				over++
			}
		}
		if load < 90 || over < 2 {
			return false
		}
		m.busy, m.owed, m.since = true, true, at
	}
	if load < 90 || !m.owed || first || m.toldAt != 0 && at-m.toldAt < s {
		return false
	}
	m.owed, m.toldAt = false, at
	return true
}

// loadPacket is a packet through two interfaces, with their loads as their nodes write them.
type loadPacket struct {
	at    int64
	flow  int
	loads [2]uint32
}

// warm is after how long each packet is a sample, at the paces of the scenes.
const warm = 60 * s

// loadScene is two interfaces whose loads rise, waver about the thresholds, spike, rest and fall, each at its own times; full is what is
// written for 100 per cent, of the second nobody knows it.
func loadScene(seed uint64, full uint32) (all []loadPacket) {
	r := rand.New(rand.NewPCG(seed, 23))
	at, flows, gone := Epoch, 1+r.IntN(9), 0
	level, until := [2]uint32{20, 20}, [2]int64{Epoch + warm, Epoch + warm}
	gap := 20*ms + r.Int64N(100*ms)
	for at < Epoch+900*s {
		at += gap/2 + r.Int64N(gap)
		if at > Epoch+warm && r.IntN(3000) == 0 {
			at += r.Int64N(900 * s) // longer than an interface is remembered, and its flows
			gone += flows
		}
		if r.IntN(300) == 0 {
			flows++
		}
		p := loadPacket{at: at, flow: gone + r.IntN(flows)}
		for i := range p.loads {
			if at >= until[i] {
				until[i] = at + r.Int64N(int64([]int64{s, 4 * s, 8 * s, 40 * s}[r.IntN(4)]))
				level[i] = []uint32{10, 60, 75, 76, 89, 90, 97, 100}[r.IntN(8)]
			}
			load := level[i]
			switch n := r.IntN(40); {
			case at < Epoch+warm:
			case n == 0:
				load = 99 // a spike
			case n == 1:
				load = 30
			}
			p.loads[i] = uint32((uint64(load)*uint64(full) + 99) / 100)
		}
		all = append(all, p)
	}
	return all
}

// TestBusyInterfacesAreThoseOfTheModel: where each packet is a sample, an interface whose unit is known is reported by the packets that the
// model names, is busy when the model says so, and since then; one whose unit is not known never is.
func TestBusyInterfacesAreThoseOfTheModel(t *testing.T) {
	told := 0
	for seed, full := range []uint32{100, 10_000, 65_535, 250, 25_000_000, 100, 1_000, 4_294_967_294} {
		th := event.Thresholds{TxAuto: true, TxRaise: 90, TxClear: 75, TxHold: 5 * s}
		rules := congestionOnly(th)
		rules.Watches[0].Collectors, rules.Watches[0].Policy.Events, rules.Report.Explain, rules.Report.MaxReports = 1, event.TxUtilization.Set(), true, 1
		rules.Report.MdBits, rules.Report.Fragment = report.MdInterfaces|report.MdIngressTimestamp, 400
		rules.NodeModels = []event.NodeModel{{Nodes: []event.NodeRange{{First: 101, Last: 101}}, TxFull: full}}
		b := newBedOf(t, rules, engine.NewShared(1, uint64(seed)+1), 5, 1<<12)
		ports := [2]busyPortModel{{known: true}, {}}
		seen := map[int]bool{}
		src := intgen.Source{UDPPort: INTPort, Bitmap: bitNode | bitInterfaces | bitTx, MaxHops: 5}
		for n, p := range loadScene(uint64(seed), full) {
			f := intgen.Flow{SrcMAC: [6]byte{2}, DstMAC: [6]byte{4}, Proto: intgen.UDP, SrcPort: uint16(1024 + p.flow), DstPort: 8000,
				Src: netip.AddrFrom4([4]byte{10, byte(p.flow >> 8), byte(p.flow), 1}), Dst: netip.AddrFrom4([4]byte{10, 1, 0, 1})}
			hops := []intgen.Hop{{NodeID: 102, Ingress: 1, Egress: 2, TxUtilization: p.loads[1]}, {NodeID: 101, Ingress: 1, Egress: 2, TxUtilization: p.loads[0]}}
			frame, err := src.Insert(f.Frame(40, uint32(n)), hops)
			if err != nil {
				t.Fatal(err)
			}
			percent := uint32(uint64(p.loads[0]) * 100 / uint64(full))
			want := ports[0].take(p.at, percent, !seen[p.flow])
			if want {
				told++
			}
			seen[p.flow] = true
			b.now, b.network.next = p.at, [][]byte{frame}
			b.worker.Tick(p.at)
			b.worker.Poll()
			got := slices.DeleteFunc(b.take(), func(r Report) bool { return !slices.Contains(r.Events, TxUtilization) })
			busy := b.worker.Busy(p.at)
			var wantBusy []string
			if ports[0].busy {
				wantBusy = append(wantBusy, fmt.Sprintf("101:2 %d since %.3f s", percent, float64(ports[0].since-Epoch)/1e9))
			}
			var gotBusy []string
			for at, i := range busy {
				gotBusy = append(gotBusy, fmt.Sprintf("%d:%d %d since %.3f s", at[0]>>32, uint16(at[0]), i.Utilization, float64(i.Since-Epoch)/1e9))
			}
			if (len(got) == 1) != want || len(got) > 1 || strings.Join(gotBusy, ", ") != strings.Join(wantBusy, ", ") {
				t.Fatalf("seed %d, packet %d, %.3f s, flow %d, %d %%: %d reports, want %v; busy are %q, want %q; the last loads %v", seed, n, float64(p.at-Epoch)/1e9, p.flow, percent, len(got), want,
					gotBusy, wantBusy, ports[0].last[max(0, len(ports[0].last)-6):])
			}
		}
		b.close()
	}
	if t.Log(told); told < 30 {
		t.Errorf("%d reports: the scenes are too easy", told)
	}
}
