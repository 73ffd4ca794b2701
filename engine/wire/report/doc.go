// Package report knows the Telemetry Report formats 2.0, 1.0 and 0.5: it encodes
// them without allocating, coalescing reports of 2.0. Package decode reads them.
//
// A 2.0 report packet is one group header and individual reports behind it
// (Telemetry Report 2.0, sections "Telemetry Report Group Header" and
// "Individual Report Header"):
//
//	| Ver 4 | hw_id 6 | Sequence Number 22 |
//	| Node ID 32                           |
//	| RepType 4 | InType 4 | Report Length 8 | MD Length 8 | D Q F I | Rsvd 4 |
//	| main contents by RepType | inner contents by InType |
//	| next individual report ...
//
// A packet of 1.0 or 0.5 is one report: a header, and the packet that it is about
// (see Format10, Format05, Format2018).
//
// Workers encode: a Packet borrows its buffer from Open to Seal and belongs to
// one worker, Append copies what it is given. UDPFrame puts Ethernet, IP and UDP
// headers in front.
package report
