// Filter: decides whether a query selects a flow: by prefix of its addresses (IPv4 or 6),
// port, protocol, latency, path or node.

package inspect

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"intsink/flows"
)

// Filter selects flows; its zero value selects all.
type Filter struct {
	Watch                string
	Source, Destination  Prefix
	Address              Prefix // source or destination
	Protocol             *uint8
	Port                 *uint16 // source or destination
	SourcePort, DestPort *uint16
	MinLatency, MinHop   uint32 // nanoseconds, last reported: of the whole way, of some hop
	ByPath               bool
	OnPaths              []uint64 // with ByPath: sorted hashes; the current path's must be among them
	Node                 *uint32  // with ByPath: flows without a known path match by their hops
}

// Prefix is a netip.Prefix as words of a flows.Key; the zero value contains all.
type Prefix struct {
	version     uint8
	value, mask [2]uint64
}

// PrefixOf converts p.
func PrefixOf(p netip.Prefix) Prefix {
	addr, bits := p.Addr(), p.Bits()
	out := Prefix{version: 6}
	if addr.Is4() {
		out.version = 4
		out.mask[1] = 1<<32 - 1<<(32-bits)
		b := addr.As4()
		out.value[1] = uint64(binary.BigEndian.Uint32(b[:])) & out.mask[1]
		return out
	}
	b := addr.As16()
	out.mask[0], out.mask[1] = ^uint64(0)<<(64-min(bits, 64)), ^uint64(0)<<(128-max(bits, 64))
	out.value[0] = binary.BigEndian.Uint64(b[:]) & out.mask[0]
	out.value[1] = binary.BigEndian.Uint64(b[8:]) & out.mask[1]
	return out
}

func (p *Prefix) contains(version uint8, a [2]uint64) bool {
	return p.version == 0 || p.version == version && a[0]&p.mask[0] == p.value[0] && a[1]&p.mask[1] == p.value[1]
}

// match reports whether f is selected. watch is the index of Filter.Watch.
func (c *Filter) match(f *flows.Flow, watch int, generation uint16) bool {
	switch {
	case c.Watch != "" && (int(f.Watch) != watch || f.Generation != generation),
		!c.Fits(&f.Key),
		c.MinLatency > 0 && (!f.EndKnown() || f.EndRef < c.MinLatency),
		c.MinHop > 0 && !c.isSlow(f):
		return false
	}
	return !c.ByPath || c.onPath(f)
}

// Fits reports whether the filter's addresses, ports and protocol select a flow with key k.
func (c *Filter) Fits(k *flows.Key) bool {
	return c.Source.contains(k.Version(), k.Src()) && c.Destination.contains(k.Version(), k.Dst()) &&
		(c.Address.contains(k.Version(), k.Src()) || c.Address.contains(k.Version(), k.Dst())) &&
		(c.Protocol == nil || *c.Protocol == k.Proto()) &&
		(c.Port == nil || *c.Port == k.SrcPort() || *c.Port == k.DstPort()) &&
		(c.SourcePort == nil || *c.SourcePort == k.SrcPort()) && (c.DestPort == nil || *c.DestPort == k.DstPort())
}

// isSlow reports whether some hop's latency, as last reported, is MinHop or more.
func (c *Filter) isSlow(f *flows.Flow) bool {
	ns, known := highest(f.Hops[:min(f.NumHops, flows.MaxHops)])
	return known && ns >= c.MinHop
}

func (c *Filter) onPath(f *flows.Flow) bool {
	if f.NumPaths > 0 {
		_, found := slices.BinarySearch(c.OnPaths, f.PathHash)
		return found
	}
	for i := range min(f.NumHops, flows.MaxHops) {
		if c.Node != nil && f.Hops[i].ID() == *c.Node {
			return true
		}
	}
	return false
}
