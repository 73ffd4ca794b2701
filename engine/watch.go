package engine

import (
	"net/netip"

	"intsink/flows"
)

// Watch selects flows by their original key. Empty lists match everything.
type Watch struct {
	Name                        string
	Source, Destination         []netip.Prefix
	Protocol                    []uint8
	SourcePort, DestinationPort []PortRange
	Collectors                  uint64 // bit i: reports go to collector i
}

// PortRange is an inclusive range of TCP, UDP or SCTP ports.
type PortRange struct{ First, Last uint16 }

// match returns the index of the first watch that selects k, or NoWatch. It
// runs once per flow, not per packet: the flow table keeps the result.
func (r *Rules) match(k *flows.Key) uint8 {
	src, dst := k.SrcAddr(), k.DstAddr()
	for i := range r.Collectors {
		c := &r.Collectors[i]
		if c.Addr() == dst && c.Port() == k.DstPort() {
			return NoWatch
		}
	}
	for i := range r.Watches {
		w := &r.Watches[i]
		if containsAddr(w.Source, src) && containsAddr(w.Destination, dst) &&
			containsProto(w.Protocol, k.Proto()) &&
			containsPort(w.SourcePort, k.SrcPort()) && containsPort(w.DestinationPort, k.DstPort()) {
			return uint8(i)
		}
	}
	return NoWatch
}

func containsAddr(list []netip.Prefix, a netip.Addr) bool {
	for i := range list {
		if list[i].Contains(a) {
			return true
		}
	}
	return len(list) == 0
}

func containsProto(list []uint8, p uint8) bool {
	for _, v := range list {
		if v == p {
			return true
		}
	}
	return len(list) == 0
}

func containsPort(list []PortRange, p uint16) bool {
	for _, r := range list {
		if r.First <= p && p <= r.Last {
			return true
		}
	}
	return len(list) == 0
}
