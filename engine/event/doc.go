// Package event decides which packets are worth a report. It compares a packet's hops with what
// its flow last reported: deadbands, not buckets, with rate limits, so that every change is
// reported once.
//
// Time is passed in as Unix nanoseconds. A Detector belongs to one worker.
//
// Packets and flow state enter (Detector.Packet), a Set of events leaves:
//
//	event.go, policy.go              the events and their priority; the thresholds of one watch
//	detector.go, tokens.go           Packet: calls the tests below for each packet; rates
//	sampler.go                       which packets are looked at although they give no event
//	quiet.go, fastview.go            reported samples and rules of quiet flows, and what package fast needs to decide
//	path.go, spray.go                path_change, path_switch; flows that are sprayed over paths
//	hops.go, hops2016.go             walk the hop stack of INT-MD, of June 2016; values of one hop
//	latency.go, linklatency.go       deadbands, hop_latency and end_to_end; link_latency
//	nodemodel.go                     units of a node's values; its timestamps
//	learnusual.go                    what a sampled packet teaches (package usual); thresholds made of what is usual
//	congestion.go, txutilization.go  episodes of queues and of interfaces; queueepisode.go: when one is over; busyrun.go: packets of a busy interface that C passes
//	met.go, run.go                   packets of an open episode that C has passed
//	fabric.go, hotset.go, shared.go  queues, interfaces, links: tables, filter, state of all workers
//	loss.go                          sequence numbers: loss, reordering, duplicates
//	packetevents.go                  drop, hop_limit, mtu_exceeded; limits per port of malformed, leak, unknown_domain
//	metrics.go                       metrics that the counters make
//
// To add an event, in this order:
//
//  1. event.go: its constant, name and priority. Append the constant: its number is the event's
//     bit in reports. engine/wire/report/explanation.go: the same name in EventNames, for that bit in
//     an Explanation. Triggered (detector.go), if a value makes it fire. If no packet shows it:
//     EventNames in cmd/intsink/internal/livecapture/capturerequest.go.
//  2. Detector.Packet, or what it calls, fires it. Most packets never come there: those that are
//     as their flow's last one are passed in C. If such a packet can fire the event,
//     the C must not pass it (engine/fast: compare.h or general in pass.c). What it
//     needs of the watch is in FastPolicy (fastpolicy.go) and its mirror, struct fast_policy in
//     engine/fast/fast.h. What it remembers of a flow is a field of flows.Cold (flows/cold.go),
//     which costs memory for each flow that has had an event; flows.Flow has no room. Where packets
//     of a flow must not be passed, a flag of flows.Flow says so, which Settled compares
//     (flows.Want, FastPolicy.Flags). If it needs a value of hops: Missing (lacking.go). If a limit
//     of the flow's own withholds it: addWaits in cmd/intsink/internal/flowapi/waits.go.
//  3. Its thresholds, if it has any: Thresholds (policy.go); in conf events.go
//     and examples/reference.hcl;
//     cmd/intsink/internal/rules/watchrules.go copies them; cmd/intsink/internal/flowapi/thresholds.go
//     and cmd/intsink/internal/client/whytext.go show them. The comment of package conf has all
//     steps of a threshold.
//  4. conf/events.go: its name in watch.events, and whether a watch has it by default.
//  5. Its section in docs/events.md with a row in the table there, and a timeline in
//     engine/timeline_scenes_test.go, which draws the section's picture; its row in
//     docs/reports.md, in docs/configuration.md the attributes of its block and whether it is on
//     by default, in docs/events.md its place in the table of priorities. Thresholds: also in
//     documentedThresholds of engine/timeline_scenes_test.go, times in maximum_test.go. A line in
//     CHANGELOG.md.
//     `go test ./engine ./conf -update` writes the picture, the row and the messages.
//  6. bench/truth: its name in Classes (policy.go), a part of Model that finds it, a scene.
//     bench/cmd/compare/tasklist.go: its name in everyEvent.
//
// `go test ./engine/event ./engine ./conf ./cmd/intsink/internal/rules ./cmd/intsink/internal/flowapi ./bench/cmd/compare`
// names what is missing of 1 to 5 and in everyEvent; `go test ./engine/fast ./bench/truth` shows whether 2, the C and 6 agree.
package event
