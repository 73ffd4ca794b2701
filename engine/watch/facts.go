// Facts: reads what watches ask of a packet (VLAN, DSCP, VNI, inner packet, devices), and
// hashes it.

package watch

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// Packet is a packet with INT, as parse and lookup left it.
type Packet struct {
	Frame  []byte         // its first segment
	Layers *packet.Layers // that INT is marked in
	Info   *inthdr.Info
	Outers *inthdr.Outers // Info.Depth of them
	Key    *flows.Key     // of the flow

	Ingress uint16 // IngressOf
	Locator *inthdr.Locator
}

// Facts are what watches may ask of a packet beyond the key of its flow. A worker has
// one, which Read overwrites for each packet.
type Facts struct {
	link    uint8 // number of the ingress's link, from 1 on
	ingress uint16
	vlan    uint16 // of the outermost tag as the frame arrived; 0: untagged
	dscp    uint8  // of the header with the flow's addresses, as it is without INT
	inside  bool   // the flow is inside of a tunnel
	hasVNI  bool
	vni     uint32     // of the outermost VXLAN, VXLAN-GPE or Geneve tunnel
	inner   *flows.Key // what watches of InnerLayer compare with; nil: there is no tunnel

	nodes     []byte // the hop stack, each hop's node id first
	hopLen    int
	nodeMask  uint32 // of the bits that a node id has
	hasDevice bool
	device    uint64 // domain specific metadata with the role of a device id
	noPath    bool   // the packet is no evidence of the devices on its path

	hashKey uint64    // odd
	carried flows.Key // room for inner
	own     originalHeaders
}

// NewFacts returns facts; seed is the key of their Hash, so that senders cannot choose facts with
// the same hash.
func NewFacts(seed uint64) *Facts { return &Facts{hashKey: seed*0x9e3779b97f4a7c15 | 1} }

// HashKey returns the key of Hash.
func (f *Facts) HashKey() uint64 { return f.hashKey }

// NoPath reports that the packet is no evidence of its path: watches that ask for devices
// keep the flow.
func (f *Facts) NoPath() bool { return f.noPath }

// Read takes the facts that ws asks for from p.
func (f *Facts) Read(ws *Watches, p *Packet) {
	info := p.Info
	f.ingress, f.link = p.Ingress, uint8(p.Ingress/2+1)
	f.vlan, f.dscp, f.inside = p.Layers.VLAN, info.DSCP, info.Depth > 0
	f.hasVNI, f.vni, f.inner, f.hasDevice, f.device, f.noPath, f.nodes = false, 0, nil, false, 0, false, nil
	if f.inside {
		f.vlan, f.inner = p.Outers[0].VLAN, p.Key
	}
	inserted := info.Unwraps()
	tunnels := ws.asks&(askVNI|askInner) != 0 || ws.innerKeys
	if tunnels || inserted {
		f.own.read(p.Frame, p.Layers, info)
		if f.own.inserted {
			f.dscp = f.own.layers.DSCP
		}
	}
	if tunnels {
		f.readTunnels(ws, p)
	}
	if ws.asks&askDevice != 0 {
		f.readDevices(ws, p)
	}
}

// readTunnels looks for VNIs and for the packet inside of the flow's.
func (f *Facts) readTunnels(ws *Watches, p *Packet) {
	in := f.open(p)
	var l packet.Layers
	if ws.asks&askInner == 0 && !ws.innerKeys || f.inside || in.at == 0 || packet.ParseInner(p.Frame, in.at, f.own.end, in.etherType, &l) != packet.OK {
		return
	}
	if ws.innerKeys {
		f.inside, f.inner = true, p.Key
		return
	}
	f.carried.SetAddrs(addresses(p.Frame, &l))
	f.carried.SetPorts(l.IPVersion, l.Proto, l.SrcPort, l.DstPort)
	f.inner = &f.carried
}

// open finds the VNI, and the packet inside of the tunnel that the flow is, once own is read.
func (f *Facts) open(p *Packet) inside {
	for d := 0; d < int(p.Info.Depth) && !f.hasVNI; d++ {
		if o := &p.Outers[d]; o.Payload != 0 {
			openTunnel(p.Locator.TunnelPorts(), p.Frame, &originalHeaders{proto: o.Proto, port: o.DstPort, at: int(o.Payload), end: int(o.End)}, f)
		}
	}
	return openTunnel(p.Locator.TunnelPorts(), p.Frame, &f.own, f)
}

// Inner makes p.Key, which is that of p's flow, the key of the flow inside of the tunnel: of what the flow carries, or the
// flow's own where it is inside of one; with the tunnel's VNI. It returns false where there is no tunnel.
func (f *Facts) Inner(p *Packet) bool {
	f.hasVNI = false
	f.own.read(p.Frame, p.Layers, p.Info)
	in, inside := f.open(p), p.Info.Depth > 0
	var l packet.Layers
	if !inside && in.at != 0 && packet.ParseInner(p.Frame, in.at, f.own.end, in.etherType, &l) == packet.OK {
		p.Key.SetAddrs(addresses(p.Frame, &l))
		p.Key.SetPorts(l.IPVersion, l.Proto, l.SrcPort, l.DstPort)
		inside = true
	}
	if inside && f.hasVNI {
		p.Key.SetVNI(f.vni)
	}
	return inside
}

// addresses returns the addresses of the IP header that l describes.
func addresses(frame []byte, l *packet.Layers) (src, dst netip.Addr) {
	h := frame[l.L3:]
	if l.IPVersion == 4 {
		return netip.AddrFrom4([4]byte(h[12:])), netip.AddrFrom4([4]byte(h[16:]))
	}
	return netip.AddrFrom16([16]byte(h[8:])), netip.AddrFrom16([16]byte(h[24:]))
}

// Hash returns a hash of everything in f that a watch of ws asks for.
func (f *Facts) Hash(ws *Watches) uint32 {
	h := uint64(0)
	mix := func(v uint64) { h = bits.RotateLeft64((h^v)*f.hashKey, 32) }
	asks := ws.asks
	word := uint64(0)
	if asks&askVLAN != 0 {
		word = uint64(f.vlan)
	}
	if asks&askDSCP != 0 {
		word |= uint64(f.dscp) << 16
	}
	if asks&(askLayer|askInner) != 0 && f.inside {
		word |= 1 << 24
	}
	if asks&askVNI != 0 && f.hasVNI {
		word |= 1<<25 | uint64(f.vni)<<32
	}
	if asks&askLink != 0 {
		word |= uint64(f.link) << 56
	}
	mix(word)
	if k := f.inner; k != nil && !f.inside {
		src, dst := k.Src(), k.Dst()
		mix(src[0])
		mix(src[1])
		mix(dst[0])
		mix(dst[1])
		mix(uint64(k.SrcPort())<<32 | uint64(k.DstPort())<<16 | uint64(k.Proto())<<8 | uint64(k.Version()))
	}
	for s := f.nodes; len(s) >= 4; s = s[min(f.hopLen, len(s)):] {
		mix(uint64(binary.BigEndian.Uint32(s)))
	}
	if f.hasDevice {
		mix(f.device)
	}
	mix(1) // spreads the last one
	return uint32(h >> 32)
}
