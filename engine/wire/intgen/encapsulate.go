// Tunnel: wraps a frame in VXLAN, VXLAN-GPE, Geneve, GRE or IP in IP, without INT.

package intgen

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// Encap is an encapsulation.
type Encap uint8

const (
	VXLAN    Encap = iota // RFC 7348: always Ethernet inside
	VXLANGPE              // draft-ietf-nvo3-vxlan-gpe-09
	Geneve                // RFC 8926
	OverGRE               // RFC 2784, RFC 2890
	IPIP                  // RFC 2003, RFC 2473, RFC 4213: never Ethernet inside
)

// Tunnel is an endpoint that wraps frames.
type Tunnel struct {
	Encap          Encap
	SrcMAC, DstMAC [6]byte
	VLANs          []uint16 // the innermost 0x8100, others 0x88a8; behind them VLAN
	VLAN           uint16   // 0: no tag
	Src, Dst       netip.Addr
	IPOptions      []byte      // IPv4, a multiple of four bytes
	Extensions     []Extension // IPv6, in order
	DSCP           uint8
	SrcPort        uint16 // 0: entropy of what is inside
	Port           uint16 // 0: the well-known one
	VNI            uint32
	Options        [][]byte // Geneve: options with their headers
	Ethernet       bool     // the whole frame goes inside, not only its IP packet
	Checksum       bool     // of outer UDP or GRE; UDP without it: zero
	Key, Sequence  bool     // GRE
}

// Wrap returns frame inside the tunnel. Without Ethernet inside, the frame's link
// header and what follows the IP packet are left out.
func (t *Tunnel) Wrap(frame []byte) ([]byte, error) {
	inner, etherType := frame, uint16(etherTEB)
	if !t.Ethernet && t.Encap != VXLAN || t.Encap == IPIP {
		p, err := find(frame)
		if err != nil {
			return nil, err
		}
		inner, etherType = frame[p.ip:p.end], etherIPv4
		if p.v6 {
			etherType = etherIPv6
		}
	}
	header, err := t.header(etherType)
	if err != nil {
		return nil, err
	}
	body := slices.Concat(header, inner)
	ip := ipHeader{src: t.Src, dst: t.Dst, dscp: t.DSCP, proto: UDP}
	switch t.Encap {
	case OverGRE:
		ip.proto = GRE
		h := greHeader{checksum: t.Checksum}
		h.finish(body)
	case IPIP:
		ip.proto = 4
		if etherType == etherIPv6 {
			ip.proto = 41
		}
	default:
		body = t.udp(body, inner)
	}
	return t.packet(ip, body)
}

// packet puts Ethernet and IP in front of body.
func (t *Tunnel) packet(ip ipHeader, body []byte) ([]byte, error) {
	if ip.options = t.IPOptions; !t.Src.Is4() {
		var extensions []byte
		ip.proto, extensions = chainExtensions(t.Extensions, ip.proto)
		body = slices.Concat(extensions, body)
	}
	if len(body)+60 > 65535 {
		return nil, ErrLength
	}
	tags := t.VLANs
	if t.VLAN != 0 {
		tags = append(slices.Clone(tags), t.VLAN)
	}
	out := append(append(make([]byte, 0, len(body)+128), t.DstMAC[:]...), t.SrcMAC[:]...)
	out = binary.BigEndian.AppendUint16(appendTags(out, tags...), ip.etherType())
	return append(ip.append(out, len(body)), body...), nil
}

// header is what stands between outer IP or UDP and the inner packet.
func (t *Tunnel) header(etherType uint16) ([]byte, error) {
	switch t.Encap {
	case VXLAN:
		return binary.BigEndian.AppendUint32([]byte{vxlanI, 0, 0, 0}, t.VNI<<8), nil
	case VXLANGPE:
		next := map[uint16]uint8{etherTEB: gpeEthernet, etherIPv4: gpeIPv4, etherIPv6: gpeIPv6}[etherType]
		return binary.BigEndian.AppendUint32([]byte{vxlanI | vxlanP, 0, 0, next}, t.VNI<<8), nil
	case Geneve:
		return t.geneve(etherType)
	case OverGRE:
		h := greHeader{etherType, t.Checksum, t.Key, t.Sequence}
		return h.append(nil), nil
	}
	return nil, nil
}

// geneve returns the Geneve header: Ver 2b, Opt Len 6b, O, C, Rsvd 6b, Protocol Type 16b, VNI 24b,
// Reserved 8b. C says that there is a critical option.
func (t *Tunnel) geneve(etherType uint16) ([]byte, error) {
	options := slices.Concat(t.Options...)
	if len(options)%4 != 0 || len(options)/4 > maxGeneveWords {
		return nil, ErrLength
	}
	critical := slices.ContainsFunc(t.Options, func(o []byte) bool { return len(o) > 2 && o[2]&0x80 != 0 })
	head := uint32(len(options)/4)<<24 | bit(critical, 22) | uint32(etherType)
	b := binary.BigEndian.AppendUint32(nil, head)
	return append(binary.BigEndian.AppendUint32(b, t.VNI<<8), options...), nil
}

// udp puts the outer UDP header in front of body.
func (t *Tunnel) udp(body, inner []byte) []byte {
	src, dst := t.SrcPort, t.Port
	if src == 0 {
		src = 0xc000 | fold(sum(0, inner[:min(len(inner), 40)]))&0x3fff
	}
	if dst == 0 {
		dst = map[Encap]uint16{VXLAN: portVXLAN, VXLANGPE: portGPE, Geneve: portGeneve}[t.Encap]
	}
	b := binary.BigEndian.AppendUint16(nil, src)
	b = binary.BigEndian.AppendUint16(b, dst)
	b = binary.BigEndian.AppendUint16(b, uint16(8+len(body)))
	b = append(append(b, 0, 0), body...)
	if !t.Checksum {
		return b
	}
	c := ^fold(sum(pseudo(t.Src, t.Dst, UDP, len(b)), b))
	if c == 0 {
		c = 0xffff
	}
	binary.BigEndian.PutUint16(b[6:], c)
	return b
}
