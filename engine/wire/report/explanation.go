// Explanation: writes why a report was sent, as a TLV of domain extension data; TLVs of
// InType 1.

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

// Trigger is the value that made a latency or congestion event enter. Fields of all ones are
// unknown.
type Trigger struct {
	NodeID    uint32
	Reference uint32 // what was last reported, or the threshold
	Value     uint32
}

// NoTrigger is the Trigger of events that have none.
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

// PutTotals writes what Put writes of packets and bytes, and nothing else.
func PutTotals(b []byte, packets, bytes uint64) {
	_ = b[ExplanationLen-1]
	binary.BigEndian.PutUint64(b[8:], packets)
	binary.BigEndian.PutUint64(b[16:], bytes)
}

// Get reads what Put wrote; false where b has another length.
func (e *Explanation) Get(b []byte) bool {
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

// Explain makes r's inner contents TLVs: e, episodes that ended, then the packet that was there, cut to
// what a TLV can hold. b has room for all.
func (r *Individual) Explain(e *Explanation, b []byte, episodes ...Episode) {
	var data [ExplanationLen]byte
	e.Put(data[:])
	n := PutTLV(b, TLVDSExtension, ExplainTemplate, data[:])
	for i := range episodes {
		n += PutTLV(b[n:], TLVDSExtension, EpisodeTemplate, episodes[i].Append(make([]byte, 0, MaxEpisodeLen)))
	}
	if r.InType >= Ethernet && r.InType <= IPv6 {
		t := TLVEthernet + TLVType(r.InType-Ethernet)
		n += PutTLV(b[n:], t, 0, r.Inner[:min(len(r.Inner), MaxTLVData)])
	}
	r.InType, r.Inner = TLV, b[:n]
}

// TLVType is the type of one TLV of InType 1 (Telemetry Report 2.0, section
// "Individual Report Inner Contents for InType 1").
type TLVType uint8

const (
	TLVDSExtension TLVType = 0
	TLVEthernet    TLVType = 1
	TLVIPv4        TLVType = 2
	TLVIPv6        TLVType = 3
)

const (
	tlvHeaderLen = 4
	maxTLVWords  = 0xff
)

// TLVLen returns the length in bytes of a TLV with n bytes of data, padding included.
func TLVLen(n int) int { return tlvHeaderLen + (n+3)&^3 }

// PutTLV writes a TLV to b and returns its length, 0 where it does not fit or
// data is longer than 1020 bytes. The data is padded with zeros to a multiple of
// four. template is the TLV Data Template of domain specific extension data; it
// is written as zero for the other types.
func PutTLV(b []byte, t TLVType, template uint16, data []byte) int {
	words := (len(data) + 3) / 4
	n := TLVLen(len(data))
	if n > len(b) || words > maxTLVWords {
		return 0
	}
	if t != TLVDSExtension {
		template = 0
	}
	b[0] = uint8(t) << 4
	b[1] = uint8(words)
	binary.BigEndian.PutUint16(b[2:], template)
	end := tlvHeaderLen + copy(b[tlvHeaderLen:n], data)
	clear(b[end:n])
	return n
}

// lastTLV returns where the last TLV in b starts, which PutTLV wrote.
func lastTLV(b []byte) (at int) {
	for next := 0; next+tlvHeaderLen <= len(b); next += tlvHeaderLen + int(b[next+1])*4 {
		at = next
	}
	return at
}
