// Record: the flat record of one report, gap or stats, with the bits (Known, HopKnown) that
// say which values are known.

package record

import "net/netip"

// SchemaVersion is the field v of every record. Fields may be added to it; anything
// that breaks a reader takes another number.
const SchemaVersion = 1

// Record is one record. It is meant to be used again and again: Reset keeps the room of
// its slices. What the fields of Known's bits hold is to be read only where their bit
// is set.
type Record struct {
	Type  Type
	Known Known

	// The reporting node, and the place of the report in its stream.
	Time     int64      // Unix nanoseconds: when the sink sent the packet on, else Received
	Received int64      // Unix nanoseconds: when the collector received the report packet
	Exporter netip.Addr // source address of the report packet; not valid: not known
	Version  Version
	NodeID   uint32
	HwID     uint8
	Start    int64  // when the stream of sequence numbers began, Unix nanoseconds: part of the id
	Sequence uint64 // of the report packet, counted on past the width that it has on the wire
	Index    uint16 // of the report in its packet, from 0

	// Why the report was sent.
	Events     uint32 // bit i is report.EventNames[i]
	Dropped    bool   // D
	Congested  bool   // Q
	Tracked    bool   // F
	DropReason uint8  // the node's own code; report.DropReasons names some
	// Of the explanation of the report, see report.Explanation.
	Suppressed, Lost, Drops          uint32
	FlowPackets, FlowBytes           uint64
	EventNode, Reference, EventValue uint32

	// The reported packet as it was without INT.
	Source, Destination         netip.Addr
	SourcePort, DestinationPort uint16
	Protocol, DSCP, TCPFlags    uint8
	VLANs                       []uint16 // ids, the outer one first
	Length                      uint32   // bytes of the IP datagram as it was captured, INT included
	SourceMAC, DestinationMAC   [6]byte
	DeviceID                    []byte // value of the domain instruction with the role device_id

	// Its way.
	Path      uint64 // of all nodes and interfaces, as GET /api/v1/paths has it
	HopCount  uint16 // of the whole stack; Hops are those that the report shows in full
	Hops      []Hop  // the source's first
	Links     []Link // those whose latency is known
	LatencyNs uint64 // of the whole way
	MaxHop    uint32 // node id of the hop with the greatest latency
	Flags     Flags
	Sink      Sink

	// First, Last and Count of report packets that never came, of type Gap.
	First, Last, Count uint64

	// Stats is of type Stats.
	Stats StreamStats
}

// Type says what a record is about.
type Type uint8

const (
	Report Type = iota // one individual report
	Gap                // a range of report packets that never came
	Stats              // what a stream added up to since the last one
	NumTypes
)

var typeNames = [NumTypes]string{"report", "gap", "stats"}

// String is the field type.
func (t Type) String() string { return typeNames[t] }

// Version is a version of Telemetry Report.
type Version uint8

const (
	UnknownVersion Version = iota
	Version05
	Version10
	Version20
)

// Known says which fields of a Record are known.
type Known uint32

const (
	KnownNode        Known = 1 << iota // NodeID
	KnownEvents                        // Events
	KnownDropReason                    // DropReason
	KnownExplanation                   // Suppressed, Lost, Drops, FlowPackets, FlowBytes
	KnownEventNode                     // EventNode
	KnownReference                     // Reference
	KnownValue                         // EventValue
	KnownAddresses                     // Source, Destination, Protocol, DSCP, Length
	KnownPorts                         // SourcePort, DestinationPort
	KnownTCPFlags                      // TCPFlags
	KnownMACs                          // SourceMAC, DestinationMAC
	KnownPath                          // Path
	KnownHopCount                      // HopCount
	KnownLatency                       // LatencyNs
	KnownMaxHop                        // MaxHop
	KnownDrops                         // Drops, where the rest of the explanation is not
)

// Hop is what one node said of itself.
type Hop struct {
	Known                   HopKnown
	NodeID                  uint32
	Ingress, Egress         uint32 // level 1 interfaces: 16 bits, 31 in the format of June 2016
	Ingress2, Egress2       uint32 // level 2
	LatencyNs               uint32
	Queue                   uint8
	Occupancy               uint32
	IngressTime, EgressTime uint64 // Unix nanoseconds, of 63 bits
	TxUtilization           uint32
}

// HopKnown says which fields of a Hop are known.
type HopKnown uint16

const (
	HopNode HopKnown = 1 << iota
	HopIngress
	HopEgress
	HopIngress2
	HopEgress2
	HopLatency
	HopQueue
	HopOccupancy
	HopIngressTime
	HopEgressTime
	HopTxUtilization
)

// Link is the way from one node to the next.
type Link struct {
	From, To  uint32 // node ids
	LatencyNs uint64 // from the egress time of From to the ingress time of To
}

// Sink is the reporting node's own metadata.
type Sink struct {
	Known           HopKnown // of HopIngress, HopEgress, HopLatency, HopQueue, HopOccupancy
	Ingress, Egress uint16
	LatencyNs       uint32
	Queue           uint8
	Occupancy       uint32
}

// Flags say what is odd about a report.
type Flags uint8

const (
	HopLimit    Flags = 1 << iota // a node had no hop left to add itself (E)
	MTUExceeded                   // a node had no room to add itself (M)
	Malformed                     // lengths or contents do not agree: what could be read is there
	Truncated                     // the packet is cut inside INT
	numFlags    = iota
)

var flagNames = [numFlags]string{"hop_limit", "mtu_exceeded", "malformed", "truncated"}

// StreamStats is what came of one stream since its last record of this type.
type StreamStats struct {
	Received    uint64 // report packets
	Lost        uint64 // that never came
	Late        uint64 // that came late or more than once
	Undecodable uint64 // that could not be decoded
}

// Reset clears r and makes it a record of type t; its slices keep their memory.
func (r *Record) Reset(t Type) {
	*r = Record{Type: t, VLANs: r.VLANs[:0], DeviceID: r.DeviceID[:0], Hops: r.Hops[:0], Links: r.Links[:0]}
}

// Has tells whether all of k is known.
func (r *Record) Has(k Known) bool { return r.Known&k == k }
