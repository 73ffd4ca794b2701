// Fields: names of all fields of records.

package record

// Fields are the names that a record of version SchemaVersion may have in JSON and protobuf, in their order.
var Fields = []string{
	"v", "type", "id", "time", "received", "exporter", "node_id", "hw_id",
	"version", "sequence", "index", "instance", "rep_type", "in_type", "intermediate", "domain",
	"ds_md_bits", "ds_md_status", "problem", "events", "dropped", "congested", "tracked",
	"drop_reason", "drop_reason_name", "suppressed", "lost", "drops", "flow_packets", "flow_bytes", "event_node",
	"reference", "value", "flow", "source", "destination", "source_port", "destination_port", "protocol",
	"dscp", "vlan", "tcp_flags", "length", "source_mac", "destination_mac", "device_id", "vni", "outer", "inner", "path",
	"hop_count", "hops", "latency_ns", "links", "max_hop", "source_metadata", "flags", "int_type", "int_problem", "sink",
	"ds_metadata", "data", "tlvs", "episodes", "first",
	"last", "count", "stats",
}
