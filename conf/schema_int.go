package conf

func visitINT(v visitor, c *INT) {
	v.attr("udp_port", optional(&c.UDPPort, 1, 65535))
	v.attr("dscp", object(&c.DSCP, DSCP{Mask: 63}, func(v visitor, d *DSCP) {
		v.required("value", integer(&d.Value, 0, 63))
		v.attr("mask", integer(&d.Mask, 0, 63))
	}))
	v.attr("tcp_options", choice(&c.TCPOptions, "after", "before"))
	v.attr("probe_marker", checked(hex64(&c.ProbeMarker), func(x *expr) bool {
		if *c.ProbeMarker == 0 {
			return x.fail("zero is no marker: payloads that begin with zeros are common, and would lose bytes as INT")
		}
		return true
	}))
	v.attr("probe_ports", ranges(&c.ProbePorts, 0, 65535))
	v.attr("gre_protocol", checked(optional(&c.GREProtocol, 1536, 65535), func(x *expr) bool {
		if what, taken := etherTypes[*c.GREProtocol]; taken {
			return x.fail("EtherType 0x%04x is that of %s: every ordinary GRE tunnel that carries it would be taken for INT; "+
				"did you mean 34998 (0x88b6), which is free for local use?", *c.GREProtocol, what)
		}
		return true
	}))
	v.attr("vxlan_gpe", object(&c.VXLANGPE, VXLANGPE{Port: 4790, NextProtocol: 130}, func(v visitor, x *VXLANGPE) {
		v.attr("port", integer(&x.Port, 1, 65535))
		v.attr("next_protocol", checked(integer(&x.NextProtocol, 0, 255), func(e *expr) bool {
			if what, taken := gpeProtocols[x.NextProtocol]; taken {
				return e.fail("next protocol %d is that of %s: every ordinary VXLAN-GPE packet that carries it would be taken for INT; did you mean 130?",
					x.NextProtocol, what)
			}
			return true
		}))
	}))
	v.attr("geneve", object(&c.Geneve, Geneve{Port: 6081, OptionClass: 259}, func(v visitor, g *Geneve) {
		v.attr("port", integer(&g.Port, 1, 65535))
		v.attr("option_class", integer(&g.OptionClass, 0, 65535))
	}))
	v.attr("versions", choices(&c.Versions, "version", "2", "1", "0"))
	v.attr("int1_dialect", choice(&c.INT1Dialect, "standard", "geant"))
	v.attr("types", choices(&c.Types, "type", "md", "mx", "destination"))
	v.attr("shim_length", choice(&c.ShimLength, "exclusive", "inclusive"))
	v.attr("checksum", choice(&c.Checksum, "update", "keep"))
	v.attr("malformed", choice(&c.Malformed, "forward", "drop"))
	v.attr("fragments", choice(&c.Fragments, "pass", "strip"))
	v.blocks("domain", sliceBlocks[Domain]{&c.Domains, zero[Domain], func(d *Domain) *string { return &d.Name }, visitDomain})
}

// etherTypes are what GRE tunnels carry that have nothing to do with INT (IEEE 802
// numbers at IANA; 0x6558 is that of RFC 1701, 0x88be and 0x22eb are ERSPAN's).
var etherTypes = map[uint16]string{
	0x0800: "IPv4", 0x0806: "ARP", 0x22eb: "ERSPAN III", 0x2000: "CDP", 0x2001: "NHRP", 0x6558: "bridged Ethernet", 0x8100: "VLAN tags", 0x86dd: "IPv6",
	0x880b: "PPP", 0x8847: "MPLS", 0x8848: "MPLS", 0x88a8: "VLAN tags", 0x88be: "ERSPAN II", 0x88e5: "MACsec", 0x894f: "NSH",
}

// gpeProtocols are next protocols of VXLAN-GPE likewise (draft-ietf-nvo3-vxlan-gpe).
var gpeProtocols = map[uint8]string{1: "IPv4", 2: "IPv6", 3: "Ethernet", 4: "NSH"}

func visitDomain(v visitor, d *Domain) {
	v.required("id", integer(&d.ID, 1, 65535))
	v.blocks("instruction", sliceBlocks[Instruction]{&d.Instructions, defaultInstruction,
		func(i *Instruction) *string { return &i.Name }, visitInstruction})
}

func visitInstruction(v visitor, i *Instruction) {
	v.required("bit", integer(&i.Bit, 0, 15))
	v.required("length", integer(&i.Length, 4, 124))
	v.attr("scope", choice(&i.Scope, "hop", "source-only", "source-inserted"))
	v.attr("role", choice(&i.Role, "", "opaque", "device_id", "sequence"))
}
