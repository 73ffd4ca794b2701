// AppendJSON: writes a record as one JSON object.

package record

import (
	"net/netip"
	"strconv"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
)

// AppendJSON appends r as one JSON object, without a line feed.
func AppendJSON(dst []byte, r *Record) []byte {
	b := append(dst, `{"v":1,"type":"`...)
	b = append(b, r.Type.String()...)
	b = append(b, `","id":"`...)
	b = r.appendID(b)
	b = append(b, `","time":"`...)
	b = appendTime(b, uint64(max(r.Time, 0)))
	b = append(b, `","received":"`...)
	b = appendTime(b, uint64(max(r.Received, 0)))
	b = append(b, '"')
	if r.Exporter.IsValid() {
		b = appendAddrField(b, `,"exporter":"`, r.Exporter)
	}
	if r.Known&KnownNode != 0 {
		b = appendNumber(b, `,"node_id":`, uint64(r.NodeID))
	}
	b = appendNumber(b, `,"hw_id":`, uint64(r.HwID))
	if v := versionNumbers[r.Version]; v != "" {
		b = append(append(b, `,"version":`...), v...)
	}
	switch r.Type {
	case Report:
		b = r.appendReport(b)
	case Gap:
		b = appendNumber(b, `,"first":`, r.First)
		if r.Count > 0 { // else it is not known where the gap ends
			b = appendNumber(b, `,"last":`, r.Last)
			b = appendNumber(b, `,"count":`, r.Count)
		}
	case Stats:
		b = appendNumber(b, `,"stats":{"received":`, r.Stats.Received)
		b = appendNumber(b, `,"lost":`, r.Stats.Lost)
		b = appendNumber(b, `,"late":`, r.Stats.Late)
		b = appendNumber(b, `,"undecodable":`, r.Stats.Undecodable)
		b = append(b, '}')
	case EpisodeType:
		b = r.appendEpisodes(b)
	}
	return append(b, '}')
}

var versionNumbers = [...]string{Version05: "0.5", Version10: "1", Version20: "2"}

// appendReport appends the fields that only records of type Report have.
func (r *Record) appendReport(b []byte) []byte {
	b = appendNumber(b, `,"sequence":`, r.Sequence)
	b = appendNumber(b, `,"index":`, uint64(r.Index))
	if r.Known&KnownInstance != 0 {
		b = append(appendHex64(append(b, `,"instance":"`...), r.Instance), '"')
	}
	b = r.appendHeaders(b)
	b = r.appendReasons(b)
	b = r.appendFlow(b)
	b = r.appendTunnel(b)
	b = r.appendWay(b)
	if r.Sink.Known != 0 {
		b = r.Sink.AppendJSON(append(b, `,"sink":`...))
	}
	return r.appendContents(b)
}

// appendHeaders appends the report's own headers.
func (r *Record) appendHeaders(b []byte) []byte {
	if r.Known&KnownRepType != 0 {
		b = appendNumber(b, `,"rep_type":`, uint64(r.RepType))
	}
	if r.Known&KnownInType != 0 {
		b = appendNumber(b, `,"in_type":`, uint64(r.InType))
	}
	if r.Known&KnownRepType != 0 {
		b = appendBool(b, `,"intermediate":`, r.Intermediate)
	}
	if r.Known&KnownMain != 0 {
		b = appendNumber(b, `,"domain":`, uint64(r.Domain))
		b = appendNumber(b, `,"ds_md_bits":`, uint64(r.DSMdBits))
		b = appendNumber(b, `,"ds_md_status":`, uint64(r.DSMdStatus))
	}
	if r.Problem != decode.NoProblem {
		b = append(append(append(b, `,"problem":"`...), r.Problem.String()...), '"')
	}
	return b
}

// appendContents appends what the report has besides a packet and its explanation.
func (r *Record) appendContents(b []byte) []byte {
	b = appendHexField(b, `,"ds_metadata":"`, r.DSMetadata)
	b = appendHexField(b, `,"data":"`, r.Data)
	for i := range r.TLVs {
		name := `,{"type":"`
		if i == 0 {
			name = `,"tlvs":[{"type":"`
		}
		t := &r.TLVs[i]
		b = append(append(append(b, name...), tlvNames[t.Type&0xf]...), '"')
		if t.Type == report.TLVDSExtension {
			b = appendNumber(b, `,"template":`, uint64(t.Template))
		}
		b = append(appendHexField(b, `,"data":"`, t.Data), '}')
	}
	if len(r.TLVs) > 0 {
		b = append(b, ']')
	}
	return r.appendEpisodes(b)
}

// tlvNames has the names of types of TLVs; reserved ones go by their number.
var tlvNames = [16]string{
	report.TLVDSExtension: "ds_extension", report.TLVEthernet: "ethernet", report.TLVIPv4: "ipv4", report.TLVIPv6: "ipv6",
	4: "4", 5: "5", 6: "6", 7: "7", 8: "8", 9: "9", 10: "10", 11: "11", 12: "12", 13: "13", 14: "14", 15: "15",
}

// appendHexField appends a field of hexadecimal digits if there are any.
func appendHexField(b []byte, name string, bytes []byte) []byte {
	if len(bytes) == 0 {
		return b
	}
	return append(appendHex(append(b, name...), bytes), '"')
}

// appendReasons appends why the report was sent.
func (r *Record) appendReasons(b []byte) []byte {
	if r.Known&KnownEvents != 0 {
		b = append(b, `,"events":[`...)
		b = appendNames(b, r.Events, report.EventNames[:])
	}
	b = appendBool(b, `,"dropped":`, r.Dropped)
	b = appendBool(b, `,"congested":`, r.Congested)
	b = appendBool(b, `,"tracked":`, r.Tracked)
	if r.Known&KnownDropReason != 0 {
		b = appendNumber(b, `,"drop_reason":`, uint64(r.DropReason))
		if name := report.DropReasons[r.DropReason]; name != "" {
			b = append(append(append(b, `,"drop_reason_name":"`...), name...), '"')
		}
	}
	if r.Known&KnownExplanation != 0 {
		b = appendNumber(b, `,"suppressed":`, uint64(r.Suppressed))
		b = appendNumber(b, `,"lost":`, uint64(r.Lost))
		b = appendNumber(b, `,"drops":`, uint64(r.Drops))
		b = appendNumber(b, `,"flow_packets":`, r.FlowPackets)
		b = appendNumber(b, `,"flow_bytes":`, r.FlowBytes)
	}
	if r.Known&(KnownDrops|KnownExplanation) == KnownDrops {
		b = appendNumber(b, `,"drops":`, uint64(r.Drops))
	}
	if r.Known&KnownEventNode != 0 {
		b = appendNumber(b, `,"event_node":`, uint64(r.EventNode))
	}
	if r.Known&KnownReference != 0 {
		b = appendNumber(b, `,"reference":`, uint64(r.Reference))
	}
	if r.Known&KnownValue != 0 {
		b = appendNumber(b, `,"value":`, uint64(r.EventValue))
	}
	return b
}

// appendFlow appends the addresses, ports and other header fields of the reported packet.
func (r *Record) appendFlow(b []byte) []byte {
	if r.Known&KnownAddresses != 0 {
		if r.hasFlow() {
			b = append(b, `,"flow":"`...)
			b = append(r.AppendFlow(b), '"')
		}
		b = appendAddrField(b, `,"source":"`, r.Source)
		b = appendAddrField(b, `,"destination":"`, r.Destination)
	}
	if r.Known&KnownPorts != 0 {
		b = appendNumber(b, `,"source_port":`, uint64(r.SourcePort))
		b = appendNumber(b, `,"destination_port":`, uint64(r.DestinationPort))
	}
	if r.Known&KnownAddresses != 0 {
		b = appendNumber(b, `,"protocol":`, uint64(r.Protocol))
		b = appendNumber(b, `,"dscp":`, uint64(r.DSCP))
	}
	for i, id := range r.VLANs {
		name := `,`
		if i == 0 {
			name = `,"vlan":[`
		}
		b = appendNumber(b, name, uint64(id))
	}
	if len(r.VLANs) > 0 {
		b = append(b, ']')
	}
	if r.Known&KnownTCPFlags != 0 {
		b = appendNumber(b, `,"tcp_flags":`, uint64(r.TCPFlags))
	}
	if r.Known&KnownAddresses != 0 {
		b = appendNumber(b, `,"length":`, uint64(r.Length))
	}
	if r.Known&KnownMACs != 0 {
		b = append(appendMAC(append(b, `,"source_mac":"`...), &r.SourceMAC), '"')
		b = append(appendMAC(append(b, `,"destination_mac":"`...), &r.DestinationMAC), '"')
	}
	return appendHexField(b, `,"device_id":"`, r.DeviceID)
}

// appendTunnel appends the headers of the packets around and inside of the reported one.
func (r *Record) appendTunnel(b []byte) []byte {
	if r.Known&KnownVNI != 0 {
		b = appendNumber(b, `,"vni":`, uint64(r.VNI))
	}
	if r.Outer.Source.IsValid() {
		b = r.Outer.appendTo(append(b, `,"outer":`...))
	}
	if r.Inner.Source.IsValid() {
		b = r.Inner.appendTo(append(b, `,"inner":`...))
	}
	return b
}

// appendTo appends h, which has addresses, as an object.
func (h *Headers) appendTo(b []byte) []byte {
	start := len(b)
	if h.HasPorts || !hasPorts(h.Protocol) {
		b = append(h.appendFlow(append(b, `,"flow":"`...)), '"')
	}
	b = appendAddrField(b, `,"source":"`, h.Source)
	b = appendAddrField(b, `,"destination":"`, h.Destination)
	if h.HasPorts {
		b = appendNumber(b, `,"source_port":`, uint64(h.SourcePort))
		b = appendNumber(b, `,"destination_port":`, uint64(h.DestinationPort))
	}
	b = appendNumber(b, `,"protocol":`, uint64(h.Protocol))
	return closeObject(appendNumber(b, `,"dscp":`, uint64(h.DSCP)), start)
}

// appendWay appends the hops, and the links, latencies and path derived from them.
func (r *Record) appendWay(b []byte) []byte {
	if r.Known&KnownPath != 0 {
		b = append(appendHex64(append(b, `,"path":"`...), r.Path), '"')
	}
	if r.Known&KnownHopCount != 0 {
		b = appendNumber(b, `,"hop_count":`, uint64(r.HopCount))
	}
	for i := range r.Hops {
		if i == 0 {
			b = append(b, `,"hops":[`...)
		} else {
			b = append(b, ',')
		}
		b = r.Hops[i].AppendJSON(b)
	}
	if len(r.Hops) > 0 {
		b = append(b, ']')
	}
	if r.Known&KnownLatency != 0 {
		b = appendNumber(b, `,"latency_ns":`, r.LatencyNs)
	}
	for i := range r.Links {
		name := `,{"from":`
		if i == 0 {
			name = `,"links":[{"from":`
		}
		b = appendNumber(b, name, uint64(r.Links[i].From))
		b = appendNumber(b, `,"to":`, uint64(r.Links[i].To))
		b = append(appendNumber(b, `,"latency_ns":`, r.Links[i].LatencyNs), '}')
	}
	if len(r.Links) > 0 {
		b = append(b, ']')
	}
	if r.Known&KnownMaxHop != 0 {
		b = appendNumber(b, `,"max_hop":`, uint64(r.MaxHop))
	}
	b = appendHexField(b, `,"source_metadata":"`, r.SourceMetadata)
	if r.Flags != 0 {
		b = appendNames(append(b, `,"flags":[`...), uint32(r.Flags), flagNames[:])
	}
	if r.INTType != 0 {
		b = append(append(append(b, `,"int_type":"`...), r.INTType.String()...), '"')
	}
	if r.INTProblem != inthdr.ReasonNone {
		b = append(append(append(b, `,"int_problem":"`...), r.INTProblem.String()...), '"')
	}
	return b
}

// AppendJSON appends h as an object.
func (h *Hop) AppendJSON(b []byte) []byte {
	start := len(b)
	number := func(known HopKnown, name string, v uint32) {
		if h.Known&known != 0 {
			b = appendNumber(b, name, uint64(v))
		}
	}
	number(HopNode, `,"node_id":`, h.NodeID)
	number(HopIngress, `,"ingress":`, h.Ingress)
	number(HopEgress, `,"egress":`, h.Egress)
	number(HopIngress2, `,"ingress2":`, h.Ingress2)
	number(HopEgress2, `,"egress2":`, h.Egress2)
	number(HopLatency, `,"latency_ns":`, h.LatencyNs)
	number(HopQueue, `,"queue":`, uint32(h.Queue))
	number(HopOccupancy, `,"occupancy":`, h.Occupancy)
	if h.Known&HopIngressTime != 0 {
		b = append(appendTime(append(b, `,"ingress_time":"`...), h.IngressTime), '"')
	}
	if h.Known&HopEgressTime != 0 {
		b = append(appendTime(append(b, `,"egress_time":"`...), h.EgressTime), '"')
	}
	number(HopTxUtilization, `,"tx_utilization":`, h.TxUtilization)
	number(HopBuffer, `,"buffer":`, uint32(h.Buffer))
	number(HopBufferOccupancy, `,"buffer_occupancy":`, h.BufferOccupancy)
	number(HopCongestion, `,"congestion":`, h.Congestion)
	b = appendHexField(b, `,"ds_metadata":"`, h.DSMetadata)
	return closeObject(b, start)
}

// closeObject ends the object whose fields, each with a comma in front, begin at b[start]: it
// turns the first comma into the opening brace.
func closeObject(b []byte, start int) []byte {
	if len(b) == start {
		return append(b, "{}"...)
	}
	b[start] = '{'
	return append(b, '}')
}

func appendNumber(b []byte, name string, v uint64) []byte {
	return appendDecimal(append(b, name...), v)
}

func appendBool(b []byte, name string, v bool) []byte {
	return strconv.AppendBool(append(b, name...), v)
}

func appendAddrField(b []byte, name string, a netip.Addr) []byte {
	return append(appendAddr(append(b, name...), a), '"')
}

// appendNames appends, for each bit of set, its name as an element of an array, and ends the
// array.
func appendNames(b []byte, set uint32, names []string) []byte {
	first := true
	for bit, name := range names {
		if set>>bit&1 == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(append(b, '"'), name...), '"')
	}
	return append(b, ']')
}
