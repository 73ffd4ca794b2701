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
//	reportedpacket.go, hopfields.go  the reported packet; its INT, hop by hop
//	terminated.go                    the same, as terminators of IFA report it by IPFIX
//	tunnelfields.go                  tunnels around and inside of the flow
//	record.go                        Record, and the bits that say which of its values are known
//	generated.go                     each field in JSON, protobuf and columns
//	json.go, valuetext.go            JSON
//	columns.go, columnvalues.go      columns of ClickHouse: blocks of them, records that are put into them
//	flow.go                          data records of IPFIX
//	episodefields.go                 episodes of queues
//	proto.go, protowire.go           protobuf
//	defaultint.go                    where INT is looked for if nothing is configured
//
// A new field of a record is
//
//	a field of Record or Hop (record.go), what reads it (reportedpacket.go, hopfields.go or tunnelfields.go), and a bit of Known
//	where it may be unknown while the fields that are read with it are known
//	a row in generate/table.go, with the number behind the highest of its message; where it stands decides where JSON and tables have it
//	`make schema`, which writes generated.go, intsink.proto, the SQL of deploy/collect, its upgrade too, and the list in docs/records.md
//	a value in the record whole of record_test.go; `go test ./exporters/record -update` writes what it is to become
//	a field that each report has also changes the JSON in decoder_test.go, terminated_test.go and cmd/internal/decode
//	where IANA's registry of IPFIX has an element for it: a row in flow.go, in ipfix_test.go and in docs/collect.md, IPFIX
//	a line of CHANGELOG.md
package record
