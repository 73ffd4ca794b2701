package report_test

import (
	"fmt"

	"intsink/engine/report"
	"intsink/engine/report/decode"
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

	msg, err := decode.Decode(payload)
	if err != nil {
		fmt.Println(err)
		return
	}
	latency, _ := msg.Reports[0].Metadata.Get("hop_latency")
	fmt.Println("node", *msg.NodeID, "sequence", msg.SequenceNumber, "latency", latency)
	// Output: node 3 sequence 7 latency 350
}
