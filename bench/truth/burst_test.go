package truth

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
)

// TestBurstsAreAsTheirPackets: packets give the same reports in bursts as one by one, at the same
// times.
func TestBurstsAreAsTheirPackets(t *testing.T) {
	policies := Policies(1000)
	narrow := Policies(1000)
	for i := range narrow {
		narrow[i].Events, narrow[i].Sample = []string{NewFlow, PathChange, HopLatency, Refresh, FlowEnd, UnknownDomain}, 0
	}
	for name, p := range map[string][]Policy{"every event": policies[:], "few events": narrow[:]} {
		t.Run(name, func(t *testing.T) {
			one, many := newBed(t, p, 1<<14, true), newBed(t, p, 1<<14, true)
			c := strict
			c.Floods, c.Flood, c.Burst = 1, 2000, 100e6
			trace := New(c)
			for burst, k := takeBurst(trace, nil); len(burst) > 0; burst, k = takeBurst(trace, k) {
				now := burst[0].Time
				want, got := one.Advance(now), many.Advance(now)
				for _, x := range burst {
					x.Time = now
					want = append(want, one.Packet(x, frameOf(t, x))...)
				}
				got = append(got, many.burst(burst)...)
				if w, g := sorted(want), sorted(got); !slices.Equal(w, g) {
					t.Fatalf("%d packets at %d ns: one by one %v, as a burst %v", len(burst), now-Epoch, w, g)
				}
			}
			one.close()
			many.close()
		})
	}
}

// takeBurst returns the packets of a few milliseconds from k on, and the packet after them.
func takeBurst(t *Trace, k *Packet) (all []*Packet, next *Packet) {
	if k == nil {
		k = t.Next()
	}
	for start := k; k != nil && k.Time < start.Time+5*ms && len(all) < mbuf.MaxBurst; k = t.Next() {
		k.Refused, k.FromHost = false, false // a burst has one port for all its packets
		all = append(all, k)
	}
	return all, k
}

func frameOf(t *testing.T, k *Packet) []byte {
	f, err := k.Frame()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// burst gives the worker packets all at once, and returns the reports.
func (b *bed) burst(all []*Packet) []Report {
	b.now, b.host.refuses = all[0].Time, false
	for _, k := range all {
		b.network.next = append(b.network.next, frameOf(b.t, k))
	}
	if n := b.worker.Poll(); n != len(all) {
		b.t.Fatalf("the worker took %d packets of %d", n, len(all))
	}
	return b.take()
}

func sorted(reports []Report) (all []string) {
	for _, r := range reports {
		all = append(all, fmt.Sprintf("%+v", r))
	}
	slices.SortFunc(all, cmp.Compare)
	return all
}
