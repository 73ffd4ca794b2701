// Package fast passes the packets that are like others before them: their headers have a
// shape that the parser has seen, and their INT says what their flow's last packet said.
//
// A Template describes such a shape: the bytes that its packets have, and the place of all that
// is read or changed. Only Store and StoreNotINT make templates, of packets that were parsed. What follows is
// one loop over the burst each: which template, key and hash and which flow
// (match.c), whether the packet gives no event (pass.c, compare.h), and INT out (strip.h). No loop asks what the headers are called. Around
// them is the loop over bursts (poll.c, Loop), from the port of the network to that of the host.
//
// What Pass does not pass it defers to package engine, in order, and with it all later packets of
// the same flow in the burst, so that a flow's order is kept. A deferred packet may give an
// event: its path is new, a latency is out of its deadband for as long as the watch says, a
// threshold is reached, a sequence number is missing, a refresh is due. Rarer things are decided
// in C too, by the general path (general in pass.c): a latency out of its deadband that is no event yet,
// units of nodes that a node_model lists, INT without hops (INT-MX), flows that no watch selects,
// sequence numbers, a queue in an episode: a packet that goes on with it is added to its tally, of another Go looks at its
// INT (Met).
// A packet whose flow finds no room in the table is passed: there is nothing it could be news to. Deferred although most of them give no event are packets
//
//   - without a template, of a new flow, or the first of a flow after a reload of rules
//   - with FIN or RST, with the D, E or M flag, of unsound INT-MD, or with more hops than
//     flows.MaxHops
//   - whose hops do not begin with node id, level-1 interfaces and hop latency, have level-2
//     interfaces, or are longer than 44 bytes
//   - of flows whose reference for a hop's latency is above 2.1 s (event/fastpolicy.go)
//   - of June 2016: values of their hops have 31 bits, and each port a word of its own
//   - whose flow's counters of 32 bits are full: Go carries them over
//   - that update the tables of queues, interfaces and links: the next one, whatever it is, when
//     event.Sampler asks for it (Burst.Look)
//   - with an interface in an episode, and with a queue in one where interfaces are watched, too
//   - with link_latency: those of INT 1.0 with both timestamps, which have 32 bits
//   - with link_latency or clock = "ptp": those with timestamps of other units or widths, which Go
//     compares with clocks that wrap
//   - with hop_latency: those on a path that has a node twice. A flow has one reference for a node,
//     found by the node id, so that such a path is not kept hop by hop (event/path.go)
//   - all, where a watch asks for a VNI or an inner packet: these stand behind INT, where
//     templates end (Burst.Keep)
//
// The loops over a burst are in C, compiled once with vectors and once without (portable.c), for processors
// without AVX2. Builds without cgo parse every packet. A State belongs to one worker.
package fast
