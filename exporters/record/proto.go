// AppendProto: writes a record as a protobuf message; its field numbers.

package record

import (
	"encoding/binary"
	"math"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
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
	case EpisodeType:
		b = r.putEpisodes(b)
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
	b = r.putHeaders(b)
	b = r.putReasons(b)
	b = r.putFlow(b)
	b = putKnown(b, r.Known&KnownVNI != 0, fieldVNI, uint64(r.VNI))
	b = r.Outer.put(b, fieldOuter)
	b = r.Inner.put(b, fieldInner)
	b = r.putWay(b)
	return r.putContents(b)
}

// putHeaders appends the report's own headers.
func (r *Record) putHeaders(b []byte) []byte {
	b = putKnown(b, r.Known&KnownRepType != 0, fieldRepType, uint64(r.RepType))
	b = putKnown(b, r.Known&KnownInType != 0, fieldInType, uint64(r.InType))
	b = putKnown(b, r.Known&KnownRepType != 0 && r.Intermediate, fieldIntermediate, 1)
	if r.Known&KnownMain != 0 {
		b = putNumber(b, fieldDomain, uint64(r.Domain))
		b = putNumber(b, fieldDSMdBits, uint64(r.DSMdBits))
		b = putNumber(b, fieldDSMdStatus, uint64(r.DSMdStatus))
	}
	if r.Problem != decode.NoProblem {
		b = putText(b, fieldProblem, r.Problem.String())
	}
	return b
}

// putContents appends what the report has besides a packet and its explanation.
func (r *Record) putContents(b []byte) []byte {
	b = putHex(b, fieldDSMetadata, r.DSMetadata)
	b = putHex(b, fieldData, r.Data)
	for i := range r.TLVs {
		t, at := &r.TLVs[i], 0
		b, at = openField(b, fieldTLVs)
		b = putText(b, 1, tlvNames[t.Type&0xf])
		b = putKnown(b, t.Type == report.TLVDSExtension, 2, uint64(t.Template))
		b = closeField(putHex(b, 3, t.Data), at)
	}
	return r.putEpisodes(b)
}

// put appends h as a message if it has addresses.
func (h *Headers) put(b []byte, field int) []byte {
	if !h.Source.IsValid() {
		return b
	}
	b, start := openField(b, field)
	if h.HasPorts || !hasPorts(h.Protocol) {
		at := 0
		b, at = openField(b, 1)
		b = closeField(h.appendFlow(b), at)
	}
	b = putAddr(b, 2, h.Source)
	b = putAddr(b, 3, h.Destination)
	b = putKnown(b, h.HasPorts, 4, uint64(h.SourcePort))
	b = putKnown(b, h.HasPorts, 5, uint64(h.DestinationPort))
	b = putNumber(b, 6, uint64(h.Protocol))
	return closeField(putNumber(b, 7, uint64(h.DSCP)), start)
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
	return putHex(b, fieldDeviceID, r.DeviceID)
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
	b = putHex(b, fieldSourceMetadata, r.SourceMetadata)
	b = putNames(b, fieldFlags, uint32(r.Flags), flagNames[:])
	if r.INTType != 0 {
		b = putText(b, fieldINTType, r.INTType.String())
	}
	if r.INTProblem != inthdr.ReasonNone {
		b = putText(b, fieldINTProblem, r.INTProblem.String())
	}
	if s := &r.Sink; s.Known != 0 {
		b, at = openField(b, fieldSink)
		b = putKnown(b, s.Known&HopIngress != 0, 1, uint64(s.Ingress))
		b = putKnown(b, s.Known&HopEgress != 0, 2, uint64(s.Egress))
		b = putKnown(b, s.Known&HopLatency != 0, 3, uint64(s.LatencyNs))
		b = putKnown(b, s.Known&HopQueue != 0, 4, uint64(s.Queue))
		b = putKnown(b, s.Known&HopOccupancy != 0, 5, uint64(s.Occupancy))
		b = putKnown(b, s.Known&HopIngress2 != 0, 6, uint64(s.Ingress2))
		b = putKnown(b, s.Known&HopEgress2 != 0, 7, uint64(s.Egress2))
		b = s.putTimes(b, 8)
		b = putKnown(b, s.Known&HopTxUtilization != 0, 10, uint64(s.TxUtilization))
		b = putKnown(b, s.Known&HopBuffer != 0, 11, uint64(s.Buffer))
		b = putKnown(b, s.Known&HopBufferOccupancy != 0, 12, uint64(s.BufferOccupancy))
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
	b = h.putTimes(b, 9)
	b = putKnown(b, h.Known&HopTxUtilization != 0, 11, uint64(h.TxUtilization))
	b = putKnown(b, h.Known&HopBuffer != 0, 12, uint64(h.Buffer))
	b = putKnown(b, h.Known&HopBufferOccupancy != 0, 13, uint64(h.BufferOccupancy))
	b = putKnown(b, h.Known&HopCongestion != 0, 14, uint64(h.Congestion))
	return putHex(b, 15, h.DSMetadata)
}

// putTimes appends the ingress time as that field, and the egress time as the next.
func (h *Hop) putTimes(b []byte, field int) []byte {
	if h.Known&HopIngressTime != 0 {
		b = putFixed64(b, field, h.IngressTime)
	}
	if h.Known&HopEgressTime != 0 {
		b = putFixed64(b, field+1, h.EgressTime)
	}
	return b
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
	fieldRepType
	fieldInType
	fieldIntermediate
	fieldDomain
	fieldDSMdBits
	fieldDSMdStatus
	fieldProblem
	fieldVNI
	fieldOuter
	fieldInner
	fieldSourceMetadata
	fieldINTProblem
	fieldDSMetadata
	fieldData
	fieldTLVs
	fieldEpisodes
	fieldINTType
	fieldsEnd // behind the last
)
