// Declares Record: the flat record of one report, gap or stats, with bits (Known, HopKnown)
// for the values that are known.

package record

import (
	"net/netip"
	"slices"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
)

// SchemaVersion is the field v of every record. New fields do not change it; a change that
// breaks a reader takes another number.
const SchemaVersion = 1

// Record is one record. It is made to be used again: Reset keeps the memory of its slices. A
// field that has a bit in Known may be read only if that bit is set.
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
	Sequence uint64 // of the report packet, extended beyond its width on the wire
	Index    uint16 // of the report in its packet, from 0
	Instance uint64 // of the sink, see report.Identity

	// The report's headers, as on the wire.
	RepType                      report.RepType
	InType                       report.InType
	Intermediate                 bool // I
	Domain, DSMdBits, DSMdStatus uint16
	DSMetadata                   []byte // the reporting node's domain specific metadata
	Data                         []byte // inner contents that are neither a packet nor TLVs
	TLVs                         []TLV  // without the explanation, episodes and the packet that the record describes
	Problem                      decode.Problem

	// Why the report was sent.
	Events     uint32 // bit i is report.EventNames[i]
	Dropped    bool   // D
	Congested  bool   // Q
	Tracked    bool   // F
	DropReason uint8  // the node's own code; report.DropReasons names some
	// Fields of the report's explanation, see report.Explanation.
	Suppressed, Lost, Drops          uint32
	FlowPackets, FlowBytes           uint64
	EventNode, Reference, EventValue uint32

	// The reported packet as it was without INT.
	Source, Destination         netip.Addr
	SourcePort, DestinationPort uint16
	Protocol, DSCP, TCPFlags    uint8
	ECN                         uint8    // as it was captured: 3 is the mark of a queue
	VLANs                       []uint16 // ids, the outer one first
	Length                      uint32   // bytes of the IP datagram as it was captured, INT included
	SourceMAC, DestinationMAC   [6]byte
	DeviceID                    []byte // value of the domain instruction with the role device_id
	VNI                         uint32
	Outer                       Headers // of the outermost tunnel around the flow
	Inner                       Headers // of the packet in the tunnel that the flow is

	// The way of the reported packet.
	Path      uint64 // of all nodes and interfaces, as GET /api/v1/paths has it
	HopCount  uint16 // hops of the whole stack; Hops has those that the report shows in full
	Hops      []Hop  // in the order in which the packet passed them
	Links     []Link // those whose latency is known
	LatencyNs uint64 // sum of the hops' latencies
	MaxHop    uint32 // node id of the hop with the greatest latency
	Flags     Flags
	Sink      Sink
	// What the source alone added, contents of a Destination header, and all that cannot be divided into hops.
	SourceMetadata []byte
	INTType        inthdr.Type   // 0: INT-MD, or there is none
	INTProblem     inthdr.Reason // what is wrong with the packet's INT

	// Episodes of queues: those that the report sums up; of type EpisodeType the one that it is about.
	Episodes []Episode

	// Type Gap: the first and last sequence number of packets that never came, and how many. With Count 0
	// only the first one is known.
	First, Last, Count uint64

	// Type Stats.
	Stats StreamStats
}

// Type is what a record is about.
type Type uint8

const (
	Report      Type = iota // one individual report
	Gap                     // a range of report packets that never came
	Stats                   // sums of a stream since its last record of this type
	EpisodeType             // an episode of a queue, as all sinks together saw it
	NumTypes
)

var typeNames = [NumTypes]string{"report", "gap", "stats", "episode"}

// String returns the value of the field type.
func (t Type) String() string { return typeNames[t] }

// Version is a version of Telemetry Report.
type Version = decode.Version

const (
	UnknownVersion = decode.UnknownVersion
	Version05      = decode.Version05
	Version10      = decode.Version10
	Version20      = decode.Version20
)

// TLV is one TLV of a report's inner contents.
type TLV = decode.TLV

// Headers are those of a packet around or inside of the one that a record describes.
type Headers struct {
	Source, Destination         netip.Addr // not valid: no field is known
	HasPorts                    bool       // SourcePort and DestinationPort are known
	SourcePort, DestinationPort uint16
	Protocol, DSCP              uint8
}

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
	KnownAddresses                     // Source, Destination, Protocol, DSCP, ECN, Length
	KnownPorts                         // SourcePort, DestinationPort
	KnownTCPFlags                      // TCPFlags
	KnownMACs                          // SourceMAC, DestinationMAC
	KnownPath                          // Path
	KnownHopCount                      // HopCount
	KnownLatency                       // LatencyNs
	KnownMaxHop                        // MaxHop
	KnownDrops                         // Drops, if the rest of the explanation is not known
	KnownInstance                      // Instance
	KnownRepType                       // RepType, Intermediate
	KnownInType                        // InType
	KnownMain                          // Domain, DSMdBits, DSMdStatus
	KnownVNI                           // VNI
)

// Hop is the metadata of one node.
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
	Buffer                  uint8
	BufferOccupancy         uint32
	Congestion              uint32 // status of the queue, in the format of June 2016
	DSMetadata              []byte // domain specific metadata
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
	HopBuffer
	HopBufferOccupancy
	HopCongestion
)

// Link is the way from one node to the next.
type Link struct {
	From, To  uint32 // node ids
	LatencyNs uint64 // from the egress time of From to the ingress time of To
}

// Sink holds the reporting node's own metadata: no node id, no congestion status, no domain specific metadata.
type Sink = Hop

// Flags marks reports and packets that are damaged, cut or incomplete.
type Flags uint8

const (
	HopLimit    Flags = 1 << iota // a node had no hop left to add itself (E)
	MTUExceeded                   // a node had no room to add itself (M)
	Malformed                     // lengths or contents do not agree; the fields that could be read are set
	Truncated                     // the packet is cut inside INT
	numFlags    = iota
)

var flagNames = [numFlags]string{"hop_limit", "mtu_exceeded", "malformed", "truncated"}

// StreamStats counts the report packets of one stream since its last record of this type.
type StreamStats struct {
	Received    uint64 // packets that came
	Lost        uint64 // packets that never came
	Late        uint64 // packets that came late or more than once
	Undecodable uint64 // packets that could not be decoded
}

// Reset clears r and makes it a record of type t; its slices keep their memory.
func (r *Record) Reset(t Type) {
	vlans, device, hops, links, tlvs, episodes := r.VLANs[:0], r.DeviceID[:0], r.Hops[:0], r.Links[:0], r.TLVs[:0], r.Episodes[:0]
	*r = Record{} // alone it makes zeros; with fields it would copy a record
	r.Type, r.VLANs, r.DeviceID, r.Hops, r.Links, r.TLVs, r.Episodes = t, vlans, device, hops, links, tlvs, episodes
}

// Bits of Record.Events that bits D and Q of a report stand for.
var (
	dropEvent       = uint32(1) << slices.Index(report.EventNames[:], "drop")
	congestionEvent = uint32(1) << slices.Index(report.EventNames[:], "congestion")
)

// TellsDrop reports whether r is about dropped packets: by its D bit, or by its event, which reports of Transparent
// Security have without that bit.
func (r *Record) TellsDrop() bool { return r.Dropped || r.Has(KnownEvents) && r.Events&dropEvent != 0 }

// Has reports whether all bits of k are set.
func (r *Record) Has(k Known) bool { return r.Known&k == k }
