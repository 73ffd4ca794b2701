// Package decode shows telemetry reports as they stand on the wire: versions 2.0, 1.0
// and 0.5, the packets in them, and INT in these, hop by hop.
//
// It is for commands and tests, not for the packet path: it allocates. A Decoder may be
// shared; its results do not alias the input.
package decode
