// Compile: makes bit vectors of watches, per field of the flow key and of facts.

package watch

import (
	"net/netip"

	"intsink/engine/classify"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// Watches are the watches of one configuration, compiled. Nothing changes them: workers
// share them.
type Watches struct {
	protocol, sourcePort, destinationPort classify.Index[bitSet]
	source, destination                   [2]classify.Index[bitSet] // IPv4, IPv6
	vlan, dscp, vni, device, ingress      classify.Index[bitSet]

	own               bitSet // all but those of InnerLayer
	outer, inner      bitSet // those of that layer
	asking            bitSet // those that depend on facts
	anyVNI, anyDevice bitSet // those that do not ask for one

	all        []entire // those that select everything of some ports
	asks       uint8    // facts that some watch asks for
	collectors []endpoint
	devices    Devices
	innerKeys  bool // Config.InnerKeys
}

// entire is a watch that selects everything that comes by the ports of its match.
type entire struct {
	watch uint8
	match *Match
}

// Facts that watches may ask for.
const (
	askVLAN = 1 << iota
	askDSCP
	askVNI
	askInner // the packet inside of a tunnel
	askLayer // whether the flow is inside of one
	askDevice
	askLink
)

// endpoint is a collector's address as flow keys have it.
type endpoint struct {
	addr    classify.Point
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
	InnerKeys  bool             // keys are those that Inner makes
}

// Compile takes time and memory; it is not for the packet path.
func Compile(c *Config) *Watches {
	ws := &Watches{innerKeys: c.InnerKeys}
	for _, c := range c.Collectors {
		a := c.Addr().Unmap()
		ws.collectors = append(ws.collectors, endpoint{classify.Address(a), c.Port(), version(a)})
	}
	for i, m := range c.Matches {
		ws.sort(i, m)
		if m.isAll() {
			ws.all = append(ws.all, entire{uint8(i), m})
		}
	}
	each := func(spans func(m *Match) []classify.Span) classify.Index[bitSet] {
		all := make([][]classify.Span, len(c.Matches))
		for i, m := range c.Matches {
			all[i] = spans(m)
		}
		return classify.New(all, func(n int) []bitSet { return make([]bitSet, n) }, (*bitSet).put)
	}
	for v := range ws.source {
		ws.source[v] = each(func(m *Match) []classify.Span { return classify.Prefixes(m.Source, v == 0) })
		ws.destination[v] = each(func(m *Match) []classify.Span { return classify.Prefixes(m.Destination, v == 0) })
	}
	ws.protocol = each(func(m *Match) []classify.Span { return classify.Spans(m.Protocol, classify.Number[uint8]) })
	ws.sourcePort = each(func(m *Match) []classify.Span { return classify.Spans(m.SourcePort, classify.Range[uint16]) })
	ws.destinationPort = each(func(m *Match) []classify.Span { return classify.Spans(m.DestinationPort, classify.Range[uint16]) })
	ws.vlan = each(func(m *Match) []classify.Span { return classify.Spans(m.VLAN, classify.Range[uint16]) })
	ws.dscp = each(func(m *Match) []classify.Span { return classify.Spans(m.DSCP, classify.Number[uint8]) })
	ws.vni = each(func(m *Match) []classify.Span { return classify.Spans(m.VNI, classify.Range[uint32]) })
	ws.device = each(func(m *Match) []classify.Span { return classify.Spans(m.Device, classify.Number[uint64]) })
	ws.ingress = each(func(m *Match) []classify.Span { return classify.Spans(m.Ingress, classify.Number[uint16]) })
	if ws.asks&askDevice != 0 {
		ws.devices = NewDevices(c)
	}
	return ws
}

// AsksInFront returns the facts that watches ask for; ok is false if a watch asks for facts that
// package fast does not find by a template: a VNI, or the packet inside of a tunnel. Facts in
// front of INT or in it have places there.
func (ws *Watches) AsksInFront() (vlan, dscp, layer, device, link, ok bool) {
	has := func(ask uint8) bool { return ws.asks&ask != 0 }
	return has(askVLAN), has(askDSCP), has(askLayer), has(askDevice), has(askLink), !has(askVNI | askInner)
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
		{askVLAN, len(m.VLAN) > 0}, {askDSCP, len(m.DSCP) > 0}, {askDevice, len(m.Device) > 0}, {askLink, len(m.Ingress) > 0},
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

func version(a netip.Addr) uint8 {
	if a.Is4() {
		return 4
	}
	return 6
}
