// Package event decides which packets are worth a report. It compares a
// packet's hops with what its flow last reported: deadbands, not buckets, with
// rate limits, so that an operator hears of every change once.
//
// Time is passed in as Unix nanoseconds. A Detector belongs to one worker.
//
// Packets and flow state enter (Detector.Packet), a Set of events leaves:
//
//	event.go, policy.go              the events and their priority; the thresholds of one watch
//	detector.go                      Packet: calls the tests below for each packet
//	noevent.go, fastview.go          NoEvent, and what package fast needs to decide the same
//	path.go                          path_change, path_switch
//	hops.go, hops2016.go             walk the hop stack of INT-MD, of June 2016; values of one hop
//	latency.go, linklatency.go       deadbands, hop_latency and end_to_end; link_latency
//	nodemodel.go                     units of a node's values; its timestamps
//	congestion.go, txutilization.go  episodes of queues and of interfaces
//	fabric.go, hotset.go, shared.go  queues, interfaces, links: tables, filter, state of all workers
//	loss.go                          sequence numbers: loss, reordering, duplicates
//	packetevents.go                  drop, hop_limit, mtu_exceeded; limits per port of malformed, leak, unknown_domain
package event
