// Package collect receives Telemetry Reports on UDP sockets, makes records of them and writes
// these to outputs: Kafka, ClickHouse, IPFIX, files.
//
//	sockets -> streams -> decode, encode -> log -> per output: reader -> output
//	                                 \-> latest batches -/
//
// The datagrams of one receive call make a [Batch]. Its report packets are appended to one log, on disk
// (spool) or in memory. Each output reads the log from a position of its own, in a goroutine of its own, so that
// the failure of one does not affect the others. The latest batches stay in memory with their encoded
// records: outputs that keep up share them, and decode nothing; one that is behind reads the log.
//
// The accounts of an output add up whenever its lock is free:
//
//	taken + restored = delivered + dropped by reason + queued + waiting
//
// Files, in the order of a report packet's way:
//
//	listen.go, receiver.go, ratelimit.go    sockets; reading them; the limit of each source address
//	maker.go, batch.go, recent.go           decodes and encodes a batch; the batch; the latest batches
//	read.go, outputfeed.go                  reads the log for an output; its window and back-off
//	output.go, accounts.go                  what an output implements; its counters and drop reasons
//	sumepisodes.go                          one record of an episode that several sinks tell of
//	collect.go, snapshot.go, limitedlog.go  assembles all; a snapshot of counters; bounded log lines
//
// A new output is
//
//	a package beside exporters/kafka that implements [Output] (models: exporters/ipfix for UDP, exporters/jsonl for files)
//	its block in conf/collector: config.go, schema.go, words.go, its own check and a line of outputs in check.go, load.go where it
//	names files, testdata/full.hcl, check_test.go; `go test ./conf/collector -update`
//	a spec in outputs.go of cmd/internal/collect, what it holds in memorylimit.go, a method Try where a server can be asked
//	(tryworld.go), a test beside them, and the texts of command.go and cmd/intsink-collect/main.go
//	docs/collect.md, docs/README.md, CHANGELOG.md, its row in ARCHITECTURE.md and in internal/repotest/imports_test.go
//
// Its metrics, back-off, reload and place in /readyz come by themselves.
package collect
