// Makes the original packets and tunnels of generated flows.

package gen

import (
	"encoding/binary"
	"net/netip"

	"intsink/engine/wire/intgen"
)

// tunnels are the values of --tunnel, and what the original packets of some
// encapsulations are.
var tunnels = map[string]intgen.Encap{
	"vxlan": intgen.VXLAN, "vxlan-gpe": intgen.VXLANGPE, "geneve": intgen.Geneve, "gre": intgen.OverGRE, "ipip": intgen.IPIP,
}

// packet is packet id of flow n as it was, and as it leaves: with INT of g.hops, or
// the same.
func (g *generator) packet(n int, id uint32, marked bool) (orig, out []byte, err error) {
	orig = g.flow(n).Frame(g.payload, id)
	if g.carrier != "" {
		if orig, err = g.tunnel(g.carrier, n).Wrap(orig); err != nil {
			return nil, nil, err
		}
	}
	out = orig
	if marked {
		if out, err = g.source.Insert(orig, g.hops); err != nil {
			return nil, nil, err
		}
	}
	if g.f.tunnel == "none" {
		return orig, out, nil
	}
	t := g.tunnel(g.f.tunnel, n)
	if orig, err = t.Wrap(orig); err != nil {
		return nil, nil, err
	}
	out, err = t.Wrap(out)
	return orig, out, err
}

// flow is the n-th flow, in the VLAN where no tunnel's frame has it.
func (g *generator) flow(n int) *intgen.Flow {
	f := intgen.NthFlow(n, g.f.proto == "tcp", g.f.ipv6)
	if g.carrier == "" && g.f.tunnel == "none" {
		f.VLAN = g.f.vlan
	}
	return f
}

// tunnel returns the tunnel of flow n. Each flow has its own, so that a sink that watches the
// tunnels sees as many flows. All checksums are set, so that the sink has to restore them.
func (g *generator) tunnel(name string, n int) *intgen.Tunnel {
	t := &intgen.Tunnel{
		Encap: tunnels[name], SrcMAC: [6]byte{2, 0, 0, 0, 0, 0x11}, DstMAC: [6]byte{2, 0, 0, 0, 0, 0x12}, VLAN: g.f.vlan,
		SrcPort: 0xc000 | uint16(n)&0x3fff, VNI: 7, Checksum: true,
	}
	t.Ethernet = t.Encap != intgen.OverGRE // IP in GRE; IP in IP anyway
	t.Src, t.Dst = tunnelAddrs(n, g.f.ipv6)
	return t
}

// tunnelAddrs are the endpoints of the n-th tunnel.
func tunnelAddrs(n int, ipv6 bool) (src, dst netip.Addr) {
	n++
	if ipv6 {
		a := [16]byte{0: 0x20, 1: 0x01, 2: 0x0d, 3: 0xb8, 4: 0xff, 5: 0xff}
		binary.BigEndian.PutUint32(a[12:], uint32(n))
		b := a
		b[7] = 1
		return netip.AddrFrom16(a), netip.AddrFrom16(b)
	}
	return netip.AddrFrom4([4]byte{172, 16, byte(n >> 8), byte(n)}), netip.AddrFrom4([4]byte{172, 17, 0, byte(n >> 16)})
}
