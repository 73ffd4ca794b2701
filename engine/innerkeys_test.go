package engine

import (
	"bytes"
	"net/netip"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/flows"
)

// TestFlowsByWhatIsInside: in every encapsulation the flow is that of the packet in the tunnel, in the tunnel's virtual
// network; packets that are parsed and those of a template belong to the same one, and leave as ever.
func TestFlowsByWhatIsInside(t *testing.T) {
	forEachEncapsulation(t, func(t *testing.T, e *enclosed) {
		orig, marked := e.frames(t, false)
		b := e.bed(t)
		inner := *b.rules
		inner.InnerKeys = true
		b.Reload(&inner)
		b.step(2e6)
		const packets = 6
		for range packets {
			b.network.RX = frames(marked)
			b.Poll()
		}
		for _, f := range b.host.TX {
			if !bytes.Equal(f, orig) {
				t.Fatalf("forwarded %x\nwant %x", f, orig)
			}
		}
		want := e.key
		tunnel := e.original
		if tunnel == nil {
			tunnel = e.around
		}
		if e.original != nil {
			want = plainKey()
		}
		if tunnel != nil && (tunnel.Encap == intgen.VXLAN || tunnel.Encap == intgen.VXLANGPE || tunnel.Encap == intgen.Geneve) {
			want.SetVNI(7)
		}
		all := b.flows()
		if len(all) != 1 || all[0].Key.Canonical() != want.Canonical() || packetsOf(all[0]) != packets {
			for _, f := range all {
				t.Errorf("%d packets of %v:%d %v:%d, protocol %d", packetsOf(f), f.Key.SrcAddr(), f.Key.SrcPort(), f.Key.DstAddr(), f.Key.DstPort(), f.Key.Proto())
			}
			t.Errorf("%d flows, want one of %v:%d", len(all), want.SrcAddr(), want.SrcPort())
		}
		b.balance()
	})
}

func packetsOf(f *flows.Flow) int {
	n, _ := f.Totals()
	return int(n)
}

// plainKey is the key of plain(1).
func plainKey() (k flows.Key) {
	k.SetAddrs(netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.1.0.1"))
	k.SetPorts(4, intgen.UDP, 1024, 8000)
	return k
}

// TestNetworksAreToldApart: the same addresses in other virtual networks are other flows; without the attribute all are
// the tunnel's.
func TestNetworksAreToldApart(t *testing.T) {
	vnis := []uint32{0, 7, 8, 1 << 23, 1<<24 - 1}
	for _, inner := range []bool{false, true} {
		b := newBed(t, func(r *Rules) { r.InnerKeys = inner })
		for range 5 {
			for _, vni := range vnis {
				b.network.RX = append(b.network.RX, withINT(t, inVXLAN(t, vni), nil))
			}
			b.Poll()
		}
		found := map[uint32]int{}
		for _, f := range b.flows() {
			vni, _ := f.Key.VNI()
			if found[vni] += packetsOf(f); packetsOf(f) != 5 && inner {
				t.Errorf("VNI %d: %d packets", vni, packetsOf(f))
			}
		}
		if want := map[bool]int{true: len(vnis), false: 1}[inner]; len(found) != want || len(b.flows()) != want {
			t.Errorf("inner %v: %v", inner, found)
		}
		b.balance()
	}
}
