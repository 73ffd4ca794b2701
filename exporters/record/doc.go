// Package record is the record that collectors store: one flat, versioned object per
// individual telemetry report, whatever version of Telemetry Report it came in, and
// the same object for what never came (gap) and for what a stream adds up to (stats).
//
// A Record has two encodings with the same names: a JSON object (AppendJSON) and the
// protobuf message Report of deploy/collect/intsink.proto (AppendProto). Both append to
// a buffer of the caller and allocate nothing. A value that is not known is absent
// from both; it is never 0 in its place. docs/records.md lists the fields.
//
// Integers that a double cannot hold are text in JSON: times are RFC 3339 with
// nanoseconds, ids are hexadecimal digits.
//
// A report packet enters (decoder.go), records leave:
//
//	header.go, oldreports.go    fields of the report headers of 2.0; of 1.0 and 0.5
//	metadata.go                 the reporting node's own values
//	reportedpacket.go, hops.go  the reported packet; its INT, hop by hop
//	record.go                   Record, and the bits that say which of its values are known
//	json.go, text.go            JSON
//	proto.go, protowire.go      protobuf
//	defaultint.go               where INT is looked for if nothing is configured
package record
