// Finds IFA 2.0 behind IP, and shows its hops as hops of INT-MD.

package inthdr

import (
	"encoding/binary"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/packet"
)

// ifaBitmap is what the hops of IFA have of INT: ifa.Values.Put writes it; ifaTimes what ifa.Times.Put adds, where nodes tell it.
const (
	ifaBitmap = BitNodeID | BitLevel1Interfaces | BitHopLatency | BitQueue
	ifaTimes  = BitIngressTimestamp | BitEgressTimestamp
)

// Reasons of IFA that is malformed.
const (
	ReasonPlace Reason = firstOfIFA + iota
	ReasonLayout
	ReasonPart
	ReasonIFA1
	endOfIFA
)

var textsOfIFA = Foreign{
	Type: IFA, Title: "IFA", label: "ifa", Ends: []string{`a copy that an IFA initiator made of a packet (I = 0), and the configuration says copies = "drop"`, "a packet with IFA 1.0"},
	notes: map[Reason]string{
		ReasonTruncated: "IFA: before its headers do",
		ReasonLength:    "IFA: the current length does",
		ReasonVersion:   "IFA: another than 2, or than 1 behind the marker of IFA 1.0",
	},
	reasons: []reasonText{
		{"ifa_place", "IFA: nothing says where the metadata header stands: the next header is none of TCP, UDP, GRE, ICMP and ICMPv6, such as IFA again, or is not sound itself, or tail stamps (TS) come with a checksum (C) or in parts (MF); not taken as IFA"},
		{"ifa_layout", "IFA: no layout fits the stack, by GNS, LNS and length; IFA removed, hops reported as they are. See `hop` in block `ifa`"},
		{"ifa_part", "IFA: the stack is one of several packets' (MF); removed, hops reported as they are"},
		{"ifa_1", "IFA 1.0: no public text says how its hops are laid out; reported with its bytes, and dropped, for it is a copy. See `marker` in block `ifa`"},
	},
}

// locateIFA reads the IFA of a packet whose IP header names its protocol. If it is sound, l becomes the layers that the
// packet has without it: those of the L4 header between its two parts.
func (p *Locator) locateIFA(b []byte, l *packet.Layers, i *Info) Result {
	var h ifa.Header
	*i = Info{}
	i.Marking, i.Type, i.Format, i.DSCP, i.Shim = ByIFA, IFA, FormatIFA, l.DSCP, l.L4
	switch ifa.Read(b, l, &h) {
	case ifa.OK:
	case ifa.NeedMore:
		if h.End > 0 { // package quote knows enough
			i.Start, i.End, i.Second, i.Removed, i.Orig = h.At, h.End, h.Second, h.Gone(), uint16(h.Next)
		}
		return NeedMore
	case ifa.Truncated:
		return unsound(i, ReasonTruncated)
	case ifa.Version:
		return unsound(i, ReasonVersion)
	case ifa.Place:
		return unsound(i, ReasonPlace)
	default:
		return unsound(i, ReasonLength)
	}
	i.Start, i.End, i.Second, i.Shim, i.Removed = h.At, h.End, h.Second, h.Second, h.Gone()
	i.Orig, i.GNS, i.Copy = uint16(h.Next), h.GNS, !h.Live && !p.foreign.IFA.StripCopies
	i.Discard = i.Copy
	i.Stack, i.StackLen = h.Stack, h.Bytes
	i.Bitmap = ifaBitmap
	if h.Part {
		i.Reason = ReasonPart
	} else {
		p.divide(b, i)
	}
	l.L4, l.Proto = h.L4, h.Next
	if h.Next == packet.ProtoTCP || h.Next == packet.ProtoUDP {
		l.Payload = h.L4End
		l.SrcPort, l.DstPort = binary.BigEndian.Uint16(b[h.L4:]), binary.BigEndian.Uint16(b[h.L4+2:])
		if h.Next == packet.ProtoTCP {
			l.TCPFlags = b[h.L4+13]
		}
	}
	return Sound
}

// divide finds the hops of a packet with IFA whose stack is known.
func (p *Locator) divide(b []byte, i *Info) {
	i.Reason, i.Hops, i.LNS = ReasonNone, 0, 0
	if s, lns, ok := p.foreign.IFA.Open(b[i.Stack:i.Stack+i.StackLen], i.GNS); ok {
		i.Hops = uint16(s.Len())
	} else {
		i.Reason, i.LNS = ReasonLayout, lns
	}
}

// Terminated has i describe IFA that a terminator has taken out of a packet: h has read the headers, and b is the metadata stack alone,
// which i.Stack has at 0. The Locator is one of IFA.
func (p *Locator) Terminated(h *ifa.Header, b []byte, i *Info) {
	*i = Info{Marking: ByIFA, Type: IFA, Format: FormatIFA, Bitmap: ifaBitmap, Orig: uint16(h.Next), GNS: h.GNS, StackLen: h.Bytes, End: h.Bytes}
	switch {
	case h.Part:
		i.Reason = ReasonPart
	case int(h.Bytes) > len(b):
		i.Reason = ReasonLength
	default:
		p.divide(b, i)
	}
}

// Again makes the hops of i those of another packet with the same headers: of IFA, each packet says itself how they are laid
// out.
func (p *Locator) Again(b []byte, i *Info) {
	if i.Format == FormatIFA {
		p.divideAgain(b, i)
	}
}

//go:noinline
func (p *Locator) divideAgain(b []byte, i *Info) {
	if p.foreign.IFA != nil {
		p.divide(b, i)
		i.Common = i.Common && i.Hops > 0
	}
}

//go:noinline
func (p *Locator) ifaHops(b []byte, i *Info) Hops {
	out := p.asINT
	h := Hops{Frame: out.frame[:], Info: &out.info, Odd: out.odd[:0]}
	out.info = *i
	n, times := 0, ifa.Times{}
	if s, ok := p.IFAStack(b, i); ok {
		for v := (ifa.Values{}); ; n++ {
			odd, more := s.Next(&v)
			if !more {
				break
			}
			if odd {
				h.Odd = append(h.Odd, v[ifa.DeviceID])
			}
			to := out.frame[n*ifa.INTHopTimeLen:][:ifa.INTHopTimeLen]
			v.Put(to)
			times.Put(&v, to)
		}
	}
	out.info.Stack, out.info.StackLen, out.info.HopLen, out.info.Hops = 0, uint16(n*ifa.INTHopTimeLen), ifa.INTHopTimeLen, uint16(n)
	if times.Told() {
		out.info.Bitmap |= ifaTimes
	}
	return h
}

// IFAStack opens the stack of a packet with IFA, whose first n bytes b has.
func (p *Locator) IFAStack(b []byte, i *Info) (s ifa.Stack, ok bool) {
	if p.foreign.IFA == nil || i.Hops == 0 || int(i.Stack)+int(i.StackLen) > len(b) {
		return s, false
	}
	s, _, ok = p.foreign.IFA.Open(b[i.Stack:i.Stack+i.StackLen], i.GNS)
	return s, ok
}

// IFALayout returns the layout of all hops of a packet with IFA, nil where they have not one, and the longest residence time
// that can be.
func (p *Locator) IFALayout(b []byte, i *Info) (l *ifa.Layout, longest uint32) {
	if i.Format != FormatIFA {
		return nil, 0
	}
	s, ok := p.IFAStack(b, i)
	if !ok {
		return nil, 0
	}
	return s.Uniform(), p.foreign.IFA.MaxResidence
}
