package engine

import (
	"encoding/binary"
	"net/netip"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/flows"
)

// watches are the watches of Rules as the packet path asks them. They are made when
// a configuration is read, and not changed.
type watches struct {
	protocol, sourcePort, destinationPort index
	source, destination                   [2]index // IPv4, IPv6
	vlan, dscp, vni, device               index

	own               watchSet // all but those of InnerLayer
	outer, inner      watchSet // those of that layer
	asking            watchSet // those that depend on facts
	anyVNI, anyDevice watchSet // those that do not ask for one

	asks       uint8 // facts that some watch asks for
	collectors []endpoint
	devices    []device // where domains have the id of a device
	ports      packet.TunnelPorts
}

// Facts that watches may ask for.
const (
	askVLAN = 1 << iota
	askDSCP
	askVNI
	askInner // the packet inside of a tunnel
	askLayer // whether the flow is inside of one
	askDevice
)

// endpoint is a collector's address as flow keys have it.
type endpoint struct {
	addr    point
	port    uint16
	version uint8
}

// is tells whether k is the flow of the reports to e.
func (e *endpoint) is(k *flows.Key) bool {
	return k.Dst() == e.addr && k.DstPort() == e.port && k.Version() == e.version && k.Proto() == packet.ProtoUDP
}

// compileWatches takes time and memory; it is not for the packet path.
func compileWatches(r *Rules) *watches {
	ws := &watches{ports: r.INT.TunnelPorts()}
	for _, c := range r.Collectors {
		a := c.Addr().Unmap()
		ws.collectors = append(ws.collectors, endpoint{words(a), c.Port(), version(a)})
	}
	for i := range r.Watches {
		ws.sort(i, &r.Watches[i])
	}
	each := func(spans func(w *Watch) []span) index {
		all := make([][]span, len(r.Watches))
		for i := range r.Watches {
			all[i] = spans(&r.Watches[i])
		}
		return newIndex(all)
	}
	for v := range ws.source {
		ws.source[v] = each(func(w *Watch) []span { return prefixSpans(w.Source, v == 0) })
		ws.destination[v] = each(func(w *Watch) []span { return prefixSpans(w.Destination, v == 0) })
	}
	ws.protocol = each(func(w *Watch) []span { return spansOf(w.Protocol, single[uint8]) })
	ws.sourcePort = each(func(w *Watch) []span { return spansOf(w.SourcePort, PortRange.span) })
	ws.destinationPort = each(func(w *Watch) []span { return spansOf(w.DestinationPort, PortRange.span) })
	ws.vlan = each(func(w *Watch) []span { return spansOf(w.VLAN, PortRange.span) })
	ws.dscp = each(func(w *Watch) []span { return spansOf(w.DSCP, single[uint8]) })
	ws.vni = each(func(w *Watch) []span { return spansOf(w.VNI, VNIRange.span) })
	ws.device = each(func(w *Watch) []span { return spansOf(w.Device, single[uint64]) })
	if ws.asks&askDevice != 0 {
		ws.devices = deviceLayouts(r)
	}
	return ws
}

// sort puts watch i into the sets that it belongs to.
func (ws *watches) sort(i int, w *Watch) {
	var asks uint8
	for _, f := range []struct {
		ask  uint8
		asks bool
	}{
		{askVLAN, len(w.VLAN) > 0}, {askDSCP, len(w.DSCP) > 0}, {askDevice, len(w.Device) > 0},
		{askVNI, len(w.VNI) > 0}, {askInner, w.Layer == InnerLayer}, {askLayer, w.Layer == OuterLayer},
	} {
		if f.asks {
			asks |= f.ask
		}
	}
	ws.asks |= asks
	if asks != 0 {
		ws.asking.put(i)
	}
	if len(w.VNI) == 0 {
		ws.anyVNI.put(i)
	}
	if len(w.Device) == 0 {
		ws.anyDevice.put(i)
	}
	switch w.Layer {
	case InnerLayer:
		ws.inner.put(i)
		return
	case OuterLayer:
		ws.outer.put(i)
	}
	ws.own.put(i)
}

// device is a DeviceField with the layout of its domain.
type device struct {
	bit    uint8
	domain inthdr.Domain
}

func deviceLayouts(r *Rules) (out []device) {
	for _, f := range r.Devices {
		for i := range r.INT.Domains {
			if r.INT.Domains[i].ID == f.Domain {
				out = append(out, device{f.Bit & 15, r.INT.Domains[i]})
			}
		}
	}
	return out
}

// spansOf are those of a watch's list; nil where it is empty.
func spansOf[T any](list []T, f func(T) span) (out []span) {
	for _, t := range list {
		out = append(out, f(t))
	}
	return out
}

func single[T uint8 | uint64](n T) span {
	p := point{0, uint64(n)}
	return span{p, p}
}

func (r PortRange) span() span { return span{point{0, uint64(r.First)}, point{0, uint64(r.Last)}} }
func (r VNIRange) span() span  { return span{point{0, uint64(r.First)}, point{0, uint64(r.Last)}} }

// prefixSpans are the prefixes of one IP version: nil, for every address, where there
// are none of any; empty, for none, where all are of the other version.
func prefixSpans(list []netip.Prefix, four bool) []span {
	if len(list) == 0 {
		return nil
	}
	out := []span{}
	for _, p := range list {
		if p.Addr().Is4() == four {
			out = append(out, prefixSpan(p))
		}
	}
	return out
}

func prefixSpan(p netip.Prefix) span {
	first := words(p.Masked().Addr())
	last := first
	host := p.Addr().BitLen() - p.Bits()
	last[1] |= 1<<min(host, 64) - 1 // a shift of 64 gives zero: all ones
	if host > 64 {
		last[0] |= 1<<(host-64) - 1
	}
	return span{first, last}
}

// words is an address as flows.Key has it.
func words(a netip.Addr) point {
	if a.Is4() {
		b := a.As4()
		return point{0, uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return point{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}

func version(a netip.Addr) uint8 {
	if a.Is4() {
		return 4
	}
	return 6
}
