// Package spool keeps report packets on disk until every output has them.
//
// A spool is a folder with segments, spool-0000000001.pcap and so on, that tcpdump and
// `intsink decode` read: nanosecond pcap of raw IP, with the time of receipt. Behind each
// IP packet stands a trailer of 32 bytes (see [Entry]) with what a capture has no place
// for, and a checksum. Entries of other kinds than report packets are IP packets of
// protocol 253, which is for experiments (RFC 3692).
//
// The folder has one owner, by a lock. Entries are appended with write(2), so that they
// outlive the process, and synced every half second or MiB, so that they outlive the
// machine. Each output reads for itself; a segment goes when all have passed it, or when
// the spool is full, which counts what was lost and says of which streams.
package spool
