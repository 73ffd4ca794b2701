// IFA: puts IFA 2.0 into a frame, with hops as Broadcom's switches write them.

package intgen

import (
	"cmp"
	"encoding/binary"
)

// IFA is what an initiator of IFA 2.0 and the hops behind it write (draft-kumar-ippm-ifa-08).
type IFA struct {
	Protocol uint8  // of IP; 0: 253
	GNS      uint8  // the global namespace less 15: 0 is that in which each hop has an LNS
	LNS      uint8  // 0: 1
	Copy     bool   // I = 0
	Tail     bool   // TS: metadata at the packet's end
	Checksum bool   // C: a header with a checksum
	Part     bool   // MF: a header of fragments
	HopLen   int    // bytes; 0: 32
	Raw      []byte // the stack, in place of the hops
	TTL      uint8  // of the packet at the newest hop; those before it had one more each. 0: 60
	Reserved uint8  // 3 bits of the header, TA
}

// Flags of the IFA header.
const (
	ifaMF = 1 << 4
	ifaTS = 1 << 3
	ifaI  = 1 << 2
	ifaC  = 1 << 0
)

// ByGNS returns the number of a global namespace that IFA.GNS has.
func ByGNS(gns uint8) uint8 { return (gns + 1) & 15 }

func (x *IFA) hopLen() int { return cmp.Or(x.HopLen, 32) }

// insert returns frame with IFA: L4 keeps its length and checksum.
func (x *IFA) insert(frame []byte, hops []Hop) ([]byte, error) {
	p, err := find(frame)
	if err != nil {
		return nil, err
	}
	stack := x.Raw
	if stack == nil {
		for i := range hops {
			stack = append(stack, x.hop(&hops[i], i)...)
		}
	}
	if len(stack) > 255*4 || len(stack)%4 != 0 || x.Tail && (x.Checksum || x.Part) {
		return nil, ErrLength
	}
	behind, err := p.behindL4(frame)
	if err != nil {
		return nil, err
	}
	header, block := x.headers(p.proto, stack)
	at := behind
	if x.Tail {
		at = p.end
	}
	if p.end-p.ip+len(header)+len(block) > 65535 {
		return nil, ErrLength
	}
	out := append(append(append([]byte(nil), frame[:p.l4]...), header...), frame[p.l4:at]...)
	out = append(append(out, block...), frame[at:]...)
	out[p.protoAt] = cmp.Or(x.Protocol, 253)
	repairIP(frame, out, &p, len(header)+len(block))
	return out, nil
}

// headers are the IFA header, and what stands behind L4.
func (x *IFA) headers(proto uint8, stack []byte) (header, block []byte) {
	flags := x.Reserved & 0xe2
	words := uint8(len(stack) / 4)
	metadata := []byte{0, 0, 255, words}
	switch {
	case x.Tail:
		flags |= ifaTS
		block = append(append(block, stack...), metadata...)
	default:
		if x.Checksum {
			flags |= ifaC
			block = append(block, 0x12, 0x34, 0, 0)
		}
		if x.Part {
			flags |= ifaMF
			block = append(block, 0, 0, 1, 1)
		}
		block = append(append(block, metadata...), stack...)
	}
	if !x.Copy {
		flags |= ifaI
	}
	return []byte{2<<4 | (x.GNS+15)&15, proto, flags, max(words, 128)}, block
}

// hop is the metadata of hop n, the newest first: node id in 20 bits, residence time, queue in 6 bits, ports and receive time.
func (x *IFA) hop(h *Hop, n int) []byte {
	b := make([]byte, max(x.hopLen(), 32))
	be := binary.BigEndian
	be.PutUint32(b, uint32(cmp.Or(x.LNS, 1)&15)<<28|h.NodeID&0xfffff<<8|uint32(cmp.Or(x.TTL, 60))+uint32(n))
	seconds := uint32(h.IngressTimestamp/1e9) & 0xfffff
	be.PutUint32(b[4:], uint32(h.QueueID&63)<<20|4<<28|seconds)
	be.PutUint16(b[8:], h.Egress)
	be.PutUint16(b[10:], h.Ingress)
	be.PutUint32(b[12:], uint32(h.IngressTimestamp%1e9))
	be.PutUint32(b[16:], h.LatencyNs)
	return b[:x.hopLen()]
}

// behindL4 is where the metadata header stands.
func (p *place) behindL4(b []byte) (int, error) {
	n := 0
	switch p.proto {
	case TCP, UDP:
		if p.payload == 0 {
			return 0, ErrProto
		}
		return p.payload, nil
	case GRE:
		if p.l4+4 > p.end {
			return 0, ErrProto
		}
		n = 4
		for flags := binary.BigEndian.Uint16(b[p.l4:]) & 0xb000; flags != 0; flags &= flags - 1 {
			n += 4
		}
	case 1, 58: // ICMP, ICMPv6
		n = 8
	default:
		return 0, ErrProto
	}
	if p.l4+n > p.end {
		return 0, ErrProto
	}
	return p.l4 + n, nil
}
