// Package inthdr finds In-band Network Telemetry in a packet: where it starts
// and ends, what must be restored when it goes, and what its headers say.
//
// INT over TCP or UDP (INT 2.1, section "INT over TCP/UDP") stands behind the
// L4 header:
//
//	[probe marker 8 B] shim 4 B | MD or MX header 12 B | metadata stack | payload
//
// The shim:
//
//	 0      4   6   8              16                              32
//	| Type |NPT| R |  Length words |  by NPT: -, DSCP | port | -, proto |
//
// NPT 1: the UDP destination port is INT's and the shim carries the original.
// NPT 2: the whole UDP header was added; the shim carries the IP protocol.
// NPT 0: INT is marked by DSCP or probe marker.
//
// What a packet's shim claims is its extent of INT. A shim that does not fit
// its packet is Unsound: the packet is not touched. Odd contents behind a sound
// shim are a Reason beside the result: INT goes, but proves nothing.
//
// Parsed layers enter (Locator.Locate), an Info leaves:
//
//	locator.go, locate.go      what marks INT; the search for it in one packet's layers
//	intintunnel.go, inside.go  INT behind GRE and VXLAN-GPE and in Geneve options; inside tunnels
//	shimchain.go               several shims, one behind the other
//	oldshim.go                 INT 1.0 and the format of June 2016
//	contents.go, hoplayout.go  headers behind the shim; where each value of a hop stands; the id of a path
//	hop.go                     the values of one hop, and which of them are unknown
//	domain.go                  lengths of a domain's metadata, its sequence numbers and device ids
//	info.go, reason.go         the result, and which packets are common; what is wrong with INT
package inthdr
