package conf

func visitWatch(v visitor, w *Watch, defaults *Events) {
	v.optional("match", pointerBlock[Match]{&w.Match, defaultMatch, visitMatch})
	v.attr("events", choices(&w.Events, "event", eventNames()...).orNone())
	v.attr("sample", integer(&w.Sample, 0, 1<<32-1))
	v.attr("sample_by", choice(&w.SampleBy, "packet", "flow"))
	v.attr("collectors", texts(&w.Collectors).omitEmpty())
	v.optional("events_override", pointerBlock[Events]{&w.Override, func() Events { return *defaults }, visitEvents})
}

func visitMatch(v visitor, m *Match) {
	v.attr("source", prefixes(&m.Source))
	v.attr("destination", prefixes(&m.Destination))
	v.attr("protocol", protocols(&m.Protocol))
	v.attr("source_port", ranges(&m.SourcePort, 0, 65535))
	v.attr("destination_port", ranges(&m.DestinationPort, 0, 65535))
	v.attr("flow", choice(&m.Flow, "any", "outer", "inner"))
	v.attr("vlan", ranges(&m.VLAN, 0, 4095))
	v.attr("dscp", codePoints(&m.DSCP))
	v.attr("vni", vnis(&m.VNI))
	v.attr("device", devices(&m.Device))
}
