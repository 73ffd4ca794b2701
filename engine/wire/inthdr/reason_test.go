package inthdr_test

import (
	"bytes"
	"strings"
	"testing"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// Headers of hand-built packets; checksums, which nothing here looks at, are zero.
const (
	ipv4Addrs = "c0000201 c6336401"
	toINTPort = "8235 1388"
	md3       = "2000 0109 8000 0000 0000 0000" // Hop ML 1, node ids
	md1Hop    = md3 + "00000064"
)

// reasonPackets are one packet from IPv4 on for each Reason, or more, and what
// Find says.
var reasonPackets = []struct {
	reason inthdr.Reason
	result inthdr.Result
	name   string
	packet string
}{
	{
		inthdr.ReasonNone, inthdr.Sound, "one hop over UDP",
		"4500 0033 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "001f 0000" + "14 04 0035" + md1Hop + "68 69 0a",
	},
	{
		inthdr.ReasonTruncated, inthdr.Unsound, "three bytes behind UDP",
		"4500 001f 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "000b 0000" + "14 04 00",
	},
	{
		inthdr.ReasonTruncated, inthdr.Unsound, "GRE says INT and ends",
		"4500 0018 0001 0000 402f 0000" + ipv4Addrs + "0000 88b6",
	},
	{
		inthdr.ReasonLength, inthdr.Unsound, "two words cannot hold an MD header",
		"4500 002c 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0018 0000" + "14 02 0035" + md3,
	},
	{
		inthdr.ReasonLength, inthdr.Unsound, "a word beyond the packet",
		"4500 002c 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0018 0000" + "14 04 0035" + md3,
	},
	{
		inthdr.ReasonLength, inthdr.Unsound, "thirteen bytes of Ethernet in an inserted GRE",
		"4500 0035 0001 0000 402f 0000" + ipv4Addrs + "0000 88b6" + "18 03 6558" + md3 + "01020304050607080910111213",
	},
	{
		inthdr.ReasonNPT, inthdr.Unsound, "NPT 0 on INT's port",
		"4500 002c 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0018 0000" + "10 03 0000" + md3,
	},
	{
		inthdr.ReasonNPT, inthdr.Unsound, "NPT 1 behind a DSCP",
		"455c 002c 0001 0000 4011 0000" + ipv4Addrs + "8235 0035 0018 0000" + "14 03 0035" + md3,
	},
	{
		inthdr.ReasonType, inthdr.Unsound, "type 4",
		"4500 002c 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0018 0000" + "44 03 0035" + md3,
	},
	{
		inthdr.ReasonType, inthdr.Unsound, "Geneve option of INT's class and type 0x81",
		"4500 0028 0001 0000 4011 0000" + ipv4Addrs + "8235 17c1 0014 0000" + "01 40 6558 000007 00" + "0103 81 00",
	},
	{
		inthdr.ReasonVersion, inthdr.Unsound, "version 3",
		"4500 002c 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0018 0000" + "14 03 0035" + "3" + md3[1:],
	},
	{
		inthdr.ReasonVersion, inthdr.Unsound, "the version of June 2016, which is over tunnels only",
		"4500 002c 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0018 0000" + "14 03 0035" + "0" + md3[1:],
	},
	{
		inthdr.ReasonUDPLength, inthdr.Unsound, "UDP ends a byte before IP",
		"4500 002d 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0018 0000" + "14 03 0035" + md3 + "00",
	},
	{
		inthdr.ReasonHopML, inthdr.Sound, "Hop ML 2 and a bitmap of one word",
		"4500 0034 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0020 0000" + "14 05 0035" +
			"2000 0209 8000 0000 0000 0000" + "00000064 00000065",
	},
	{
		inthdr.ReasonStack, inthdr.Sound, "one word of a hop of two",
		"4500 0030 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "001c 0000" + "14 04 0035" +
			"2000 0209 c000 0000 0000 0000" + "00000064",
	},
	{
		inthdr.ReasonUnknownDomain, inthdr.Sound, "a word of domain 0x5453 at each hop",
		"4500 0034 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0020 0000" + "14 05 0035" +
			"2000 0209 8000 5453 8000 0000" + "00000064 0a0b0c0d",
	},
	{
		inthdr.ReasonUnknownDomain, inthdr.Sound, "what a source of domain 0x5453 added alone, as long as a hop",
		"4500 0034 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0020 0000" + "14 05 0035" +
			"2000 0109 8000 5453 8000 0000" + "00000064 0a0b0c0d",
	},
	{
		inthdr.ReasonUnknownDomain, inthdr.Sound, "INT-MX that asks for something of domain 0x5453",
		"4500 002c 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0018 0000" + "34 03 0035" + "2000 0000 8000 5453 8000 0000",
	},
	{
		inthdr.ReasonTunnel, inthdr.Unsound, "GRE with routing",
		"4500 002c 0001 0000 402f 0000" + ipv4Addrs + "4000 88b6 0000 0000" + "10 03 0800" + md3,
	},
	{
		inthdr.ReasonTunnel, inthdr.Unsound, "a length in place of the EtherType in an inserted GRE",
		"4500 0030 0001 0000 402f 0000" + ipv4Addrs + "0000 88b6" + "18 03 05ff" + md3 + "01020304 05060708",
	},
	{
		inthdr.ReasonTunnel, inthdr.Unsound, "a length in place of the EtherType in an original GRE",
		"4500 0030 0001 0000 402f 0000" + ipv4Addrs + "0000 88b6" + "10 03 05ff" + md3 + "01020304 05060708",
	},
	{
		inthdr.ReasonTunnel, inthdr.Unsound, "the reserved EtherType in an original GRE",
		"4500 0030 0001 0000 402f 0000" + ipv4Addrs + "0000 88b6" + "10 03 ffff" + md3 + "01020304 05060708",
	},
	{
		inthdr.ReasonTunnel, inthdr.Unsound, "Geneve option beyond the options",
		"4500 0028 0001 0000 4011 0000" + ipv4Addrs + "8235 17c1 0014 0000" + "01 00 6558 000007 00" + "0103 01 03",
	},
	{
		inthdr.ReasonInstructions, inthdr.Sound, "June 2016: two instructions counted, one set",
		"4500 0034 0001 0000 4011 0000" + ipv4Addrs + "8235 12b6 0020 0000" + "0c 000005 000007 00" + "01 00 04 03" +
			"0002 0801 8000 0000" + "80000064",
	},
	{
		inthdr.ReasonLength, inthdr.Unsound, "a Destination header of no words",
		"4500 0023 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "000f 0000" + "24 00 0035" + "68 69 0a",
	},
	{
		inthdr.ReasonLength, inthdr.Unsound, "a Destination header of INT 1.0 of no words",
		"455c 0023 0001 0000 4011 0000" + ipv4Addrs + "8235 0035 000f 0000" + "02 00 01 00" + "68 69 0a",
	},
	{
		inthdr.ReasonOriginal, inthdr.Unsound, "NPT 2 and a UDP header that is a byte too long",
		"4500 0037 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0023 0000" + "18 03 0011" + md3 + "8235 0035 000c 0000" + "68 69 0a",
	},
	{
		inthdr.ReasonOriginal, inthdr.Unsound, "NPT 2 and seven bytes of UDP",
		"4500 0033 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "001f 0000" + "18 03 0011" + md3 + "8235 0035 0007 00",
	},
	{
		inthdr.ReasonOriginal, inthdr.Unsound, "NPT 2 and a TCP data offset of four words",
		"4500 0040 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "002c 0000" + "18 03 0006" + md3 + "8235 0050 00000001 00000000 4010 ffff 0000 0000",
	},
	{
		inthdr.ReasonOriginal, inthdr.Unsound, "NPT 2 and a TCP data offset beyond the packet",
		"4500 0040 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "002c 0000" + "18 03 0006" + md3 + "8235 0050 00000001 00000000 6010 ffff 0000 0000",
	},
	{
		inthdr.ReasonTooDeep, inthdr.Unsound, "INT in four tunnels of IP in IP",
		"4500 0083 0001 0000 4004 0000" + ipv4Addrs + "4500 006f 0001 0000 4004 0000" + ipv4Addrs + "4500 005b 0001 0000 4004 0000" + ipv4Addrs +
			"4500 0047 0001 0000 4004 0000" + ipv4Addrs + "4500 0033 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "001f 0000" + "14 04 0035" + md1Hop + "68 69 0a",
	},
	{
		inthdr.ReasonNone, inthdr.Sound, "INT in three tunnels of IP in IP",
		"4500 006f 0001 0000 4004 0000" + ipv4Addrs + "4500 005b 0001 0000 4004 0000" + ipv4Addrs +
			"4500 0047 0001 0000 4004 0000" + ipv4Addrs + "4500 0033 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "001f 0000" + "14 04 0035" + md1Hop + "68 69 0a",
	},
	{
		inthdr.ReasonPlace, inthdr.Unsound, "IFA behind IFA",
		"4500 0028 0001 0000 40fd 0000" + ipv4Addrs + "2f fd 04 80" + "8235 0035 000c 0000" + "0000 ff00" + "68 69 0a 0d",
	},
	{
		inthdr.ReasonLayout, inthdr.Sound, "a stack of one word",
		"4500 002c 0001 0000 40fd 0000" + ipv4Addrs + "2f 11 04 80" + "8235 0035 000c 0000" + "0000 ff01 1000 643f" + "68 69 0a 0d",
	},
	{
		inthdr.ReasonPart, inthdr.Sound, "a part without a hop",
		"4500 002c 0001 0000 40fd 0000" + ipv4Addrs + "2f 11 14 80" + "8235 0035 000c 0000" + "0000 0103 0000 ff00" + "68 69 0a 0d",
	},
	{
		inthdr.ReasonIFA1, inthdr.Sound, "IFA 1.0, whose current length counts the hop alone",
		"4500 0040 0001 0000 4011 0000" + ipv4Addrs + "8235 0035 002c 0000" + marker + "01 01 0000 ffffffff" + "ff 01 0000 1000 0008 0007 0001" + "00000064 00000065",
	},
	{
		inthdr.ReasonIFA1, inthdr.Sound, "IFA 1.0, whose current length counts the header, too",
		"4500 0040 0001 0000 4011 0000" + ipv4Addrs + "8235 0035 002c 0000" + marker + "01 01 0000 ffffffff" + "ff 01 0000 1000 0024 0007 0001" + "00000064 00000065",
	},
	{
		inthdr.ReasonVersion, inthdr.Unsound, "version 2 behind the marker of IFA 1.0",
		"4500 0038 0001 0000 4011 0000" + ipv4Addrs + "8235 0035 0024 0000" + marker + "02 01 0000 ffffffff" + "ff 00 0000 1000 0000 0007 0001",
	},
	{
		inthdr.ReasonTruncated, inthdr.Unsound, "a header of IFA 1.0 that lacks a byte",
		"4500 0037 0001 0000 4011 0000" + ipv4Addrs + "8235 0035 0023 0000" + marker + "01 01 0000 ffffffff" + "ff 00 0000 1000 0000 0007 00",
	},
	{
		inthdr.ReasonLength, inthdr.Unsound, "a current length of IFA 1.0 beyond the packet",
		"4500 0038 0001 0000 4011 0000" + ipv4Addrs + "8235 0035 0024 0000" + marker + "01 01 0000 ffffffff" + "ff 01 0000 1000 001d 0007 0001",
	},
	{
		inthdr.ReasonFragment, inthdr.Unsound, "the first fragment of many",
		"4500 0034 0001 2000 4011 0000" + ipv4Addrs + toINTPort + "05dc 0000" + "14 04 0035" + md1Hop + "68 69 0a 0d",
	},
}

const marker = "aaaaaaaabbbbbbbb"

// everyMarking takes INT of all versions by any marking.
func everyMarking() *inthdr.Locator {
	port, gre := uint16(intPort), uint16(0x88b6)
	return inthdr.NewLocator(inthdr.Config{
		UDPPort: &port, DSCP: []inthdr.DSCP{{Value: 0x17, Mask: 0x3f}}, GREProtocol: &gre,
		VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82},
		Geneve:   &inthdr.Geneve{Port: 6081, OptionClass: 0x0103},
		Version2: true, Version1: true, Version0: true,
		Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9, Marker: ifa.MarkerOfH3C}},
	})
}

// strict is everyMarking for INT 2.x alone.
func strict() *inthdr.Locator {
	port := uint16(intPort)
	return inthdr.NewLocator(inthdr.Config{UDPPort: &port, Version2: true})
}

// TestEveryReason: each Reason is that of a packet built by hand; unsound ones stay
// as they are. ReasonSegmented is the engine's, which joins segments: its test is
// TestChainThatCannotBeJoined there. Those of IOAM alone have TestUnsoundIOAM in package strip.
func TestEveryReason(t *testing.T) {
	reached := map[inthdr.Reason]bool{inthdr.ReasonSegmented: true}
	for _, c := range reasonPackets {
		p := everyMarking()
		if c.name == "version 3" {
			p = strict()
		}
		b := unhex(t, ethernet+c.packet)
		before := bytes.Clone(b)
		var l packet.Layers
		var i inthdr.Info
		var o inthdr.Outers
		if int(b[16])<<8|int(b[17]) != len(b)-14 {
			t.Fatalf("%s: the IP length is %d of %d", c.name, int(b[16])<<8|int(b[17]), len(b)-14)
		}
		if s := packet.Parse(b, len(b), &l); s != packet.OK {
			t.Fatalf("%s: parse: %v", c.name, s)
		}
		if r := p.Find(b, &l, &i, &o); r != c.result || i.Reason != c.reason {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, r, i.Reason, c.result, c.reason)
		}
		if !bytes.Equal(b, before) {
			t.Errorf("%s: Find changed the packet", c.name)
		}
		reached[c.reason] = true
	}
	for r := range inthdr.NumReasons {
		if !reached[r] && !strings.HasPrefix(r.String(), "ioam_") {
			t.Errorf("no packet for reason %v", r)
		}
	}
}

// TestDomainsThatCannotBeDivided: instructions count, not the domain's id alone.
func TestDomainsThatCannotBeDivided(t *testing.T) {
	port, d := uint16(intPort), inthdr.Domain{ID: 7}
	d.Bits[0].Length = 4
	p := inthdr.NewLocator(inthdr.Config{UDPPort: &port, Version2: true, Domains: []inthdr.Domain{d}})
	head := "4500 0034 0001 0000 4011 0000" + ipv4Addrs + toINTPort + "0020 0000" + "14 05 0035"
	for _, c := range []struct {
		name, rest string
		want       inthdr.Reason
	}{
		{"a domain without instructions", "2000 0109 8000 0009 0000 0000 00000064 00000065", inthdr.ReasonNone},
		{"domain 0, whose bits are reserved", "2000 0109 8000 0000 8000 0000 00000064 00000065", inthdr.ReasonNone},
		{"all instructions described", "2000 0209 8000 0007 8000 0000 00000064 0a0b0c0d", inthdr.ReasonNone},
		{"one of two instructions described", "2000 0209 8000 0007 c000 0000 00000064 0a0b0c0d", inthdr.ReasonUnknownDomain},
		{"no instruction described", "2000 0209 8000 0009 8000 0000 00000064 0a0b0c0d", inthdr.ReasonUnknownDomain},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := unhex(t, ethernet+head+c.rest)
			var l packet.Layers
			var i inthdr.Info
			if packet.Parse(b, len(b), &l) != packet.OK || p.Locate(b, &l, &i) != inthdr.Sound || i.Reason != c.want {
				t.Errorf("%v, want %v", i.Reason, c.want)
			}
		})
	}
}
