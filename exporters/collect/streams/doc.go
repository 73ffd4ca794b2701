// Package streams accounts for the sequence numbers of report packets: what came, what
// is missing, what came late or twice, and where a sink began anew.
//
// The number has 22 bits (Telemetry Report 2.0) or 32 (1.0 and 0.5) and runs per node,
// hw_id and collector address. A [Table] extends it to 64 bits, so that numbers of a
// stream never repeat between two starts of its sink. It is not safe for concurrent use,
// and takes the time as a parameter.
package streams
