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
	v.attr("gre_protocol", optional(&c.GREProtocol, 1536, 65535))
	v.attr("vxlan_gpe", object(&c.VXLANGPE, VXLANGPE{Port: 4790, NextProtocol: 130}, func(v visitor, x *VXLANGPE) {
		v.attr("port", integer(&x.Port, 1, 65535))
		v.attr("next_protocol", integer(&x.NextProtocol, 0, 255))
	}))
	v.attr("geneve", object(&c.Geneve, Geneve{Port: 6081, OptionClass: 259}, func(v visitor, g *Geneve) {
		v.attr("port", integer(&g.Port, 1, 65535))
		v.attr("option_class", integer(&g.OptionClass, 0, 65535))
	}))
	v.attr("versions", choices(&c.Versions, "version", "2", "1", "0"))
	v.attr("malformed", choice(&c.Malformed, "forward", "drop"))
	v.attr("fragments", choice(&c.Fragments, "pass", "strip"))
	v.blocks("domain", sliceBlocks[Domain]{&c.Domains, zero[Domain], func(d *Domain) *string { return &d.Name }, visitDomain})
}

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
