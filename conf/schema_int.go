// visitINT: the schema of block int, also of links and taps: names, bounds and words of markings, versions, domains
// and their instructions.

package conf

import "intsink/conf/schema"

// visitINTOfLink is the schema of block int in a link or a tap.
func visitINTOfLink(v schema.Visitor, c *INT) { visitINT(v, c, true) }

// visitINT is the schema of block int; that of the whole file has verify besides.
func visitINT(v schema.Visitor, c *INT, ofLink bool) {
	v.Attr("udp_port", schema.Optional(&c.UDPPort, 1, 65535))
	v.Attr("dscp", schema.Objects(&c.DSCP, DSCP{Mask: 63}, func(v schema.Visitor, d *DSCP) {
		v.Required("value", schema.Integer(&d.Value, 0, 63))
		v.Attr("mask", schema.Integer(&d.Mask, 0, 63))
		v.Attr("restore", schema.Optional(&d.Restore, 0, 63))
	}, 0, 63, func(d *DSCP, n int64) any { d.Value = uint8(n); return &d.Value }))
	v.Attr("tcp_options", schema.Choice(&c.TCPOptions, INTAfterOptions, INTBeforeOptions))
	v.Attr("probe_marker", marker(&c.ProbeMarker))
	v.Attr("probe_ports", ports(&c.ProbePorts, 0, 65535))
	v.Attr("gre_protocol", schema.Checked(schema.Optional(&c.GREProtocol, 1536, 65535), func(x *schema.Expr) bool {
		if what, taken := etherTypes[*c.GREProtocol]; taken {
			return x.Fail("EtherType 0x%04x is that of %s: every ordinary GRE tunnel that carries it would be taken for INT; "+
				"did you mean 34998 (0x88b6), which is free for local use?", *c.GREProtocol, what)
		}
		return true
	}))
	v.Attr("vxlan_gpe", schema.Object(&c.VXLANGPE, VXLANGPE{Port: 4790, NextProtocol: 130}, func(v schema.Visitor, x *VXLANGPE) {
		v.Attr("port", schema.Integer(&x.Port, 1, 65535))
		v.Attr("next_protocol", schema.Checked(schema.Integer(&x.NextProtocol, 0, 255), func(e *schema.Expr) bool {
			if what, taken := gpeProtocols[x.NextProtocol]; taken {
				return e.Fail("next protocol %d is that of %s: every ordinary VXLAN-GPE packet that carries it would be taken for INT; did you mean 130?",
					x.NextProtocol, what)
			}
			return true
		}))
	}))
	v.Attr("geneve", schema.Object(&c.Geneve, Geneve{Port: 6081, OptionClass: 259}, func(v schema.Visitor, g *Geneve) {
		v.Attr("port", schema.Integer(&g.Port, 1, 65535))
		v.Attr("option_class", schema.Integer(&g.OptionClass, 0, 65535))
	}))
	visitFormats(v, &c.Formats)
	v.Attr("versions", schema.Choices(&c.Versions, "version", "2", "1", "0"))
	v.Attr("int1_dialect", schema.Choice(&c.INT1Dialect, StandardINT1, GEANTINT1))
	v.Attr("types", schema.Choices(&c.Types, "type", "md", "mx", "destination"))
	v.Attr("shim_length", schema.Choice(&c.ShimLength, ShimExclusive, ShimInclusive))
	v.Attr("checksum", schema.Choice(&c.Checksum, UpdateChecksum, KeepChecksum))
	v.Attr("malformed", schema.Choice(&c.Malformed, ForwardMalformed, DropMalformed))
	v.Attr("leak", schema.Choice(&c.Leak, ForwardLeaks, StripLeaks, DropLeaks))
	v.Attr("leak_mark", schema.Choice(&c.LeakMark, ClearMarks, DropMarks, ForwardMarks))
	if !ofLink {
		v.Attr("verify", schema.Integer(&c.Verify, 0, 1<<32-1))
	}
	v.Attr("layer", schema.Choice(&c.Layer, AllLayers, Outermost))
	v.Attr("fragments", schema.Choice(&c.Fragments, PassFragments, StripFragments))
	v.Optional("match", schema.Pointer(&c.Match, func() INTMatch { return INTMatch{} }, func(v schema.Visitor, m *INTMatch) {
		v.Attr("vlan", ports(&m.VLAN, 0, 4095))
		v.Attr("prefix", schema.Prefixes(&m.Prefix))
	}))
	v.Blocks("domain", schema.Slice(&c.Domains, schema.Zero[Domain], func(d *Domain) *string { return &d.Name }, visitDomain))
}

// marker is a value of 64 bits that payloads do not begin with.
func marker(p **uint64) schema.Value {
	return schema.Checked(schema.Hex64(p), func(x *schema.Expr) bool {
		if **p == 0 {
			return x.Fail("zero is no marker: payloads that begin with zeros are common, and would be taken for INT")
		}
		return true
	})
}

// etherTypes are EtherTypes that GRE tunnels carry and that INT must not take (IEEE 802 numbers at
// IANA; 0x6558 comes from RFC 1701, 0x88be and 0x22eb are ERSPAN's, 0x883e is what WCCP version 2
// redirects in).
var etherTypes = map[uint16]string{
	0x0800: "IPv4", 0x0806: "ARP", 0x22eb: "ERSPAN III", 0x2000: "CDP", 0x2001: "NHRP", 0x6558: "bridged Ethernet", 0x8100: "VLAN tags", 0x86dd: "IPv6",
	0x880b: "PPP", 0x883e: "WCCP", 0x8847: "MPLS", 0x8848: "MPLS", 0x88a8: "VLAN tags", 0x88be: "ERSPAN II", 0x88e5: "MACsec", 0x894f: "NSH",
}

// gpeProtocols are next protocols of VXLAN-GPE likewise (draft-ietf-nvo3-vxlan-gpe).
var gpeProtocols = map[uint8]string{1: "IPv4", 2: "IPv6", 3: "Ethernet", 4: "NSH"}

func visitDomain(v schema.Visitor, d *Domain) {
	v.Required("id", schema.Integer(&d.ID, 1, 65535))
	v.Blocks("instruction", schema.Slice(&d.Instructions, defaultInstruction,
		func(i *Instruction) *string { return &i.Name }, visitInstruction))
}

func visitInstruction(v schema.Visitor, i *Instruction) {
	v.Required("bit", schema.Integer(&i.Bit, 0, 15))
	v.Required("length", schema.Integer(&i.Length, 4, 124))
	v.Attr("scope", schema.Choice(&i.Scope, EachHop, SourceOnly, SourceInserted))
	v.Attr("role", schema.Choice(&i.Role, "", OpaqueRole, DeviceIDRole, SequenceRole, TTLRole))
}

func defaultINT() INT {
	return INT{
		TCPOptions: INTAfterOptions, Versions: []string{"2"}, INT1Dialect: StandardINT1, Types: []string{"md", "mx", "destination"},
		ShimLength: ShimExclusive, Checksum: UpdateChecksum, Malformed: ForwardMalformed, Layer: AllLayers, Fragments: PassFragments,
		Leak: ForwardLeaks, LeakMark: ClearMarks,
	}
}

func defaultInstruction(int) Instruction {
	return Instruction{Scope: EachHop, Role: ""}
}
