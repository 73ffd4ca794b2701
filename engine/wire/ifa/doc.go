// Package ifa reads IFA 2.0 (Inband Flow Analyzer, draft-kumar-ippm-ifa-08): where its two parts stand in a packet, and
// what its hops say.
//
//	Ethernet, tags | IP, protocol of IFA | IFA header, 4 | L4 header | [checksum, 4] [fragment, 4] | metadata header, 4 | stack | payload
//
// The IFA header, behind IP and its extensions:
//
//	 0        4     8            16         19  20  21  22  23  24          32
//	| Version | GNS | Next header | Reserved | MF | TS | I | TA | C | Max length |
//
// The metadata header, behind L4, with the stack, newest hop first:
//
//	| Request vector 8 | Action vector 8 | Hop limit 8 | Current length 8, words of the stack |
//
// With TS stack and metadata header stand at the packet's end, the header last. L4's length and checksum are those that
// the packet had at its source: only the IP header knows of IFA. Package inthdr asks for headers (Read) and makes hops of
// INT of what a Stack has (Values.Put); layouts of hops are the configuration's (Layout), Broadcom's are known.
package ifa
