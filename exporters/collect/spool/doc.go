// Package spool keeps report packets on disk until every output has delivered them.
//
// A spool is a folder of segments, spool-0000000001.pcap and so on, which tcpdump and
// `intsink decode` can read: pcap of raw IP, with the time of receipt in nanoseconds. A
// trailer of 32 bytes follows each IP packet; it holds the fields of [Entry] that a capture
// has no place for, and a checksum. Entries that are not report packets are IP packets of
// protocol 253, which is for experiments (RFC 3692).
//
// A lock ensures that one process owns the folder. Entries are appended with write(2), so
// that they survive the end of the process, and synced every half second or MiB, so that they
// survive a power failure. Each output has a [Reader]. A segment is removed when all readers
// have passed it, or when the spool is full; then the losses are counted by output and stream.
package spool
