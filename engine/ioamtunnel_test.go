package engine

import (
	"bytes"
	"net/netip"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
)

// tunnelEnd is where tunnels end in these tests.
var tunnelEnd = netip.MustParseAddr("2001:db8:1::2")

func newEndingBed(t *testing.T) *bed {
	return newIOAMBed(t, func(r *Rules) {
		r.INT.IOAM = &ioam.Config{Namespaces: []uint16{123}, Ends: [][16]byte{tunnelEnd.As16()}}
		r.Watches[0].Policy.Thresholds.DropInterval = 1e9
	})
}

// inTunnel puts a packet into a tunnel with IOAM, whose IPv6 header has that ECN field.
func inTunnel(t *testing.T, orig []byte, end netip.Addr, ecn byte) []byte {
	t.Helper()
	s := intgen.Source{Marking: intgen.ByIOAM, Formats: intgen.Formats{IOAM: intgen.IOAM{Tunnel: true}}, OuterSrc: netip.MustParseAddr("2001:db8:1::1"), OuterDst: end}
	marked, err := s.Insert(bytes.Clone(orig), []intgen.Hop{{NodeID: 2, Ingress: 1, Egress: 2}, {NodeID: 1, Ingress: 1, Egress: 2}})
	if err != nil {
		t.Fatal(err)
	}
	setECN(marked, 14, ecn)
	return marked
}

// TestTunnelsEndHere: hosts get what was put into the tunnel, with what queues wrote into the ECN field of the tunnel (RFC 6040); flows
// are those inside.
func TestTunnelsEndHere(t *testing.T) {
	b := newEndingBed(t)
	var want [][]byte
	dropped := uint64(0)
	for n := range 4 * 4 * 3 * 2 {
		inner, outer := byte(n>>2&3), byte(n&3)
		orig := intgen.NthFlow(n%2, n%3 == 0, n%2 == 0).Frame(20, 1)
		setECN(orig, 14, inner)
		if b.network.RX = append(b.network.RX, inTunnel(t, orig, tunnelEnd, outer)); n%5 == 0 {
			b.Poll()
		}
		if ecn := rfc6040[inner][outer]; ecn == 9 {
			dropped++
		} else {
			setECN(orig, 14, ecn)
			want = append(want, orig)
		}
	}
	b.Poll()
	if len(b.host.TX) != len(want) {
		t.Fatalf("%d packets left, want %d", len(b.host.TX), len(want))
	}
	for n := range want {
		if !bytes.Equal(b.host.TX[n], want[n]) {
			t.Errorf("packet %d left as %x\nwant %x", n, b.host.TX[n], want[n])
		}
	}
	b.step(2e6)
	l := b.Snapshot().Links[0]
	if d := l.Direction[burst.ToHost].Dropped[burst.DropCongested]; d != dropped || dropped == 0 || l.Decapsulated != uint64(len(want)) || l.INT[inthdr.IOAM] != uint64(len(want))+dropped {
		t.Errorf("%d dropped, want %d; %d tunnels ended, want %d; %v", d, dropped, l.Decapsulated, len(want), l.INT)
	}
	if b.detector.Counters.Fired[event.NewFlow] != 4 || len(b.flows()) != 4 {
		t.Errorf("%d flows, %d new", len(b.flows()), b.detector.Counters.Fired[event.NewFlow])
	}
	for _, f := range b.flows() {
		if f.NumPaths == 0 {
			t.Error("a flow has no path")
		}
	}
	b.balance()
}

// TestTunnelsInTunnels: of tunnels in each other that end here none is left, and those of others stay; INT inside goes.
func TestTunnelsInTunnels(t *testing.T) {
	port := intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 4}
	b := newEndingBed(t)
	orig := plain6(1, 0)
	withINT, err := port.Insert(orig, []intgen.Hop{{NodeID: 1}})
	if err != nil {
		t.Fatal(err)
	}
	foreign := netip.MustParseAddr("2001:db8:1::3")
	twice := inTunnel(t, inTunnel(t, orig, tunnelEnd, 0), tunnelEnd, 0)
	for _, x := range []struct {
		sent, want []byte
		ended      uint64
	}{
		{twice, orig, 2},
		{inTunnel(t, withINT, tunnelEnd, 0), orig, 1},
		{inTunnel(t, withIOAM(t, orig, nil), tunnelEnd, 0), orig, 1},
		{inTunnel(t, orig, foreign, 0), tunnelOnly(t, orig, foreign), 0},
	} {
		was := b.Snapshot().Links[0].Decapsulated
		b.host.TX = b.host.TX[:0]
		b.send(x.sent)
		if len(b.host.TX) != 1 || !bytes.Equal(b.host.TX[0], x.want) {
			t.Fatalf("%x left of %x, want %x", b.host.TX, x.sent, x.want)
		}
		b.step(2e6)
		if n := b.Snapshot().Links[0].Decapsulated - was; n != x.ended {
			t.Errorf("%d tunnels ended, want %d", n, x.ended)
		}
	}
	b.balance()
}

// tunnelOnly is a packet in a tunnel that has lost its IOAM.
func tunnelOnly(t *testing.T, orig []byte, end netip.Addr) []byte {
	tunnel := inTunnel(t, orig, end, 0)
	at := 14 + 40
	next, size := tunnel[at], 8+8*int(tunnel[at+1])
	out := append(bytes.Clone(tunnel[:at]), tunnel[at+size:]...)
	out[14+6] = next
	n := len(out) - at
	out[18], out[19] = byte(n>>8), byte(n)
	return out
}
