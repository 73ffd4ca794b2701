// AppendProto: writes a record as a protobuf message; its field numbers.

package record

import (
	"encoding/binary"
	"math"

	"intsink/engine/report"
)

// AppendProto appends r as one message Report of deploy/collect/intsink.proto, with no
// length in front.
func AppendProto(dst []byte, r *Record) []byte {
	b := putNumber(dst, fieldV, SchemaVersion)
	b = putText(b, fieldType, r.Type.String())
	b, at := openField(b, fieldID)
	b = closeField(r.appendID(b), at)
	b = putFixed64(b, fieldTime, uint64(max(r.Time, 0)))
	b = putFixed64(b, fieldReceived, uint64(max(r.Received, 0)))
	if r.Exporter.IsValid() {
		b = putAddr(b, fieldExporter, r.Exporter)
	}
	b = putKnown(b, r.Known&KnownNode != 0, fieldNodeID, uint64(r.NodeID))
	b = putNumber(b, fieldHwID, uint64(r.HwID))
	if v := versionFloats[r.Version]; v != 0 {
		b = putTag(b, fieldVersion, wireFixed32)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	switch r.Type {
	case Report:
		b = r.putReport(b)
	case Gap:
		b = putNumber(b, fieldFirst, r.First)
		if r.Count > 0 { // else it is not known where the gap ends
			b = putNumber(b, fieldLast, r.Last)
			b = putNumber(b, fieldCount, r.Count)
		}
	case Stats:
		b, at = openField(b, fieldStats)
		for i, v := range [...]uint64{r.Stats.Received, r.Stats.Lost, r.Stats.Late, r.Stats.Undecodable} {
			b = putNumber(b, i+1, v)
		}
		b = closeField(b, at)
	}
	return b
}

var versionFloats = [...]float32{UnknownVersion: 0, Version05: 0.5, Version10: 1, Version20: 2}

// putReport appends the fields that only records of type Report have.
func (r *Record) putReport(b []byte) []byte {
	b = putNumber(b, fieldSequence, r.Sequence)
	b = putNumber(b, fieldIndex, uint64(r.Index))
	if r.Known&KnownInstance != 0 {
		var at int
		b, at = openField(b, fieldInstance)
		b = closeField(appendHex64(b, r.Instance), at)
	}
	b = r.putReasons(b)
	b = r.putFlow(b)
	return r.putWay(b)
}

func (r *Record) putReasons(b []byte) []byte {
	if r.Known&KnownEvents != 0 {
		b = putNames(b, fieldEvents, r.Events, report.EventNames[:])
	}
	b = putKnown(b, r.Dropped, fieldDropped, 1)
	b = putKnown(b, r.Congested, fieldCongested, 1)
	b = putKnown(b, r.Tracked, fieldTracked, 1)
	if r.Known&KnownDropReason != 0 {
		b = putNumber(b, fieldDropReason, uint64(r.DropReason))
		if name := report.DropReasons[r.DropReason]; name != "" {
			b = putText(b, fieldDropReasonName, name)
		}
	}
	if r.Known&KnownExplanation != 0 {
		b = putNumber(b, fieldSuppressed, uint64(r.Suppressed))
		b = putNumber(b, fieldLost, uint64(r.Lost))
		b = putNumber(b, fieldDrops, uint64(r.Drops))
		b = putNumber(b, fieldFlowPackets, r.FlowPackets)
		b = putNumber(b, fieldFlowBytes, r.FlowBytes)
	}
	b = putKnown(b, r.Known&(KnownDrops|KnownExplanation) == KnownDrops, fieldDrops, uint64(r.Drops))
	b = putKnown(b, r.Known&KnownEventNode != 0, fieldEventNode, uint64(r.EventNode))
	b = putKnown(b, r.Known&KnownReference != 0, fieldReference, uint64(r.Reference))
	return putKnown(b, r.Known&KnownValue != 0, fieldValue, uint64(r.EventValue))
}

func (r *Record) putFlow(b []byte) []byte {
	addresses, at := r.Known&KnownAddresses != 0, 0
	if r.hasFlow() {
		b, at = openField(b, fieldFlow)
		b = closeField(r.AppendFlow(b), at)
	}
	if addresses {
		b = putAddr(b, fieldSource, r.Source)
		b = putAddr(b, fieldDestination, r.Destination)
	}
	ports := r.Known&KnownPorts != 0
	b = putKnown(b, ports, fieldSourcePort, uint64(r.SourcePort))
	b = putKnown(b, ports, fieldDestinationPort, uint64(r.DestinationPort))
	b = putKnown(b, addresses, fieldProtocol, uint64(r.Protocol))
	b = putKnown(b, addresses, fieldDSCP, uint64(r.DSCP))
	for _, id := range r.VLANs {
		b = putNumber(b, fieldVLAN, uint64(id))
	}
	b = putKnown(b, r.Known&KnownTCPFlags != 0, fieldTCPFlags, uint64(r.TCPFlags))
	b = putKnown(b, addresses, fieldLength, uint64(r.Length))
	if r.Known&KnownMACs != 0 {
		b, at = openField(b, fieldSourceMAC)
		b = closeField(appendMAC(b, &r.SourceMAC), at)
		b, at = openField(b, fieldDestinationMAC)
		b = closeField(appendMAC(b, &r.DestinationMAC), at)
	}
	if n := len(r.DeviceID); n > 0 {
		b = binary.AppendUvarint(putTag(b, fieldDeviceID, wireBytes), uint64(2*n))
		b = appendHex(b, r.DeviceID)
	}
	return b
}

func (r *Record) putWay(b []byte) []byte {
	at := 0
	if r.Known&KnownPath != 0 {
		b, at = openField(b, fieldPath)
		b = closeField(appendHex64(b, r.Path), at)
	}
	b = putKnown(b, r.Known&KnownHopCount != 0, fieldHopCount, uint64(r.HopCount))
	for i := range r.Hops {
		b, at = openField(b, fieldHops)
		b = closeField(r.Hops[i].put(b), at)
	}
	b = putKnown(b, r.Known&KnownLatency != 0, fieldLatencyNs, r.LatencyNs)
	for _, l := range r.Links {
		b, at = openField(b, fieldLinks)
		b = putNumber(b, 1, uint64(l.From))
		b = putNumber(b, 2, uint64(l.To))
		b = closeField(putNumber(b, 3, l.LatencyNs), at)
	}
	b = putKnown(b, r.Known&KnownMaxHop != 0, fieldMaxHop, uint64(r.MaxHop))
	b = putNames(b, fieldFlags, uint32(r.Flags), flagNames[:])
	if s := &r.Sink; s.Known != 0 {
		b, at = openField(b, fieldSink)
		b = putKnown(b, s.Known&HopIngress != 0, 1, uint64(s.Ingress))
		b = putKnown(b, s.Known&HopEgress != 0, 2, uint64(s.Egress))
		b = putKnown(b, s.Known&HopLatency != 0, 3, uint64(s.LatencyNs))
		b = putKnown(b, s.Known&HopQueue != 0, 4, uint64(s.Queue))
		b = putKnown(b, s.Known&HopOccupancy != 0, 5, uint64(s.Occupancy))
		b = closeField(b, at)
	}
	return b
}

func (h *Hop) put(b []byte) []byte {
	b = putKnown(b, h.Known&HopNode != 0, 1, uint64(h.NodeID))
	b = putKnown(b, h.Known&HopIngress != 0, 2, uint64(h.Ingress))
	b = putKnown(b, h.Known&HopEgress != 0, 3, uint64(h.Egress))
	b = putKnown(b, h.Known&HopIngress2 != 0, 4, uint64(h.Ingress2))
	b = putKnown(b, h.Known&HopEgress2 != 0, 5, uint64(h.Egress2))
	b = putKnown(b, h.Known&HopLatency != 0, 6, uint64(h.LatencyNs))
	b = putKnown(b, h.Known&HopQueue != 0, 7, uint64(h.Queue))
	b = putKnown(b, h.Known&HopOccupancy != 0, 8, uint64(h.Occupancy))
	if h.Known&HopIngressTime != 0 {
		b = putFixed64(b, 9, h.IngressTime)
	}
	if h.Known&HopEgressTime != 0 {
		b = putFixed64(b, 10, h.EgressTime)
	}
	return putKnown(b, h.Known&HopTxUtilization != 0, 11, uint64(h.TxUtilization))
}

// Field numbers of message Report in deploy/collect/intsink.proto.
const (
	fieldV = iota + 1
	fieldType
	fieldID
	fieldTime
	fieldReceived
	fieldExporter
	fieldNodeID
	fieldHwID
	fieldVersion
	fieldSequence
	fieldIndex
	fieldEvents
	fieldDropped
	fieldCongested
	fieldTracked
	fieldDropReason
	fieldDropReasonName
	fieldSuppressed
	fieldLost
	fieldDrops
	fieldFlowPackets
	fieldFlowBytes
	fieldEventNode
	fieldReference
	fieldValue
	fieldFlow
	fieldSource
	fieldDestination
	fieldSourcePort
	fieldDestinationPort
	fieldProtocol
	fieldDSCP
	fieldVLAN
	fieldTCPFlags
	fieldLength
	fieldSourceMAC
	fieldDestinationMAC
	fieldDeviceID
	fieldPath
	fieldHopCount
	fieldHops
	fieldLatencyNs
	fieldLinks
	fieldMaxHop
	fieldFlags
	fieldSink
	fieldFirst
	fieldLast
	fieldCount
	fieldStats
	fieldInstance
)
