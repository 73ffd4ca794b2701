// Package streams follows the sequence numbers of report packets: it finds packets that are
// missing, late or repeated, and sinks that restarted.
//
// The sequence number has 22 bits (Telemetry Report 2.0) or 32 (1.0 and 0.5) and counts the
// packets of one node, hw_id and collector address. A [Table] extends it to 64 bits, so that
// it never repeats between two starts of a sink. A Table is not safe for concurrent use, and
// takes the time as a parameter.
package streams
