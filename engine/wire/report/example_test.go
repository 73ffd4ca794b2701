package report_test

import (
	"fmt"

	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
)

func Example() {
	var p report.Packet
	p.Open(make([]byte, 1400))
	md := make([]byte, 48)
	m := report.Metadata{IngressPort: 1, EgressPort: 2, HopLatencyNs: 350}
	const asked = report.MdInterfaces | report.MdHopLatency
	p.Append(&report.Individual{
		RepType: report.INT, RepMdBits: asked, Metadata: md[:m.Put(md, asked)],
		TrackedFlow: true,
	})
	payload := p.Seal(report.GroupHeader{NodeID: 3, Sequence: 7})

	var all decode.Reports
	var r decode.Report
	if err := all.Open(payload); err != nil {
		fmt.Println(err)
		return
	}
	for all.Next(&r) {
		fmt.Println("node", all.NodeID, "sequence", all.Sequence, "latency", r.Own.Latency)
	}
	// Output: node 3 sequence 7 latency 350
}
