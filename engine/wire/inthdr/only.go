// Only: INT is looked for in packets of some VLANs or prefixes alone.

package inthdr

import (
	"net/netip"

	"intsink/engine/wire/packet"
)

// Only says which packets may carry INT, by their outermost headers. An empty list takes all.
type Only struct {
	VLANs    []PortRange    // of the outermost tag's id; 0: untagged
	Prefixes []netip.Prefix // source or destination is in one of them
}

// HasVLAN reports whether packets with that outermost tag may carry INT.
func (o *Only) HasVLAN(id uint16) bool {
	for _, r := range o.VLANs {
		if r.Has(id) {
			return true
		}
	}
	return len(o.VLANs) == 0
}

// PrefixOf returns the prefix that takes a packet in, and the offset of the address that is in it; -1: none does.
// l is of the outermost headers of a frame that begins with b.
func (o *Only) PrefixOf(b []byte, l *packet.Layers) (p netip.Prefix, at int) {
	src, dst := Addresses(b, l)
	for _, p := range o.Prefixes {
		if p.Contains(dst.addr) {
			return p, dst.at
		}
		if p.Contains(src.addr) {
			return p, src.at
		}
	}
	return p, -1
}

// has reports whether a packet may carry INT.
func (o *Only) has(b []byte, l *packet.Layers) bool {
	if !o.HasVLAN(l.VLAN) {
		return false
	}
	if len(o.Prefixes) == 0 {
		return true
	}
	_, at := o.PrefixOf(b, l)
	return at >= 0
}

// Address is an address of a packet, and where it stands.
type Address struct {
	addr netip.Addr
	at   int
}

// Of returns the address, and where it stands.
func (a Address) Of() (netip.Addr, int) { return a.addr, a.at }

// Addresses returns the addresses of the IP header that l describes.
func Addresses(b []byte, l *packet.Layers) (src, dst Address) {
	at := int(l.L3)
	if l.IPVersion == 4 {
		h := b[at:][:packet.IPv4Len]
		return Address{netip.AddrFrom4([4]byte(h[12:])), at + 12}, Address{netip.AddrFrom4([4]byte(h[16:])), at + 16}
	}
	h := b[at:][:packet.IPv6Len]
	return Address{netip.AddrFrom16([16]byte(h[8:])), at + 8}, Address{netip.AddrFrom16([16]byte(h[24:])), at + 24}
}

// Selects reports whether the packet with these outermost headers may carry INT.
func (p *Locator) Selects(b []byte, l *packet.Layers) bool { return p.only == nil || p.only.has(b, l) }
