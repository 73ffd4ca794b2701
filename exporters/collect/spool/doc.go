// Package spool is a log of report packets, in memory or on disk, that every output reads at its own pace.
//
// On disk it is a folder of segments, spool-0000000001.pcap and so on, which tcpdump and
// `intsink decode` can read: pcap of raw IP, with the time of receipt in nanoseconds. A
// trailer of 32 bytes follows each IP packet; it holds the fields of [Entry] that a capture
// has no place for, and a checksum. Entries that are not report packets are IP packets of
// protocol 253, which is for experiments (RFC 3692).
//
// A lock ensures that one process owns the folder. Entries are appended with write(2), so
// that they survive the end of the process, and synced every half second or MiB, so that they
// survive a power failure. While the disk takes nothing, segments are in memory. Each output has a [Reader] with one
// acknowledged position. A segment goes when all readers have passed it, or when the log is full. What a reader
// did not get, because a segment went, is missing or damaged, is counted, and told by number ([Reader.TakeLost]).
package spool
