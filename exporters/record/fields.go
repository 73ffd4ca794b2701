// Fields: names of all fields of records.

package record

// Fields are the names that a record of version SchemaVersion may have in JSON and protobuf, in their order.
var Fields = []string{
	"v", "type", "id", "time", "received", "exporter", "node_id", "hw_id",
	"version", "sequence", "index", "instance", "events", "dropped", "congested", "tracked",
	"drop_reason", "drop_reason_name", "suppressed", "lost", "drops", "flow_packets", "flow_bytes", "event_node",
	"reference", "value", "flow", "source", "destination", "source_port", "destination_port", "protocol",
	"dscp", "vlan", "tcp_flags", "length", "source_mac", "destination_mac", "device_id", "path",
	"hop_count", "hops", "latency_ns", "links", "max_hop", "flags", "sink", "first",
	"last", "count", "stats",
}
