// FlowID: a flow's key as text (tcp:10.0.0.1:1024-10.1.0.1:80), and back; protocol names.

package inspect

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"intsink/flows"
)

// protocols are those with a name; others go by their number.
var protocols = []struct {
	name  string
	proto uint8
}{
	{"tcp", 6}, {"udp", 17}, {"icmp", 1}, {"icmpv6", 58}, {"sctp", 132}, {"gre", 47}, {"esp", 50}, {"ah", 51},
}

// ProtocolName returns the protocol as FlowID writes it.
func ProtocolName(proto uint8) string {
	for _, p := range protocols {
		if p.proto == proto {
			return p.name
		}
	}
	return strconv.Itoa(int(proto))
}

// ParseProtocol reads a name or a number.
func ParseProtocol(s string) (uint8, error) {
	for _, p := range protocols {
		if p.name == s {
			return p.proto, nil
		}
	}
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return 0, fmt.Errorf("protocol %q: must be a number up to 255, or tcp, udp, icmp, icmpv6, sctp, gre, esp or ah", s)
	}
	return uint8(n), nil
}

// inNetwork stands in front of the network identifier of a flow inside of a tunnel.
const inNetwork = "@vni"

// FlowID returns the key as text: tcp:10.0.0.1:1024-10.1.0.1:80, with IPv6 addresses in brackets,
// without ports where the protocol has none, and with @vni5000 behind it where it is in a virtual network.
func FlowID(k *flows.Key) string {
	end := func(a netip.Addr, port uint16) string {
		s := a.String()
		if a.Is6() {
			s = "[" + s + "]"
		}
		if flows.HasPorts(k.Proto()) {
			s += ":" + strconv.Itoa(int(port))
		}
		return s
	}
	id := ProtocolName(k.Proto()) + ":" + end(k.SrcAddr(), k.SrcPort()) + "-" + end(k.DstAddr(), k.DstPort())
	if vni, ok := k.VNI(); ok {
		id += inNetwork + strconv.FormatUint(uint64(vni), 10)
	}
	return id
}

// ServiceID is the service that a flow is of: its protocol and lower port, such as tcp/443.
func ServiceID(k *flows.Key) string {
	name := ProtocolName(k.Proto())
	if flows.HasPorts(k.Proto()) {
		name += "/" + strconv.Itoa(int(min(k.SrcPort(), k.DstPort())))
	}
	return name
}

// ParseFlowID returns the reverse of FlowID. Its errors say what an ID looks like.
func ParseFlowID(id string) (k flows.Key, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("flow %q: %w; write it as tcp:10.0.0.1:1024-10.1.0.1:80, udp:[2001:db8::1]:1024-[2001:db8::2]:53 or icmp:10.0.0.1-10.1.0.1, with @vni5000 behind it for one in a virtual network", clip(id), err)
		}
	}()
	flow, network, tunnelled := strings.Cut(id, inNetwork)
	vni, err := strconv.ParseUint(network, 10, 24)
	if tunnelled && err != nil {
		return k, fmt.Errorf("%q is no network identifier from 0 to 16777215", clip(network))
	}
	name, ends, ok := strings.Cut(flow, ":")
	source, destination, ok2 := strings.Cut(ends, "-")
	if !ok || !ok2 {
		return k, errors.New("not PROTOCOL:SOURCE-DESTINATION")
	}
	proto, err := ParseProtocol(name)
	if err != nil {
		return k, err
	}
	src, srcPort, err := parseEnd(source, flows.HasPorts(proto))
	if err != nil {
		return k, err
	}
	dst, dstPort, err := parseEnd(destination, flows.HasPorts(proto))
	if err != nil {
		return k, err
	}
	if src.Is4() != dst.Is4() {
		return k, errors.New("one end is IPv4 and the other IPv6")
	}
	k.SetAddrs(src, dst)
	version := uint8(6)
	if src.Is4() {
		version = 4
	}
	k.SetPorts(version, proto, srcPort, dstPort)
	if tunnelled {
		k.SetVNI(uint32(vni))
	}
	return k, nil
}

func parseEnd(s string, port bool) (a netip.Addr, p uint16, err error) {
	host := s
	if port {
		at := strings.LastIndexByte(s, ':')
		if at < 0 || strings.HasSuffix(s, "]") {
			return a, 0, fmt.Errorf("%q has no port", clip(s))
		}
		n, err := strconv.ParseUint(s[at+1:], 10, 16)
		if err != nil {
			return a, 0, fmt.Errorf("%q is no port", clip(s[at+1:]))
		}
		host, p = s[:at], uint16(n)
	}
	inner, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		inner, bracketed = strings.CutSuffix(inner, "]")
	}
	a, err = netip.ParseAddr(inner)
	if err != nil || a.Zone() != "" || a.Is6() != bracketed {
		return a, 0, fmt.Errorf("%q is no IPv4 address and no IPv6 address in brackets", clip(host))
	}
	return a, p, nil
}

// clip shortens what a message repeats.
func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
