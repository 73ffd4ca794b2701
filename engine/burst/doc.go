// Package burst is what passes from stage to stage of a worker: a burst of packets and what is
// known of each.
//
//	burst.go     Burst, and in which stage each of its fields is valid
//	left.go      what stages leave in it for report: drops, and events that need no flow
//	cause.go     why a packet is reported
//	drops.go     the closed list of reasons of drops
//	counters.go  what is counted by link
//	link.go      queues, pools and links
//	limits.go    how often is told what belongs to no flow
//	flowkey.go   the key of the original packet's flow
//	neighbor.go  frames by which neighbours are found
package burst
