// Package collect receives Telemetry Reports on UDP sockets, makes records of them and writes
// these to outputs: Kafka, ClickHouse, files.
//
//	sockets -> streams -> decode, encode -> per output: queue -> output
//	                            \-> spool -> per output: reader -/
//
// The datagrams of one receive call make a [Batch]. It is decoded and encoded once; the outputs
// share its bytes. Each output has a bounded queue and a goroutine of its own, so that the
// failure of one does not affect the others. If a queue is full, report packets go to the
// spool instead, and the output reads them from there, in order, until it has caught up.
//
// The accounts of an output add up whenever its lock is free:
//
//	taken + restored = delivered + dropped by reason + queued + spooled
//
// Files, in the order of a report packet's way:
//
//	listen.go, receiver.go, ratelimit.go  sockets; reading them; the limit of each source address
//	maker.go, batch.go                    decodes and encodes a batch; the batch
//	feed.go, feedspool.go                 queue of an output, its goroutine; the same from the spool, and how fast
//	output.go, accounts.go                what an output implements; its counters and drop reasons
//	collect.go, metrics.go, log.go        assembles all; a snapshot of counters; bounded log lines
package collect
