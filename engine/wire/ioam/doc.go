// Package ioam reads IOAM (RFC 9197) in IPv6 (RFC 9486): where its options stand in hop-by-hop and destination options headers,
// what the nodes of a trace say, and what is left of the headers without it.
//
//	option 0x11 or 0x31 | length | reserved | IOAM type | namespace 16 | ...
//
// The header of a trace, pre-allocated (type 0) or incremental (1), stands from the namespace on:
//
//	| namespace 16 | node length 5, words | O L A R | remaining length 7, words | trace type 24 | reserved 8 |
//
// Behind it, pre-allocated, is free space, then the nodes, the newest first; each has what the bits of the trace type ask for,
// and where bit 22 is set, an opaque snapshot that the node length does not count. Of other types, proof of transit (2), edge
// to edge (3) and direct export (4), a number and times of the last but one are read.
//
// Package inthdr asks for options (Config.Find) and makes hops of INT of nodes (Nodes.Put); package strip has them taken out
// (Strip).
package ioam
