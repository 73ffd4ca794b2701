// Package collect takes Telemetry Reports from UDP sockets and gives the records that
// are in them to outputs: Kafka, ClickHouse, files.
//
//	sockets -> streams -> decode, encode -> per output: queue -> output
//	                            \-> spool -> per output: reader -/
//
// What one receive call brought is a [Batch]. It is decoded and encoded once; the outputs
// share its bytes. Each output has a bounded queue and a goroutine of its own, so that
// they fail apart. Where the queue is full, report packets go to the spool instead, and
// the output reads them from there, in order, until it has caught up.
//
// The accounts of an output add up under its lock, always:
//
//	taken + restored = delivered + dropped by reason + queued + spooled
package collect
