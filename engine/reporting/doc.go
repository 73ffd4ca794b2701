// Package reporting turns decided events into report packets. A Reporter belongs to one worker.
// Of the configuration it reads Rules and Collectors only, and it does not read the burst.
//
// What enters: Measure, which reads the sink's own metadata once a burst; then a Subject
// for each packet, flow or drop that is reported (Report), or a Run of packets that are reported
// alike (Together), which a template makes cheap. The worker has decided which events they have and which bytes of the
// packet are shown.
//
// What leaves: filled report packets, each with its report.Handoff, into the rings of
// the collectors' exporters, or to a Sender that transmits them itself.
//
//	reporter.go      the Reporter, its rules, what is due between bursts; collectors come and go
//	sinkmetadata.go  the sink's own metadata, and readings of a live link among them
//	subject.go       what one report is about (Subject); a report built in all parts, field by field
//	together.go      packets that are reported alike (Run), and how they are sent
//	templates.go     what their reports have in common
//	explain.go       the Explanation: a few numbers of the flow, and why the report is sent
//	outbox.go        the open report packet of one collector: opened, filled; seal.go: sealed, handed over
//	outlet.go        takes sealed report packets: a ring or a port
//	budget.go        how much a collector may be sent, and which report goes first
//	shed.go          asks the budget, before a report is built; refreshes come less often where it sheds them
//	counters.go      what is counted, and why reports are dropped
package reporting
