package report

import "encoding/binary"

// ExplainTemplate is the TLV Data Template of Explanation: "IS".
const ExplainTemplate = 0x4953

// ExplanationLen is the length of an Explanation in bytes.
const ExplanationLen = 44

// Explanation says why a report was sent: domain specific extension data in a TLV
// of InType 1.
//
//	| events 32 | suppressed 32 | packets 64 | bytes 64 | lost 32 | drops 32 | node id 32 | reference 32 | value 32 |
//
// A report that has no flow has zeros in place of the flow's numbers.
type Explanation struct {
	Events         uint32 // bit i is EventNames[i]
	Suppressed     uint32 // events of the flow that a limit withheld so far
	Packets, Bytes uint64 // of the flow so far, without INT
	Lost           uint32 // sequence numbers of the flow that never came; of a loss report, since the last one
	Drops          uint32 // packets of the flow that the sink dropped; of a drop report, since the last one
	Trigger        Trigger
}

// Trigger is the value that made a latency or congestion event enter. All ones is
// what there is none of.
type Trigger struct {
	NodeID    uint32
	Reference uint32 // what was last reported, or the threshold
	Value     uint32
}

// NoTrigger is that of events that have none.
var NoTrigger = Trigger{unknown, unknown, unknown}

// EventNames are the events by their bit in Explanation.Events.
var EventNames = [...]string{
	"new_flow", "path_change", "path_switch", "hop_latency", "end_to_end", "link_latency", "congestion", "tx_utilization",
	"refresh", "sample", "flow_end", "loss", "drop", "hop_limit", "mtu_exceeded", "malformed", "leak", "unknown_domain",
}

// Put writes e to b, which has room for ExplanationLen bytes.
func (e *Explanation) Put(b []byte) {
	_ = b[ExplanationLen-1]
	binary.BigEndian.PutUint32(b, e.Events)
	binary.BigEndian.PutUint32(b[4:], e.Suppressed)
	binary.BigEndian.PutUint64(b[8:], e.Packets)
	binary.BigEndian.PutUint64(b[16:], e.Bytes)
	binary.BigEndian.PutUint32(b[24:], e.Lost)
	binary.BigEndian.PutUint32(b[28:], e.Drops)
	binary.BigEndian.PutUint32(b[32:], e.Trigger.NodeID)
	binary.BigEndian.PutUint32(b[36:], e.Trigger.Reference)
	binary.BigEndian.PutUint32(b[40:], e.Trigger.Value)
}

// get reads what Put wrote; false where b has another length.
func (e *Explanation) get(b []byte) bool {
	if len(b) != ExplanationLen {
		return false
	}
	*e = Explanation{
		Events: binary.BigEndian.Uint32(b), Suppressed: binary.BigEndian.Uint32(b[4:]),
		Packets: binary.BigEndian.Uint64(b[8:]), Bytes: binary.BigEndian.Uint64(b[16:]),
		Lost: binary.BigEndian.Uint32(b[24:]), Drops: binary.BigEndian.Uint32(b[28:]),
		Trigger: Trigger{binary.BigEndian.Uint32(b[32:]), binary.BigEndian.Uint32(b[36:]), binary.BigEndian.Uint32(b[40:])},
	}
	return true
}

// MaxTLVData is the longest data of a TLV in bytes.
const MaxTLVData = maxTLVWords * 4

// Explain makes r's inner contents TLVs: e, then the packet that was there, cut to
// what a TLV can hold. b has room for both.
func (r *Individual) Explain(e *Explanation, b []byte) {
	var data [ExplanationLen]byte
	e.Put(data[:])
	n := PutTLV(b, TLVDSExtension, ExplainTemplate, data[:])
	if r.InType >= Ethernet && r.InType <= IPv6 {
		t := TLVEthernet + TLVType(r.InType-Ethernet)
		n += PutTLV(b[n:], t, 0, r.Inner[:min(len(r.Inner), MaxTLVData)])
	}
	r.InType, r.Inner = TLV, b[:n]
}

// Explained is an Explanation as decode shows it. Numbers of a flow are absent
// where there are none.
type Explained struct {
	Suppressed uint32  `json:"suppressed"`
	Packets    uint64  `json:"packets"`
	Bytes      uint64  `json:"bytes"`
	Lost       uint32  `json:"lost"`
	Drops      uint32  `json:"drops"`
	NodeID     *uint32 `json:"node_id,omitempty"`
	Reference  *uint32 `json:"reference,omitempty"`
	Value      *uint32 `json:"value,omitempty"`
}

// explainedBy fills in what a TLV with our template says.
func (r *Report) explainedBy(data []byte) {
	var e Explanation
	if !e.get(data) {
		return
	}
	r.Events = []string{}
	for bit, name := range EventNames {
		if e.Events>>bit&1 != 0 {
			r.Events = append(r.Events, name)
		}
	}
	known := func(v uint32) *uint32 {
		if v == unknown {
			return nil
		}
		return &v
	}
	r.Explained = &Explained{
		Suppressed: e.Suppressed, Packets: e.Packets, Bytes: e.Bytes, Lost: e.Lost, Drops: e.Drops,
		NodeID: known(e.Trigger.NodeID), Reference: known(e.Trigger.Reference), Value: known(e.Trigger.Value),
	}
}
