// Package decode shows telemetry reports as they stand on the wire: versions 2.0, 1.0
// and 0.5, the packets in them, and INT in these, hop by hop.
//
// It is for commands and tests, not for the packet path: it allocates. A Decoder may be
// shared; its results do not alias the input.
//
//	decode.go, oldreports.go, message.go                a report packet of 2.0; of 1.0 and 0.5; the result
//	inner.go, transparent.go                            inner contents of a report, and the TLVs in them
//	dissect.go, dissect_tunnel.go                       headers of the reported packet, tunnels included
//	dissect_int.go, dissect_hops.go, dissect_oldint.go  its INT; the hops; INT 1.0 and June 2016
//	values.go                                           named metadata values
package decode
