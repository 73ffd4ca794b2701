// Package enginetest is a worker's world in memory, for tests: ports that deliver frames
// and keep what is transmitted (memoryport.go), and what arrives at a collector (collected.go).
//
// A case of a packet, bytes in and bytes out, needs no worker: in engine/wire/strip,
//
//	orig := flow.Frame(20, 1)                              // an intgen.Flow
//	marked, err := source.Insert(orig, hops)               // an intgen.Source
//	got, _ := stripped(t, locators(false)[source.Marking], marked, 0)
//
// and got is orig. With counters, drops or what is left to report it is a test of the stage that does
// it, with a burst made by hand (package bursttest). Where several stages have to agree, or a report
// is looked at, it is a test of package engine, whose bed (fixture_test.go) joins a worker to two
// Ports: what is put into Port.RX leaves by the other one's TX, and Sealed and Decoded give the reports.
//
// A case of an event is a timeline in engine/timeline_scenes_test.go: packets at times, and
// the thresholds; `go test ./engine -run TestTimelines -update` draws it into the section of
// docs/events.md that it names. A scene of bench/truth plants the event among others and
// states where it must be reported (scenes_*.go), which Model computes on its own.
package enginetest
