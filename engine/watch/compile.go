// Compile: watches into bit vectors per field of the flow key and of facts.

package watch

import (
	"encoding/binary"
	"net/netip"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/flows"
)

// Watches are the watches of one configuration, compiled. Nothing changes them: workers
// share them.
type Watches struct {
	protocol, sourcePort, destinationPort index
	source, destination                   [2]index // IPv4, IPv6
	vlan, dscp, vni, device               index

	own               bitSet // all but those of InnerLayer
	outer, inner      bitSet // those of that layer
	asking            bitSet // those that depend on facts
	anyVNI, anyDevice bitSet // those that do not ask for one

	asks       uint8 // facts that some watch asks for
	collectors []endpoint
	devices    Devices
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

// is reports whether k is the flow of the reports to e.
func (e *endpoint) is(k *flows.Key) bool {
	return k.Dst() == e.addr && k.DstPort() == e.port && k.Version() == e.version && k.Proto() == packet.ProtoUDP
}

// Config is what Compile makes Watches of.
type Config struct {
	Matches    []*Match // of all watches, in order: the first that selects a packet wins
	INT        *inthdr.Config
	Devices    []DeviceField    // what is taken for the id of a device
	Collectors []netip.AddrPort // the reports to them belong to no watch
}

// Compile takes time and memory; it is not for the packet path.
func Compile(c *Config) *Watches {
	ws := &Watches{ports: c.INT.TunnelPorts()}
	for _, c := range c.Collectors {
		a := c.Addr().Unmap()
		ws.collectors = append(ws.collectors, endpoint{words(a), c.Port(), version(a)})
	}
	for i, m := range c.Matches {
		ws.sort(i, m)
	}
	each := func(spans func(m *Match) []span) index {
		all := make([][]span, len(c.Matches))
		for i, m := range c.Matches {
			all[i] = spans(m)
		}
		return newIndex(all)
	}
	for v := range ws.source {
		ws.source[v] = each(func(m *Match) []span { return prefixSpans(m.Source, v == 0) })
		ws.destination[v] = each(func(m *Match) []span { return prefixSpans(m.Destination, v == 0) })
	}
	ws.protocol = each(func(m *Match) []span { return spansOf(m.Protocol, single[uint8]) })
	ws.sourcePort = each(func(m *Match) []span { return spansOf(m.SourcePort, PortRange.span) })
	ws.destinationPort = each(func(m *Match) []span { return spansOf(m.DestinationPort, PortRange.span) })
	ws.vlan = each(func(m *Match) []span { return spansOf(m.VLAN, PortRange.span) })
	ws.dscp = each(func(m *Match) []span { return spansOf(m.DSCP, single[uint8]) })
	ws.vni = each(func(m *Match) []span { return spansOf(m.VNI, VNIRange.span) })
	ws.device = each(func(m *Match) []span { return spansOf(m.Device, single[uint64]) })
	if ws.asks&askDevice != 0 {
		ws.devices = NewDevices(c)
	}
	return ws
}

// Asks reports whether some watch asks for facts: then each packet of a flow may belong to
// another watch.
func (ws *Watches) Asks() bool { return ws.asks != 0 }

// sort puts watch i into the sets that it belongs to.
func (ws *Watches) sort(i int, m *Match) {
	var asks uint8
	for _, f := range []struct {
		ask  uint8
		asks bool
	}{
		{askVLAN, len(m.VLAN) > 0}, {askDSCP, len(m.DSCP) > 0}, {askDevice, len(m.Device) > 0},
		{askVNI, len(m.VNI) > 0}, {askInner, m.Layer == InnerLayer}, {askLayer, m.Layer == OuterLayer},
	} {
		if f.asks {
			asks |= f.ask
		}
	}
	ws.asks |= asks
	if asks != 0 {
		ws.asking.put(i)
	}
	if len(m.VNI) == 0 {
		ws.anyVNI.put(i)
	}
	if len(m.Device) == 0 {
		ws.anyDevice.put(i)
	}
	switch m.Layer {
	case InnerLayer:
		ws.inner.put(i)
		return
	case OuterLayer:
		ws.outer.put(i)
	}
	ws.own.put(i)
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
