package record

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
)
