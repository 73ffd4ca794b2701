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
package record
