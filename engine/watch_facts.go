package engine

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/flows"
)

// facts are what watches may ask of the packet at hand, beyond the flow's key. A
// worker has one, which is overwritten for each packet.
type facts struct {
	vlan   uint16 // of the outermost tag as the frame arrived; 0: untagged
	dscp   uint8  // of the header with the flow's addresses, as it is without INT
	inside bool   // the flow is inside of a tunnel
	hasVNI bool
	vni    uint32     // of the outermost VXLAN, VXLAN-GPE or Geneve tunnel
	inner  *flows.Key // what watches of InnerLayer compare with; nil: there is no tunnel

	nodes     []byte // the hop stack, each hop's node id first
	hopLen    int
	nodeMask  uint32 // of the bits that a node id has
	hasDevice bool
	device    uint64 // domain specific metadata with the role of a device id
	noPath    bool   // the packet is no evidence of the devices on its way

	carried flows.Key // room for inner
	own     originalHeaders
}

// matchWatch finds the watch of the flow of packet j of the burst.
func (w *Worker) matchWatch(b *burst, j int) uint8 {
	if w.watches.asks == 0 {
		return w.watches.match(&b.keys[j], nil)
	}
	w.gather(b, j)
	b.flow[j].Facts = w.factsHash(&w.facts)
	return w.watches.match(&b.keys[j], &w.facts)
}

// factsChanged makes a flow be matched again where this packet has other facts than those
// that its watch was found by. A packet that is no evidence of its path changes
// nothing, where watches ask for devices.
//
//go:noinline
func (w *Worker) factsChanged(b *burst, j int) {
	flow := b.flow[j]
	if flow == nil || b.fresh>>j&1 != 0 || flow.Generation != w.generation {
		return // there is none, or it is matched anyway
	}
	w.gather(b, j)
	if flow.Facts != w.factsHash(&w.facts) && !w.facts.noPath {
		flow.Generation = w.generation - 1
	}
}

// gather takes the facts that watches ask for from packet j of the burst.
func (w *Worker) gather(b *burst, j int) {
	ws, f := w.watches, &w.facts
	i := b.places[j]
	frame, l, info, o := b.vec[i].Bytes(), &b.layers[i], &b.info[i], &b.outers[i]
	f.vlan, f.dscp, f.inside = 0, info.DSCP, info.Depth > 0
	f.hasVNI, f.vni, f.inner, f.hasDevice, f.device, f.noPath, f.nodes = false, 0, nil, false, 0, false, nil
	if !info.UDPv4 { // else it has no tag, and l may be another packet's
		f.vlan = l.VLAN
	}
	if f.inside {
		f.vlan, f.inner = o[0].VLAN, &b.keys[j]
	}
	inserted := info.Marking == inthdr.ByGRE && info.Inserted
	tunnels := ws.asks&(askVNI|askInner) != 0
	if tunnels && !info.UDPv4 || inserted {
		f.own.read(frame, l, info)
		if f.own.inserted {
			f.dscp = f.own.layers.DSCP
		}
	}
	if tunnels {
		w.gatherTunnels(frame, info, o)
	}
	if ws.asks&askDevice != 0 {
		w.gatherDevices(frame, info)
	}
}

// gatherTunnels looks for VNIs and for the packet inside of the flow's.
func (w *Worker) gatherTunnels(frame []byte, info *inthdr.Info, o *inthdr.Outers) {
	f, ports := &w.facts, &w.watches.ports
	for d := 0; d < int(info.Depth) && !f.hasVNI; d++ {
		if p := &o[d]; p.Payload != 0 {
			openTunnel(ports, frame, &originalHeaders{proto: p.Proto, port: p.DstPort, at: int(p.Payload), end: int(p.End)}, f)
		}
	}
	if info.UDPv4 {
		if !ports.Has(info.Orig) {
			return
		}
		f.own = originalHeaders{proto: packet.ProtoUDP, port: info.Orig, at: int(info.End), end: int(info.Size + info.Removed)}
	}
	in := openTunnel(ports, frame, &f.own, f)
	var layers packet.Layers
	if w.watches.asks&askInner == 0 || f.inside || in.at == 0 || packet.ParseInner(frame, in.at, f.own.end, in.etherType, &layers) != packet.OK {
		return
	}
	layersKey(&f.carried, frame, &layers, &inthdr.Info{})
	f.inner = &f.carried
}

// factsHash stands for everything in f that a watch asks for. It is keyed: who sends
// packets cannot choose facts that hash alike.
func (w *Worker) factsHash(f *facts) uint32 {
	h := uint64(0)
	mix := func(v uint64) { h = bits.RotateLeft64((h^v)*w.factsKey, 32) }
	asks := w.watches.asks
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
