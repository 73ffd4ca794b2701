package flows

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

// TestKeysWithVNI: whatever a key says it says with a VNI, too, and two keys are equal where all of it is.
func TestKeysWithVNI(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	for range 100_000 {
		var k, plain Key
		version, proto := uint8(4), uint8(r.Uint32())
		src, dst := netip.AddrFrom4([4]byte{10, 0, 0, byte(r.Uint32())}), netip.AddrFrom4([4]byte{10, 0, 1, 1})
		if r.IntN(2) == 0 {
			version = 6
			src, dst = netip.AddrFrom16([16]byte{0x20, 15: byte(r.Uint32())}), netip.AddrFrom16([16]byte{0x20, 1})
		}
		if r.IntN(2) == 0 {
			proto = withPorts[r.IntN(len(withPorts))]
		}
		var sport, dport uint16
		if HasPorts(proto) {
			sport, dport = uint16(r.Uint32()), uint16(r.Uint32())
		}
		vni := r.Uint32N(1 << 24)
		k.SetAddrs(src, dst)
		k.SetPorts(version, proto, sport, dport)
		plain = k
		k.SetVNI(vni)
		if got, ok := k.VNI(); !ok || got != vni || k.Version() != version || k.Proto() != proto || k.SrcPort() != sport || k.DstPort() != dport || k.SrcAddr() != src || k.DstAddr() != dst || k.removed() {
			t.Fatalf("VNI %d, IPv%d, %d, %v:%d-%v:%d: %v %v", vni, version, proto, src, sport, dst, dport, got, k)
		}
		other := plain
		other.SetVNI(vni ^ 1<<r.IntN(24))
		same := plain
		same.SetVNI(vni)
		if _, ok := plain.VNI(); ok || k.Equal(&plain) || k.Equal(&other) || !k.Equal(&same) || k.Canonical() != same.Canonical() {
			t.Fatalf("VNI %d: %v, plain %v, other %v", vni, k, plain, other)
		}
	}
}
