// Package reporting turns decided events into report packets. It belongs to one worker and
// reads neither its burst nor its configuration but for Rules and Collectors.
//
// What enters: Measure, which reads the sink's own metadata once a burst; then a Subject
// for each packet, flow or drop that is reported (Report), or a Run of packets that are reported
// alike (Together). The worker has decided which events they have and which bytes of the
// packet are shown.
//
// What leaves: filled report packets, each with its report.Handoff, into the rings of
// the collectors' exporters, or to a Sender that transmits them itself.
//
//	reporter.go    the Reporter: its collectors, a reload of them, what is due between bursts
//	subject.go     what one report is about
//	measure.go     the sink's own metadata; gauges.go: readings of a live link among them
//	individual.go  a report built in all parts, field by field
//	run.go         reports by a template, of which only the fragment differs
//	outbox.go      the open report packet of one collector: opened, filled, sealed, handed over
//	outlet.go      what takes sealed report packets
//	budget.go      how much a collector may be sent, and which report goes first
//	stretch.go     refreshes come less often where budgets shed them
//	rules.go       what the configuration says; counters.go, reason.go: what is counted
package reporting
