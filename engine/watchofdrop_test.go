package engine

import (
	"bytes"
	"net/netip"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
)

// frameOfARP is a frame without IP.
func frameOfARP() []byte { return append(plain(1)[:12], 0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1) }

// TestDropsAreOfTheirWatch: a packet without a flow that the sink drops is reported with D where the watch that
// selects it has drop, to the collectors of that watch (Telemetry Report 2.0, section 3.3).
func TestDropsAreOfTheirWatch(t *testing.T) {
	tagged := func(id uint16) []byte {
		f := plain(1)
		return append(append(bytes.Clone(f[:12]), 0x81, 0, byte(id>>8), byte(id)), f[12:]...)
	}
	elsewhere := watch.Match{Destination: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}}
	here := watch.Match{Destination: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, SourcePort: []watch.PortRange{{First: 1024, Last: 1024}}}
	for _, x := range []struct {
		name  string
		match watch.Match
		first watch.Match // of a watch in front, without the event; zero: there is none
		frame []byte
		want  bool
	}{
		{"of another destination", elsewhere, watch.Match{}, plain(1), false},
		{"of the watch", here, watch.Match{}, plain(1), true},
		{"of the watch, without INT that could be read", here, watch.Match{}, bad(t, 1), true},
		{"of a watch in front", here, here, plain(1), false},
		{"everything", watch.Match{}, elsewhere, plain(1), true},
		{"no IP, everything", watch.Match{}, here, frameOfARP(), true},
		{"no IP", here, watch.Match{}, frameOfARP(), false},
		{"VLAN", watch.Match{VLAN: []watch.PortRange{{First: 7, Last: 7}}}, watch.Match{}, tagged(7), true},
		{"another VLAN", watch.Match{VLAN: []watch.PortRange{{First: 7, Last: 7}}}, watch.Match{}, tagged(8), false},
		{"VNI", watch.Match{VNI: []watch.VNIRange{{First: 66, Last: 66}}}, watch.Match{}, inVXLAN(t, 66), true},
		{"another VNI", watch.Match{VNI: []watch.VNIRange{{First: 66, Last: 66}}}, watch.Match{}, inVXLAN(t, 67), false},
		{"inner layer", watch.Match{Layer: watch.InnerLayer, Destination: here.Destination}, watch.Match{}, inVXLAN(t, 67), true},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := explained(t, func(r *Rules) {
				r.Watches[0].Match = x.match
				r.Watches[0].Policy.Events = event.Drop.Set()
				if len(x.first.Destination) > 0 {
					r.Watches = []watch.Watch{{Name: "first", Match: x.first, Collectors: 1}, r.Watches[0]}
				}
			})
			b.host.Room = 0
			var want []string
			if x.want {
				want = []string{"drop D drops 1 traffic_manager"}
			}
			b.expect(frames(bytes.Clone(x.frame)), nil, want...)
			b.balance()
		})
	}
}

func inVXLAN(t *testing.T, vni uint32) []byte {
	f, err := tunnel(intgen.VXLAN, true, func(w *intgen.Tunnel) { w.VNI = vni }).Wrap(plain(1))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDropsCountByWatch: what no watch with drop selects does not count as dropped since the last report.
func TestDropsCountByWatch(t *testing.T) {
	b := explained(t, func(r *Rules) {
		r.DropMalformed = true
		r.Watches[0].Match = watch.Match{Source: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}
	})
	b.expect(frames(bad(t, 2), bad(t, 2), bad(t, 1)), nil, "malformed D acl_deny", "drop D drops 1 acl_deny")
	b.balance()
}

// TestReportsWithINTHaveF: where the fragment has INT, F is set, be the packet of a flow or not (Telemetry Report
// 2.0, section 3.4).
func TestReportsWithINTHaveF(t *testing.T) {
	fromHost := withINT(t, plain(1), nil)
	b := explained(t, nil)
	b.network.Room = 0
	b.expect(nil, frames(bytes.Clone(fromHost), plain(2)), "leak F", "drop D F drops 1 traffic_manager")
	b.step(1e9)
	b.host.RX, b.network.RX = frames(plain(2)), frames(bad(t, 3))
	b.Poll()
	for _, r := range b.decoded() {
		if hasINT := len(r.Hops) > 0; r.Tracked || hasINT {
			t.Errorf("F %v, INT %v: %+v", r.Tracked, hasINT, r)
		}
	}
	b.balance()
}

// TestFlagsAreCounted: packets with E and M, watched or not, and reported from the first one on.
func TestFlagsAreCounted(t *testing.T) {
	flagged := func(n int, e, m bool) []byte {
		return withINT(t, plain(n), func(s *intgen.Source, _ []intgen.Hop) { s.HopExceeded, s.MTUExceeded = e, m })
	}
	for _, watched := range []bool{true, false} {
		b := explained(t, func(r *Rules) {
			if r.Watches[0].Policy.Thresholds.HopLimitRearm = 10e9; !watched {
				r.Watches = nil
			}
		})
		var want []string
		if watched {
			want = []string{"new_flow+hop_limit F", "new_flow+hop_limit+mtu_exceeded F"}
		}
		b.expect(frames(flagged(1, true, false), flagged(2, true, true), flagged(1, true, false), withINT(t, plain(1), nil)), nil, want...)
		for range 3 {
			b.expect(frames(flagged(1, true, false)), nil)
		}
		if c := b.Snapshot().Links[0]; c.Flagged != [burst.NumFlags]uint64{burst.HopExceeded: 6, burst.MTUExceeded: 1} {
			b.Tick(b.now + 1e9)
			if c := b.Snapshot().Links[0]; c.Flagged != [burst.NumFlags]uint64{burst.HopExceeded: 6, burst.MTUExceeded: 1} {
				t.Errorf("watched %v: flagged %v", watched, c.Flagged)
			}
		}
		b.balance()
	}
}
