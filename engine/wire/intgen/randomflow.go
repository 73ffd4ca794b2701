// Makes random original packets: flows, addresses, IP and TCP options, extension headers,
// tunnels.

package intgen

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
)

// randomOriginal returns a packet into which s can put its INT: a tunnel where the marking needs
// one, and sometimes where it does not.
func randomOriginal(r *rand.Rand, s *Source) []byte {
	tunnels := []Encap{VXLAN, VXLANGPE, Geneve, OverGRE, IPIP}
	needed := false
	switch s.Marking {
	case ByDSCP, ByProbeMarker:
		tunnels = tunnels[:1] // a sink would look for GPE and Geneve behind these ports
	case ByGRE:
		needed, tunnels = !s.GREInserted, []Encap{OverGRE}
	case ByVXLANGPE:
		needed, tunnels = true, []Encap{VXLANGPE}
		if s.FromVXLAN {
			tunnels = []Encap{VXLAN}
		}
	case ByGeneve:
		needed, tunnels = true, []Encap{Geneve}
	}
	f := randomFlow(r, s.Marking == ByDSCP || s.Marking == ByProbeMarker)
	plain := s.Marking != ByDSCP && one(r, 4)
	if plain {
		f.DSCP = 0
	}
	n := r.IntN(120)
	if one(r, 4) {
		n = r.IntN(1400)
	}
	id := r.Uint32()
	if id&0xff == 1 {
		id++ // such a payload would start with the probe marker
	}
	b := f.Frame(n, id)
	spoil(r, b)
	if !needed && !one(r, 5) {
		return b
	}
	tunnel := randomTunnel(r, tunnels[r.IntN(len(tunnels))])
	if plain {
		tunnel.DSCP = 0
	}
	out, err := tunnel.Wrap(b)
	if err != nil {
		return b
	}
	spoil(r, out)
	return out
}

// randomFlow returns a flow of TCP, UDP or, unless l4, something else.
func randomFlow(r *rand.Rand, l4 bool) *Flow {
	f := &Flow{SrcMAC: randomMAC(r), DstMAC: randomMAC(r), Proto: TCP, DSCP: randomDSCP(r)}
	f.Src, f.Dst = randomAddrs(r)
	f.SrcPort, f.DstPort = uint16(1024+r.IntN(60000)), uint16(1+r.IntN(4700))
	switch r.IntN(4) {
	case 0:
		f.VLAN = randomTag(r)
	case 1:
		f.VLANs = []uint16{randomTag(r), randomTag(r)}
	}
	switch k := r.IntN(5); {
	case k == 0 && !l4:
		f.Proto = [...]uint8{1, 50, 51, 58, 89, 132}[r.IntN(6)]
	case k < 3:
		f.Proto = UDP
	case one(r, 2):
		f.TCPOptions = randomTCPOptions(r)
	}
	if one(r, 4) {
		f.IPOptions = randomIPOptions(r)
		f.Extensions = randomExtensions(r)
	}
	return f
}

// randomDSCP is neither zero, which a shim that carries the DSCP cannot tell from
// "none", nor the mark of Random's sources.
func randomDSCP(r *rand.Rand) uint8 {
	for {
		if v := uint8(1 + r.IntN(63)); v != 23 {
			return v
		}
	}
}

func randomTag(r *rand.Rand) uint16 { return uint16(r.IntN(8))<<13 | uint16(1+r.IntN(4094)) }

// randomMAC returns a unicast address.
func randomMAC(r *rand.Rand) (mac [6]byte) {
	copy(mac[:], randomBytes(r, 6))
	mac[0] &^= 1
	return mac
}

// randomAddrs are two addresses of one family.
func randomAddrs(r *rand.Rand) (src, dst netip.Addr) {
	if one(r, 2) {
		return netip.AddrFrom4([4]byte(append([]byte{10}, randomBytes(r, 3)...))),
			netip.AddrFrom4([4]byte(append([]byte{192}, randomBytes(r, 3)...)))
	}
	return netip.AddrFrom16([16]byte(append([]byte{0x20, 0x01, 0x0d, 0xb8}, randomBytes(r, 12)...))),
		netip.AddrFrom16([16]byte(append([]byte{0x20, 0x01, 0x0d, 0xb8}, randomBytes(r, 12)...)))
}

// randomIPOptions returns a router alert (RFC 2113) and up to 36 times "no operation".
func randomIPOptions(r *rand.Rand) []byte {
	b := []byte{0x94, 4, 0, 0}
	for range 4 * r.IntN(10) {
		b = append(b, 1)
	}
	return b
}

// randomTCPOptions are timestamps (RFC 7323) and up to 28 times "no operation".
func randomTCPOptions(r *rand.Rand) []byte {
	b := append([]byte{1, 1, 8, 10}, randomBytes(r, 8)...)
	for range 4 * r.IntN(8) {
		b = append(b, 1)
	}
	return b
}

// randomExtensions are hop-by-hop options, destination options or both; PadN fills
// them.
func randomExtensions(r *rand.Rand) (es []Extension) {
	k := 1 + r.IntN(3)
	for i, h := range [...]uint8{HopByHop, DestinationOptions} {
		if k&(1<<i) != 0 {
			n := r.IntN(30)
			es = append(es, Extension{h, append([]byte{1, uint8(n)}, make([]byte, n)...)})
		}
	}
	return es
}

// randomTunnel has valid checksums, which spoil may change.
func randomTunnel(r *rand.Rand, e Encap) *Tunnel {
	t := &Tunnel{
		Encap: e, SrcMAC: randomMAC(r), DstMAC: randomMAC(r), DSCP: randomDSCP(r), VNI: r.Uint32() & 0xffffff,
		Ethernet: one(r, 2), Checksum: e != OverGRE || one(r, 2), Key: one(r, 3), Sequence: one(r, 3),
	}
	t.Src, t.Dst = randomAddrs(r)
	switch r.IntN(4) {
	case 0:
		t.VLAN = randomTag(r)
	case 1:
		t.VLANs = []uint16{randomTag(r), randomTag(r)}
	}
	if one(r, 4) {
		t.IPOptions, t.Extensions = randomIPOptions(r), randomExtensions(r)
	}
	for range r.IntN(4) {
		t.Options = append(t.Options, randomOption(r))
	}
	return t
}

// randomOption returns a Geneve option of class 0x0102 with at most four words of data.
func randomOption(r *rand.Rand) []byte {
	words := r.IntN(5)
	b := binary.BigEndian.AppendUint32(nil, 0x0102<<16|r.Uint32N(256)<<8|uint32(words))
	return append(b, randomBytes(r, 4*words)...)
}

// RandomTunnel is any tunnel, with a valid checksum or none. Its source port does
// not depend on what is inside.
func RandomTunnel(r *rand.Rand) *Tunnel {
	t := randomTunnel(r, Encap(r.IntN(int(IPIP)+1)))
	t.Checksum, t.SrcPort = one(r, 2), uint16(1+r.IntN(0xffff))
	return t
}
