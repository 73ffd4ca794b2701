package event

import (
	"fmt"
	"testing"
)

// TestUnknownHalves: whatever values of a packet are unknown, each event is told where all values that it needs are known
// and over their thresholds, and no other event is.
func TestUnknownHalves(t *testing.T) {
	const (
		ingress = 1 << iota
		egress
		occupancy
		latency
		tx
		in
		all = 1<<iota - 1
	)
	needs := map[Event]int{
		Congestion: egress | occupancy, TxUtilization: egress | tx, HopLatency: latency,
		LinkLatency: ingress | in, PathChange: ingress | egress, // link_latency: the ingress of the hop behind
	}
	p := watching(Congestion, TxUtilization, HopLatency, LinkLatency, PathChange)
	p.Thresholds.Latency.K, p.Thresholds.LinkLatency.K = 1, 1
	calm := func() []values {
		return []values{
			{node: 8, ports: 0x30004, queue: 1<<24 | 10, latency: 100, in: 5_001_000, out: 5_002_000, tx: 10},
			{node: 7, ports: 0x10002, queue: 1<<24 | 10, latency: 100, in: 4_000_000, out: 5_000_000, tx: 10},
		}
	}
	for unknown := range all + 1 {
		t.Run(fmt.Sprintf("%06b", unknown), func(t *testing.T) {
			f := begun(t, p)
			defer f.d.Close()
			for range 4 {
				f.look(ms, told(calm()...))
			}
			quiet, loud := calm(), calm()
			h := &loud[0]
			h.queue, h.latency, h.tx, h.in = 1<<24|9000, 900_000, 95, 7_000_000
			for _, hop := range []*values{&quiet[0], h} {
				for bit, clear := range map[int]func(){
					ingress: func() { hop.ports |= 0xffff0000 }, egress: func() { hop.ports |= 0xffff },
					occupancy: func() { hop.queue |= 0xffffff }, latency: func() { hop.latency = unknown32 },
					tx: func() { hop.tx = unknown32 }, in: func() { hop.in = unknown64 },
				} {
					if unknown&bit != 0 {
						clear()
					}
				}
			}
			if got := f.look(ms, told(quiet...)); got != 0 {
				t.Errorf("no value over a threshold: %b", got)
			}
			want := Set(0)
			for e, bits := range needs {
				if e != PathChange && unknown&bits == 0 {
					want |= e.Set()
				}
			}
			if got := f.look(second, told(loud...)); got != want {
				t.Errorf("all known values over their thresholds: %b, want %b", got, want)
			}
			other := calm()
			other[1].ports = 0x50006
			if unknown&(ingress|egress) != 0 {
				other[0].ports = quiet[0].ports
			}
			if got, known := f.look(second, told(other...)).Has(PathChange), unknown&needs[PathChange] == 0; got != known {
				t.Errorf("another path: path_change %v, want %v", got, known)
			}
		})
	}
}
