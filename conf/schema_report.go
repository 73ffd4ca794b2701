package conf

import "time"

func visitWatch(v visitor, w *Watch, defaults *Events) {
	v.optional("match", pointerBlock[Match]{&w.Match, func() Match { return Match{} }, visitMatch})
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
	v.attr("vlan", ranges(&m.VLAN, 0, 4095))
	v.attr("dscp", codePoints(&m.DSCP))
}

func visitReport(v visitor, r *Report) {
	v.attr("version", choice(&r.Version, "2.0").later("1.0", "0.5"))
	v.attr("profile", choice(&r.Profile, "").later("transparent-security"))
	v.attr("metadata", choices(&r.Metadata, "metadata", reportMetadata...).orNone())
	v.attr("fragment", integer(&r.Fragment, 0, maxFragment))
	v.attr("inner", choice(&r.Inner, "ip", "ethernet"))
	v.attr("explain", boolean(&r.Explain))
	v.block("coalesce", &r.Coalesce, func(v visitor) {
		v.attr("max_bytes", integer(&r.Coalesce.MaxBytes, 1, 9216))
		v.attr("max_reports", integer(&r.Coalesce.MaxReports, 0, 1000))
		v.attr("max_delay", duration(&r.Coalesce.MaxDelay, 0, 10*time.Second))
	})
}

func visitCollector(v visitor, c *Collector) {
	v.required("address", endpoint(c))
	v.attr("source", address(&c.Source))
	v.attr("source_port", sourcePort(c))
	v.block("budget", &c.Budget, func(v visitor) {
		v.attr("packets", integer(&c.Budget.Packets, 0, 1<<40))
		v.attr("bits", integer(&c.Budget.Bits, 0, 1<<40))
		v.attr("burst", duration(&c.Budget.Burst, time.Millisecond, time.Minute))
	})
}

// reportMetadata is what the sink can say of itself, in the order of RepMdBits.
var reportMetadata = []string{"interfaces", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp"}

// maxFragment is what fits beside the headers and all metadata in the 254 words
// that a coalesced report may have after its first: 1016 bytes less 8 of main
// contents and 28 of metadata.
const maxFragment = 980
