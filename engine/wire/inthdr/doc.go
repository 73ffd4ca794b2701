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
//
// To add a format of telemetry that is not INT, make a folder engine/wire/NAME and files called NAME in the packages below, and add
// a line or a branch to the list of each:
//
//  1. engine/wire/NAME finds the format in a packet and reads it, and knows nothing of this package. NAME.go here makes an Info and
//     hops of INT of it, with its reasons and texts; engine/wire/inthdr/formats.go has its numbers and properties.
//  2. engine/wire/strip/strip.go: what takes it out of a packet.
//  3. engine/wire/intgen/formats.go: what puts it into one. RandomNAME beside it draws packets for the tests of 1 and 2.
//  4. conf/formats.go: its block in int; cmd/internal/sinkconf/formats.go: what the parser gets of that.
//  5. exporters/record/formats.go: what is taken where nothing is configured, and what a record has of it beyond the hops of INT.
//  6. cmd/intsink/internal/gen/formats.go, cmd/intsink/internal/simulate/formats.go and cmd/intsink/internal/verify/formats.go: the
//     traffic of gen, what plan and replay find in a capture, the kinds of verify.
//  7. bench/internal/traffic/formats.go: a row in each benchmark.
//  8. The block in conf/examples/reference.hcl and docs/configuration.md, a line in CHANGELOG.md; `make schema` writes its type into
//     docs/records.md.
//
// Counters of its own are a file of its name in engine/burst. All packets with it are parsed: a template in engine/fast is no part of
// this list.
package inthdr
