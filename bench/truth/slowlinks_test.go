package truth

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"intsink/engine"
	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
)

// linkSample is one packet on a link.
type linkSample struct {
	at  int64
	far bool // its latency is far above what is usual
}

// slowLinkModel is one link that is held against what is usual, with all its packets.
type slowLinkModel struct {
	all      []linkSample // since the last silence
	slow     bool         // three of the last four were far, and since then not fewer than two
	since    int64        // the first far one
	known    bool         // the collector knows that it is slow
	last     uint32       // what it was told last
	lastAt   int64
	well     int64 // since when it is as usual; 0: it is not
	wasWell  int64 // when it became so the last time
	mustLast time.Duration
}

// take models one packet: it returns the reason for its report, "" where there is none.
func (m *slowLinkModel) take(at int64, ns uint32, far, first bool) string {
	if n := len(m.all); n > 0 && at-m.all[n-1].at >= 10*s {
		m.all, m.slow = nil, false
	}
	m.all = append(m.all, linkSample{at, far})
	last := m.all[max(0, len(m.all)-4):]
	n := 0
	for _, x := range last {
		if x.far {
			n++
		}
	}
	if m.slow && n < 2 {
		m.slow = false
	} else if !m.slow && n >= 3 {
		m.slow, m.since = true, m.firstFar()
	}
	if first {
		return ""
	}
	tell := func(why string) string { m.last, m.lastAt = ns, at; return why }
	switch {
	case !m.known && m.slow && far && at-m.since >= 1500*ms:
		m.known, m.well, m.mustLast = true, 0, time.Second
		if since := time.Duration(at - m.wasWell); m.wasWell != 0 && since < time.Minute {
			m.mustLast = max(time.Second, min(2*since, time.Minute))
		}
		return tell("slow")
	case !m.known:
	case m.slow || far:
		if m.well = 0; far && ns >= 2*m.last && at-m.lastAt >= s {
			return tell("slower")
		}
	case m.well == 0:
		m.well = at
	case time.Duration(at-m.well) >= m.mustLast:
		m.known, m.wasWell = false, m.well
		return tell("as usual")
	}
	return ""
}

// firstFar is the first far packet before which there are four in a row that are not, none of those behind.
func (m *slowLinkModel) firstFar() (at int64) {
	calm := 0
	for _, x := range slices.Backward(m.all) {
		if calm++; x.far {
			at, calm = x.at, 0
		} else if calm == 4 {
			break
		}
	}
	return at
}

// String shows what is known of the link.
func (m *slowLinkModel) String() string {
	at := func(t int64) float64 { return float64(max(t-Epoch, 0)) / 1e9 }
	return fmt.Sprintf("slow %v since %.3f s, known %v, last %d at %.3f s, well since %.3f s, before %.3f s, the last packets %v", m.slow, at(m.since), m.known, m.last,
		at(m.lastAt), at(m.well), at(m.wasWell), m.all[max(0, len(m.all)-6):])
}

// linkPacket is a packet on a way with two links.
type linkPacket struct {
	at    int64
	flow  int
	takes [2]uint32 // of each link, ns
}

// linkScene is a way whose links are calm for three minutes, then each slow, worse and calm again, at its own times, with spikes, values
// that are high and not far, and now and then half a minute without a packet.
func linkScene(seed uint64) (all []linkPacket) {
	r := rand.New(rand.NewPCG(seed, 11))
	at, flows := Epoch, 1+r.IntN(12)
	level, until := [2]uint32{}, [2]int64{Epoch + 180*s, Epoch + 180*s + r.Int64N(20*s)}
	gap := 12*ms + r.Int64N(60*ms)
	for at < Epoch+480*s {
		at += gap/2 + r.Int64N(gap)
		if at > Epoch+180*s && r.IntN(2000) == 0 {
			at += r.Int64N(25 * s)
		}
		p := linkPacket{at: at, flow: r.IntN(flows)}
		if r.IntN(500) == 0 {
			flows++ // a new one
		}
		for i := range p.takes {
			if at >= until[i] {
				until[i] = at + r.Int64N(int64([]int64{s, 3 * s, 20 * s, 90 * s}[r.IntN(4)]))
				level[i] = []uint32{0, 0, 130_000, 300_000, 900_000, 5_000_000}[r.IntN(6)]
			}
			switch p.takes[i] = 2000 + r.Uint32N(8000); {
			case level[i] > 0 && r.IntN(10) > 0:
				p.takes[i] = level[i] + r.Uint32N(level[i]/4)
			case at > Epoch+180*s && r.IntN(300) == 0:
				p.takes[i] = 120_000 + r.Uint32N(10_000_000) // a spike
			case r.IntN(1000) == 0:
				p.takes[i] = 40_000
			}
		}
		all = append(all, p)
	}
	return all
}

// TestSlowLinksAreThoseOfTheModel: where each packet is a sample, links that are held against what is usual are reported by the packets that
// the model names, and by no other.
func TestSlowLinksAreThoseOfTheModel(t *testing.T) {
	told := map[string]int{}
	for seed := range uint64(8) {
		th := event.Thresholds{LinkAuto: true, LinkLatency: event.Deadband{Interval: s}, CongestionFactor: 8, CongestionLatency: 100_000}
		rules := congestionOnly(th)
		rules.Watches[0].Collectors, rules.Watches[0].Policy.Events, rules.Report.Explain, rules.Report.MaxReports = 1, event.LinkLatency.Set(), true, 1
		rules.Report.MdBits, rules.Report.Fragment = report.MdInterfaces|report.MdIngressTimestamp, 400
		b := newBedOf(t, rules, engine.NewShared(1, seed+1), 5, 1<<12)
		var links [2]slowLinkModel
		seen := map[int]bool{}
		src := intgen.Source{UDPPort: INTPort, Bitmap: bitNode | bitInterfaces | bitLatency | bitIngress | bitEgress, MaxHops: 5}
		for n, p := range linkScene(seed) {
			f := intgen.Flow{SrcMAC: [6]byte{2}, DstMAC: [6]byte{4}, Proto: intgen.UDP, SrcPort: uint16(1024 + p.flow), DstPort: 8000,
				Src: netip.AddrFrom4([4]byte{10, 0, byte(p.flow), 1}), Dst: netip.AddrFrom4([4]byte{10, 1, 0, 1})}
			var hops []intgen.Hop // the sink's first
			stamp := uint64(p.at)
			for i := range 3 {
				h := intgen.Hop{NodeID: uint32(101 + i), Ingress: 1, Egress: 2, LatencyNs: 1000, IngressTimestamp: stamp, EgressTimestamp: stamp + 1000}
				if stamp += 1000; i < 2 {
					stamp += uint64(p.takes[i])
				}
				hops = append([]intgen.Hop{h}, hops...)
			}
			frame, err := src.Insert(f.Frame(40, uint32(n)), hops)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for i := range links {
				far := p.takes[i] >= 120_000
				if why := links[i].take(p.at, p.takes[i], far, !seen[p.flow]); why != "" {
					want = append(want, fmt.Sprintf("link %d %s", i, why))
					told[why]++
				}
			}
			seen[p.flow] = true
			b.now, b.network.next = p.at, [][]byte{frame}
			b.worker.Tick(p.at)
			b.worker.Poll()
			if got := b.take(); len(got) != min(1, len(want)) {
				t.Fatalf("seed %d, packet %d, %.3f s, %v ns: %d reports, want %q; links %s", seed, n, float64(p.at-Epoch)/1e9, p.takes, len(got), want, []string{links[0].String(), links[1].String()})
			}
		}
		b.close()
	}
	if t.Log(told); told["slow"] < 20 || told["slower"] < 10 || told["as usual"] < 10 {
		t.Errorf("reported %v: the scenes are too easy", told)
	}
}
