// Package record makes the records that collectors store: one flat, versioned object for
// each individual report, whatever its version of Telemetry Report. An object of the same
// kind stands for report packets that never came (gap), for the sums of a stream (stats) and for an episode of a queue.
//
// A Record has two encodings with the same names: a JSON object (AppendJSON) and the
// protobuf message Report of deploy/collect/intsink.proto (AppendProto). Both append to
// a buffer of the caller and allocate nothing. A value that is not known is absent
// from both; it is never 0 in its place. docs/records.md lists the fields.
//
// In JSON, integers that a double cannot hold are strings: times in RFC 3339 with
// nanoseconds, ids in hexadecimal digits.
//
// A report packet enters (decoder.go), records leave:
//
//	fields.go                        the names of all fields
//	reportedpacket.go, hopfields.go  the reported packet; its INT, hop by hop
//	tunnelfields.go                  tunnels around and inside of the flow
//	record.go                        Record, and the bits that say which of its values are known
//	json.go, valuetext.go            JSON
//	columns.go, columnvalues.go      columns of ClickHouse: what they are, what is put into them
//	flow.go                          data records of IPFIX
//	episodefields.go                 episodes of queues in JSON and protobuf
//	proto.go, protowire.go           protobuf
//	defaultint.go                    where INT is looked for if nothing is configured
package record
