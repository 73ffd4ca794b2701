// The table: messages and their fields.

package main

import (
	"fmt"

	"intsink/engine/wire/inthdr"
)

// message is a record, or an object in one.
type message struct {
	name     string // in intsink.proto
	of       string // its type in Go
	recv     string // what the expressions of its fields call one
	nullable bool   // its columns are null where the object is absent
	json     string // the message that JSON has in its place
	sections []section
}

// section is some fields that are known of the same records.
type section struct {
	name   string // of its functions
	note   string // the comment in intsink.proto
	fields []field
}

// field is one field. What is not known has no place in JSON and protobuf, and is null or empty in a table.
type field struct {
	name   string // in JSON, protobuf and tables
	number int    // in protobuf. A new field takes the next one; tables of an earlier version are upgraded by it
	kind   kind
	value  string // an expression of Go. Of appended text: a call that appends it to $
	known  string // a condition of Go, or the name of a bit of Known
	names  string // of kind names: those of the bits
	always bool   // of kind list: JSON has an empty one, too
	low    bool   // its texts are few, and queries select by it: LowCardinality in tables, which costs three times what a String does when parts are merged
	codec  string // how a table compresses it
	grew   bool   // a table of an earlier version may have it with fewer elements, of another type, or without its codec
	null   bool   // null in tables although there is no condition: other types of records lack it
	last   bool   // JSON has it in this place; protobuf and tables, as the last one of its message
	plain  bool   // in protobuf not optional: what is not known is as good as empty
	note   string // the comment in intsink.proto and clickhouse.sql
	stored string // the comment in clickhouse.sql, where it is another one
	doc    string // its meaning in docs/records.md. A field without shares the line of the next one that has it
}

// firstNumbers are those that the first version of the tables had columns for.
const firstNumbers = 50

const allOnes = "4294967295" // in a table, a node id that is not known

// table has all messages, records first.
var table = []message{
	{name: "Report", of: "Record", recv: "r", sections: []section{
		{name: "Head", fields: []field{
			{name: "v", number: 1, kind: u8, value: "SchemaVersion", doc: "1"},
			{name: "type", number: 2, kind: text, value: "r.Type.String()", low: true, note: "report, gap, stats, episode", doc: "`report`, `gap`, `stats` or `episode`"},
			{name: "id", number: 3, kind: appended, value: "r.appendID($)", codec: "ZSTD(1)",
				doc: "node id, `hw_id`, start of the stream, `sequence` and `index` in hexadecimal digits: the same again where the same report is stored twice, and no other's. A gap has `first` and `gap` for the last two, stats the time and `stats`, an episode its number and `episode`"},
			{name: "time", number: 4, kind: nanos, value: "max(r.Time, 0)", codec: "T64, LZ4",
				doc: "when the sink sent the packet on (its egress timestamp); `received` where that is not in the report, has less than 64 bits, or is a day or more away"},
			{name: "received", number: 5, kind: nanos, value: "max(r.Received, 0)", codec: "T64, LZ4", doc: "when the report packet came to the collector"},
			{name: "exporter", number: 6, kind: addr, value: "r.Exporter", known: "r.Exporter.IsValid()", stored: "IPv4 addresses as ::ffff:192.0.2.1", doc: "where the report packet came from"},
			{name: "node_id", number: 7, kind: nodeID, value: "r.NodeID", known: "KnownNode", stored: "all ones: not known", doc: "of the sink, or the observation domain of a terminator of IFA; a 0.5 report has one only with a drop or switch local header"},
			{name: "hw_id", number: 8, kind: u8, value: "r.HwID", doc: "of the sink's worker"},
			{name: "version", number: 9, kind: version, value: "r.Version", known: "r.Version != UnknownVersion", note: "2, 1 or 0.5", doc: "of Telemetry Report: 2, 1 or 0.5; absent where a terminator of IFA reports by IPFIX"},
		}},
		{name: "Place", note: "Of type report.", fields: []field{
			{name: "sequence", number: 10, kind: u64, value: "r.Sequence", codec: "T64, LZ4", doc: "of the report packet, counted on where the 22 or 32 bits on the wire begin again"},
			{name: "index", number: 11, kind: u16, value: "r.Index", doc: "place of the report in its packet, from 0"},
			{name: "instance", number: 51, kind: appended, value: "appendHex64($, r.Instance)", known: "KnownInstance", low: true, note: "of the sink", stored: "of the sink; empty: not known",
				doc: "16 hexadecimal digits: which sink sent it, whatever its address and node id, where its packets have an [identity](reports.md#identity). Then `sequence` and the start in `id` are the sink's own"},
		}},
		{name: "Headers", note: "The report's headers.", fields: []field{
			{name: "rep_type", number: 52, kind: u8, value: "uint8(r.RepType)", known: "KnownRepType"},
			{name: "in_type", number: 53, kind: u8, value: "uint8(r.InType)", known: "KnownInType",
				doc: "RepType and InType: 0 inner only, 1 INT, 2 IOAM; 0 none, 1 TLV, 2 domain specific extension data, 3 Ethernet, 4 IPv4, 5 IPv6. Before 2.0 `in_type` is what the next protocol amounts to, and the other is absent"},
			{name: "intermediate", number: 54, kind: flag, value: "r.Intermediate", known: "KnownRepType", doc: "bit I: a transit node sent it, and the hops are those up to there. Version 2 only"},
			{name: "domain", number: 55, kind: u16, value: "r.Domain", known: "KnownMain"},
			{name: "ds_md_bits", number: 56, kind: u16, value: "r.DSMdBits", known: "KnownMain"},
			{name: "ds_md_status", number: 57, kind: u16, value: "r.DSMdStatus", known: "KnownMain", doc: "Domain Specific ID, DSMdBits and DSMdstatus, where the report has main contents (RepType 1)"},
			{name: "problem", number: 58, kind: text, value: "r.Problem.String()", known: "r.Problem != decode.NoProblem", grew: true, stored: "empty: none", doc: "what is wrong with the report itself, [below](#problems)"},
		}},
		{name: "Reasons", note: "Why it was sent.", fields: []field{
			{name: "events", number: 12, kind: names, value: "r.Events", names: "report.EventNames[:]", known: "KnownEvents", grew: true,
				doc: "names of the [events](events.md) that it was sent for: from its [explanation](reports.md#explanation), else `drop` and `congestion` where the bits D and Q are set"},
			{name: "dropped", number: 13, kind: flag, value: "r.Dropped"},
			{name: "congested", number: 14, kind: flag, value: "r.Congested"},
			{name: "tracked", number: 15, kind: flag, value: "r.Tracked", doc: "bits D, Q and F"},
			{name: "drop_reason", number: 16, kind: u8, value: "r.DropReason", known: "KnownDropReason"},
			{name: "drop_reason_name", number: 17, kind: text, value: "report.DropReasons[r.DropReason]", known: `r.Known&KnownDropReason != 0 && report.DropReasons[r.DropReason] != ""`, grew: true,
				doc: "the node's own code, and what p4lang/switch calls it"},
			{name: "suppressed", number: 18, kind: u32, value: "r.Suppressed", known: "KnownExplanation"},
			{name: "lost", number: 19, kind: u32, value: "r.Lost", known: "KnownExplanation"},
			{name: "drops", number: 20, kind: u32, value: "r.Drops", known: "r.Known&(KnownDrops|KnownExplanation) != 0"},
			{name: "flow_packets", number: 21, kind: u64, value: "r.FlowPackets", known: "KnownExplanation", codec: "T64, LZ4"},
			{name: "flow_bytes", number: 22, kind: u64, value: "r.FlowBytes", known: "KnownExplanation", codec: "T64, LZ4"},
			{name: "event_node", number: 23, kind: u32, value: "r.EventNode", known: "KnownEventNode"},
			{name: "reference", number: 24, kind: u32, value: "r.Reference", known: "KnownReference"},
			{name: "value", number: 25, kind: u32, value: "r.EventValue", known: "KnownValue",
				doc: "the rest of the explanation: `flow_packets` and `flow_bytes` are its packets and bytes, `event_node` its node id. Of a drop report of Transparent Security: `drops`"},
		}},
		{name: "Packet", note: "The reported packet, without INT.", fields: []field{
			{name: "flow", number: 26, kind: appended, value: "r.AppendFlow($)", known: "r.hasFlow()", stored: "empty: not known",
				doc: "id of the flow as the [API](api.md) has it, `tcp:10.0.0.1:1024-10.1.0.1:80`: in tunnels that of the headers that INT belongs to, [below](#tunnels)"},
			{name: "source", number: 27, kind: addr, value: "r.Source", known: "KnownAddresses"},
			{name: "destination", number: 28, kind: addr, value: "r.Destination", known: "KnownAddresses", doc: "of the reported packet"},
			{name: "source_port", number: 29, kind: u16, value: "r.SourcePort", known: "KnownPorts", codec: "T64, LZ4"},
			{name: "destination_port", number: 30, kind: u16, value: "r.DestinationPort", known: "KnownPorts"},
			{name: "protocol", number: 31, kind: u8, value: "r.Protocol", known: "KnownAddresses"},
			{name: "dscp", number: 32, kind: u8, value: "r.DSCP", known: "KnownAddresses", doc: "the original ones, where INT says what they were"},
			{name: "ecn", number: 69, kind: u8, value: "r.ECN", known: "KnownAddresses", note: "as it was captured: 0 not ECN-capable, 1 and 2 capable, 3 marked by a queue (CE)",
				doc: "the ECN field (RFC 3168) that the packet came with, of the same header as `source`: 3 is the mark of a queue (CE), 0 says that none may mark. Of a GRE tunnel that goes with its INT, the mark that the packet takes over (RFC 6040)"},
			{name: "vlan", number: 33, kind: numbers16, value: "r.VLANs", doc: "VLAN ids, the outer one first"},
			{name: "tcp_flags", number: 34, kind: u8, value: "r.TCPFlags", known: "KnownTCPFlags", doc: "the flags of TCP"},
			{name: "length", number: 35, kind: u32, value: "r.Length", known: "KnownAddresses", codec: "T64, LZ4", doc: "bytes of the IP datagram, INT included"},
			{name: "source_mac", number: 36, kind: appended, value: "appendMAC($, &r.SourceMAC)", known: "KnownMACs", grew: true},
			{name: "destination_mac", number: 37, kind: appended, value: "appendMAC($, &r.DestinationMAC)", known: "KnownMACs", grew: true, doc: "where the report shows the Ethernet header"},
			{name: "device_id", number: 38, kind: hex, value: "r.DeviceID", grew: true, doc: "hexadecimal: value of the domain instruction with the role `device_id`; Transparent Security's first one"},
		}},
		{name: "Tunnel", fields: []field{
			{name: "vni", number: 59, kind: u32, value: "r.VNI", known: "KnownVNI", doc: "network identifier of VXLAN, VXLAN-GPE or Geneve, of the outermost tunnel that has one"},
			{name: "outer", number: 60, kind: object("Headers"), value: "&r.Outer", known: "r.Outer.Source.IsValid()", note: "the tunnel around the flow"},
			{name: "inner", number: 61, kind: object("Headers"), value: "&r.Inner", known: "r.Inner.Source.IsValid()", note: "the packet in the tunnel that the flow is", doc: "headers around and inside of the flow, [below](#tunnels)"},
		}},
		{name: "Way", fields: []field{
			{name: "path", number: 39, kind: appended, value: "appendHex64($, r.Path)", known: "KnownPath", low: true, stored: "empty: not known", doc: "id of the path, as the API has it; absent where a node or an interface is not known"},
			{name: "hop_count", number: 40, kind: u16, value: "r.HopCount", known: "KnownHopCount", doc: "nodes that added themselves. Absent without INT, and where it has instructions of a domain that is not known"},
			{name: "hops", number: 41, kind: list("Hop"), value: "r.Hops", codec: "ZSTD(1)", grew: true, note: "the source's first",
				doc: "those that the report shows in full, **the source's first** (the wire has the newest first)"},
			{name: "latency_ns", number: 42, kind: u64, value: "r.LatencyNs", known: "KnownLatency", codec: "T64, LZ4", doc: "sum of all hop latencies; absent where one is not known or a node is missing (`flags`)"},
			{name: "links", number: 43, kind: list("Link"), value: "r.Links", codec: "T64, LZ4",
				doc: "from the egress timestamp of one node to the ingress timestamp of the next, where neither is unknown and the difference is not negative"},
			{name: "max_hop", number: 44, kind: u32, value: "r.MaxHop", known: "KnownMaxHop", codec: "T64, LZ4", doc: "node id of the hop with the greatest latency, where no hop is cut off"},
			{name: "source_metadata", number: 62, kind: hex, value: "r.SourceMetadata", note: "hexadecimal, as all bytes",
				doc: "what the source alone added: source-only metadata of INT-MD, source-inserted metadata of INT-MX; contents of a Destination header; and the whole stack where it cannot be divided into hops"},
			{name: "flags", number: 45, kind: names, value: "uint32(r.Flags)", names: "flagNames[:]", known: "r.Flags != 0", grew: true,
				doc: "`hop_limit`, `mtu_exceeded` (bits E and M), `malformed` (lengths or contents do not agree), `truncated` (the packet is cut inside INT)"},
			{name: "int_type", number: 68, kind: text, value: "r.INTType.String()", known: "r.INTType != 0", grew: true, note: foreignTypes("%s, ") + "mx, destination; absent: INT-MD, or none", stored: foreignTypes("%s, ") + "mx, destination; empty: INT-MD, or none",
				doc: foreignTypes("`%s`, ") + "`mx` or `destination`: what the packet bore; absent: INT-MD, or nothing"},
			{name: "int_problem", number: 63, kind: text, value: "r.INTProblem.String()", known: "r.INTProblem != inthdr.ReasonNone", grew: true, stored: "empty: none",
				doc: "what is wrong with the packet's INT, or why there are no hops: a reason of [`intsink_malformed_packets_total`](metrics.md)"},
			{name: "sink", number: 46, kind: object("Sink"), value: "&r.Sink", known: "r.Sink.Known != 0", grew: true, doc: "the reporting node's own metadata: {fields}"},
		}},
		{name: "Contents", fields: []field{
			{name: "ds_metadata", number: 64, kind: hex, value: "r.DSMetadata", doc: "its domain specific metadata"},
			{name: "data", number: 65, kind: hex, value: "r.Data", doc: "inner contents that are neither a packet nor TLVs: domain specific extension data, all that follows the first word of RepType 2 and of reserved types"},
			{name: "tlvs", number: 66, kind: list("TLV"), value: "r.TLVs",
				doc: "all TLVs but the explanation, episodes and the first packet, which is the one that the record describes: further packets (`ethernet`, `ipv4`, `ipv6`), extension data (`ds_extension`, with `template`), and by number what is reserved"},
		}},
		{name: "Episodes", note: "Of types report and episode.", fields: []field{
			{name: "episodes", number: 67, kind: list("Episode"), value: "r.Episodes", grew: true, note: "those that ended; of type episode one",
				doc: "[episodes](#episodes) of congestion that ended, and that this report sums up"},
		}},
		{name: "Gap", note: "Of type gap.", fields: []field{
			{name: "first", number: 47, kind: u64, value: "r.First", null: true},
			{name: "last", number: 48, kind: u64, value: "r.Last", known: "r.Count > 0"}, // else it is not known where the gap ends
			{name: "count", number: 49, kind: u64, value: "r.Count", known: "r.Count > 0"},
		}},
		{name: "Stats", note: "Of type stats.", fields: []field{
			{name: "stats", number: 50, kind: object("Stats"), value: "&r.Stats"},
		}},
	}},
	{name: "Hop", of: "Hop", recv: "h", sections: []section{{fields: []field{
		{name: "node_id", number: 1, kind: u32, value: "h.NodeID", known: "HopNode"},
		{name: "ingress", number: 2, kind: u32, value: "h.Ingress", known: "HopIngress"},
		{name: "egress", number: 3, kind: u32, value: "h.Egress", known: "HopEgress"},
		{name: "ingress2", number: 4, kind: u32, value: "h.Ingress2", known: "HopIngress2"},
		{name: "egress2", number: 5, kind: u32, value: "h.Egress2", known: "HopEgress2"},
		{name: "latency_ns", number: 6, kind: u32, value: "h.LatencyNs", known: "HopLatency"},
		{name: "queue", number: 7, kind: u8, value: "h.Queue", known: "HopQueue"},
		{name: "occupancy", number: 8, kind: u32, value: "h.Occupancy", known: "HopOccupancy"},
		{name: "ingress_time", number: 9, kind: nanos, value: "int64(h.IngressTime)", known: "HopIngressTime"},
		{name: "egress_time", number: 10, kind: nanos, value: "int64(h.EgressTime)", known: "HopEgressTime"},
		{name: "tx_utilization", number: 11, kind: u32, value: "h.TxUtilization", known: "HopTxUtilization"},
		{name: "buffer", number: 12, kind: u8, value: "h.Buffer", known: "HopBuffer"},
		{name: "buffer_occupancy", number: 13, kind: u32, value: "h.BufferOccupancy", known: "HopBufferOccupancy"},
		{name: "congestion", number: 14, kind: u32, value: "h.Congestion", known: "HopCongestion"},
		{name: "ds_metadata", number: 15, kind: hex, value: "h.DSMetadata"},
	}}}},
	{name: "Headers", of: "Headers", recv: "h", sections: []section{{fields: []field{
		{name: "flow", number: 1, kind: appended, value: "h.appendFlow($)", known: "h.HasPorts || !hasPorts(h.Protocol)"},
		{name: "source", number: 2, kind: addr, value: "h.Source"},
		{name: "destination", number: 3, kind: addr, value: "h.Destination"},
		{name: "source_port", number: 4, kind: u16, value: "h.SourcePort", known: "h.HasPorts"},
		{name: "destination_port", number: 5, kind: u16, value: "h.DestinationPort", known: "h.HasPorts"},
		{name: "protocol", number: 6, kind: u8, value: "h.Protocol", null: true},
		{name: "dscp", number: 7, kind: u8, value: "h.DSCP", null: true},
	}}}},
	{name: "TLV", of: "TLV", recv: "t", sections: []section{{fields: []field{
		{name: "type", number: 1, kind: text, value: "tlvNames[t.Type&0xf]", low: true},
		{name: "template", number: 2, kind: u16, value: "t.Template", known: "t.Type == report.TLVDSExtension"},
		{name: "data", number: 3, kind: hex, value: "t.Data"},
	}}}},
	{name: "Link", of: "Link", recv: "l", sections: []section{{fields: []field{
		{name: "from", number: 1, kind: u32, value: "l.From"},
		{name: "to", number: 2, kind: u32, value: "l.To"},
		{name: "latency_ns", number: 3, kind: u64, value: "l.LatencyNs"},
	}}}},
	{name: "Sink", of: "Sink", recv: "s", json: "Hop", sections: []section{{fields: []field{
		{name: "ingress", number: 1, kind: u16, value: "uint16(s.Ingress)", known: "HopIngress"},
		{name: "egress", number: 2, kind: u16, value: "uint16(s.Egress)", known: "HopEgress"},
		{name: "latency_ns", number: 3, kind: u32, value: "s.LatencyNs", known: "HopLatency"},
		{name: "queue", number: 4, kind: u8, value: "s.Queue", known: "HopQueue"},
		{name: "occupancy", number: 5, kind: u32, value: "s.Occupancy", known: "HopOccupancy"},
		{name: "ingress2", number: 6, kind: u32, value: "s.Ingress2", known: "HopIngress2"},
		{name: "egress2", number: 7, kind: u32, value: "s.Egress2", known: "HopEgress2"},
		{name: "ingress_time", number: 8, kind: nanos, value: "int64(s.IngressTime)", known: "HopIngressTime"},
		{name: "egress_time", number: 9, kind: nanos, value: "int64(s.EgressTime)", known: "HopEgressTime"},
		{name: "tx_utilization", number: 10, kind: u32, value: "s.TxUtilization", known: "HopTxUtilization"},
		{name: "buffer", number: 11, kind: u8, value: "s.Buffer", known: "HopBuffer"},
		{name: "buffer_occupancy", number: 12, kind: u32, value: "s.BufferOccupancy", known: "HopBufferOccupancy"},
	}}}},
	{name: "Episode", of: "Episode", recv: "e", sections: []section{{fields: []field{
		{name: "id", number: 1, kind: u32, value: "e.ID", note: "of the sink's episodes", doc: "of the episodes of the sink (the first one) since its start"},
		{name: "node", number: 2, kind: u32, value: "e.Node"},
		{name: "egress", number: 3, kind: u16, value: "e.Egress", known: "e.Egress != unknownEgress"},
		{name: "queue", number: 4, kind: u8, value: "e.Queue", doc: "where; without `egress` the interface is not known, and `queue` 255 is a queue without a number"},
		{name: "begin", number: 5, kind: nanos, value: "e.Begin"},
		{name: "end", number: 6, kind: nanos, value: "e.End", doc: "of the sinks, the earliest and the latest"},
		{name: "packets", number: 7, kind: u64, value: "e.Packets"},
		{name: "bytes", number: 8, kind: u64, value: "e.Bytes", doc: "that passed the queue meanwhile, without INT"},
		{name: "peak_at", number: 9, kind: nanos, value: "e.Peak.At", known: "e.Peak.At != 0"},
		{name: "peak_latency_ns", number: 10, kind: u32, value: "e.Peak.Latency", known: "e.Peak.Latency != 0"},
		{name: "peak_occupancy", number: 11, kind: u32, value: "e.Peak.Occupancy", known: "e.Peak.Occupancy != 0", doc: "when the latency, or without one the occupancy, was highest"},
		{name: "usual_latency_ns", number: 12, kind: u32, value: "e.UsualLatency", known: "e.UsualLatency != 0"},
		{name: "usual_occupancy", number: 13, kind: u32, value: "e.UsualOccupancy", known: "e.UsualOccupancy != 0", doc: "medians before it"},
		{name: "window_ns", number: 14, kind: u64, value: "uint64(e.Peak.Window)", note: "the part of the episode around its peak"},
		{name: "window_packets", number: 15, kind: u32, value: "e.Peak.Packets"},
		{name: "window_bytes", number: 16, kind: u64, value: "e.Peak.Bytes", doc: "what passed within that time around the peak: 10 ms, longer in an episode above 640 ms. `window_packets` ends at 2^32 - 1"},
		{name: "sinks", number: 17, kind: u32, value: "uint32(e.Sinks)", doc: "that told of it"},
		{name: "doubt", number: 20, kind: text, value: "e.Doubt.String()", known: "e.Doubt != report.NoDoubt", last: true, plain: true, note: "why nobody is accused of filling the queue",
			doc: "why the flows in `culprits` are not accused: `told by one source alone`, `told by a few packets alone`, `over sooner than such a queue can drain`; without it they are. Two sinks whose one source is another one each have none together"},
		{name: "other_packets", number: 21, kind: u64, value: "e.OtherPackets", last: true},
		{name: "other_bytes", number: 22, kind: u64, value: "e.OtherBytes", last: true, note: "of flows that the sinks had no room to know",
			doc: "those of `packets` and `bytes` whose flows the sinks had no room to know (a full flow table), all together: whose they are is not told"},
		{name: "culprits", number: 18, kind: list("Culprit"), value: "e.Culprits[:e.NumCulprits]", always: true,
			doc: "flows with most bytes in the queue, eight at most, accused unless there is a `doubt`; `over` is by how much `bytes` may be too high"},
		{name: "victims", number: 19, kind: list("Victim"), value: "e.Victims[:e.NumVictims]", always: true, doc: "flows that waited longest beyond what is usual, all their packets added up"},
	}}}},
	{name: "Culprit", of: "report.EpisodeFlow", recv: "f", sections: []section{{fields: []field{
		{name: "flow", number: 1, kind: appended, value: "AppendEpisodeFlow($, f)"},
		{name: "bytes", number: 2, kind: u64, value: "f.Sum"},
		{name: "over", number: 3, kind: u64, value: "f.Over", note: "by how much bytes may be too high"},
	}}}},
	{name: "Victim", of: "report.EpisodeFlow", recv: "f", sections: []section{{fields: []field{
		{name: "flow", number: 1, kind: appended, value: "AppendEpisodeFlow($, f)"},
		{name: "added_ns", number: 2, kind: u64, value: "f.Sum"},
		{name: "over", number: 3, kind: u64, value: "f.Over"},
	}}}},
	{name: "Stats", of: "StreamStats", recv: "s", nullable: true, sections: []section{{fields: []field{
		{name: "received", number: 1, kind: u64, value: "s.Received"},
		{name: "lost", number: 2, kind: u64, value: "s.Lost"},
		{name: "late", number: 3, kind: u64, value: "s.Late"},
		{name: "undecodable", number: 4, kind: u64, value: "s.Undecodable"},
	}}}},
}

// foreignTypes are the types of telemetry that is not INT, each in this format.
func foreignTypes(format string) (text string) {
	for _, f := range inthdr.Foreigns() {
		text += fmt.Sprintf(format, f.Type)
	}
	return text
}
