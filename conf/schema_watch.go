// The schema of block watch and of its match.

package conf

import "intsink/conf/schema"

func visitWatch(v schema.Visitor, w *Watch, defaults *Events) {
	v.Optional("match", schema.Pointer(&w.Match, defaultMatch, visitMatch))
	v.Attr("events", schema.Choices(&w.Events, "event", eventNames()...).OrNone())
	v.Attr("sample", schema.Integer(&w.Sample, 0, 1<<32-1))
	v.Attr("sample_by", schema.Choice(&w.SampleBy, SamplePackets, SampleFlows))
	v.Attr("collectors", schema.Texts(&w.Collectors).OmitEmpty())
	v.Optional("events_override", schema.Pointer(&w.Override, func() Events { return *defaults }, visitEvents))
}

func visitMatch(v schema.Visitor, m *Match) {
	v.Attr("source", schema.Prefixes(&m.Source))
	v.Attr("destination", schema.Prefixes(&m.Destination))
	v.Attr("protocol", protocols(&m.Protocol))
	v.Attr("source_port", ports(&m.SourcePort, 0, 65535))
	v.Attr("destination_port", ports(&m.DestinationPort, 0, 65535))
	v.Attr("flow", schema.Choice(&m.Flow, AnyLayer, OuterLayer, InnerLayer))
	v.Attr("vlan", ports(&m.VLAN, 0, 4095))
	v.Attr("dscp", codePoints(&m.DSCP))
	v.Attr("vni", vnis(&m.VNI))
	v.Attr("device", devices(&m.Device))
}
