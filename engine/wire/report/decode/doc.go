// Package decode reads the headers of telemetry reports, versions 2.0, 1.0 and 0.5: one
// iterator gives the individual reports of a packet, with the reporting node's own values.
// What is inside of a report's packet fragment is not looked at: exporters/record does, by
// package inthdr.
//
// It allocates nothing, and what it returns aliases the packet.
//
//	packetheader.go            the header of a report packet
//	reports.go, oldreports.go  the iterator: a report of 2.0; of 1.0 and 0.5
//	metadata.go                the reporting node's own values
//	tlv.go, headerproblem.go   TLVs of the inner contents; what is wrong with a report
//	transparent.go             reports of Transparent Security's code
package decode
