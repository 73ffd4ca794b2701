// Package conf reads the HCL configuration of intsink into one immutable
// Config. Nothing outside this package sees HCL.
//
//	c, diags := conf.Load("/etc/intsink/intsink.hcl")
//	diags.WriteTo(os.Stderr) // errors and warnings, with their places
//	if c == nil {
//		return errInvalid
//	}
//
// A block is a file, called as it is: its struct, the words that its attributes take, defaults, schema
// and checks. Block int has several (int.go, schema_int.go, check_int.go, words.go), and one for IFA and IOAM each. config.go has the whole: all
// blocks, and the order of their checks. The schema is written once: one function per kind of block
// names its attributes and nested blocks beside the fields that they fill. Package conf/schema walks it to read a file and to dump one; the tests walk it to see that every
// attribute is documented. memory.go adds up what all blocks together take.
//
// A file is read (types, ranges, names), then collectors are resolved (resolve.go), then
// checks see what takes more than one place of the file. Every step goes on after a
// fault, so that the user sees all of them at once.
//
// To add an attribute, in this order:
//
//  1. In the file of its block a field, its default, a line of the schema, and in a check what
//     must hold between it and others. An attribute that takes one of a few words has a type of
//     its own.
//  2. A row in docs/configuration.md and a line in examples/reference.hcl; a line in CHANGELOG.md.
//     `go test ./conf -update` rewrites the dumps in testdata.
//  3. It takes effect in cmd/intsink/internal/rules, whose map reloads (rules.go) says of each
//     block whether a reload can change it; but those of blocks int and node_model in
//     cmd/internal/sinkconf, and those of dpdk in cmd/intsink/internal/appliance, of port in cmd/intsink/internal/ports.
//     Attributes of `intsink collect` are in conf/collector.
//
// A threshold, of blocks events and events_override, needs also:
//
//  4. A field of Thresholds in engine/event/policy.go, which thresholds in
//     cmd/intsink/internal/rules/watchrules.go sets. If the fast path reads it: FastPolicy
//     (engine/event/fastpolicy.go) and struct fast_policy (engine/fast/fast.h).
//  5. Its row in the event's section of docs/events.md; cmd/intsink/internal/flowapi/thresholds.go
//     (`INTSINK_UPDATE=1 go test ./cmd/intsink/internal/flowapi` rewrites testdata/flow.json), and
//     cmd/intsink/internal/client/whytext.go, where `why` explains it. A time also a case in
//     engine/event/maximum_test.go.
//  6. The second model: Policy in bench/truth/policy.go, the model that uses it, thresholds in
//     bench/truth/sink_test.go.
//
// What a watch selects by, in block match, needs also:
//
//  4. The reading of its values in value_match.go; isEmpty and anyFailed in watch.go.
//  5. A field of watch.Match (engine/watch/watch.go), which watchOf in
//     cmd/intsink/internal/rules/watchrules.go sets; its bit vectors in engine/watch/compile.go and
//     match.go.
//  6. If it is not in the key of a flow: a bit of asks (engine/watch/compile.go) and the fact, its
//     place in the packet and in the hash (facts.go). No packet is passed in C while a
//     watch asks for a fact that AsksInFront does not return. To have packets passed: AsksInFront
//     and Adopt (engine/stage/match/match.go), a bit Asks... (engine/fast/fastpath.go, fast.h), its place in a
//     template (learn_hops.go, state.go, fast.h), and facts_of (pass.c).
//
// `go test ./conf ./cmd/intsink/internal/rules ./cmd/intsink/internal/flowapi ./internal/repotest` fails
// while a part of 1 to 3 is missing, thresholds.go, isEmpty, anyFailed, thresholds or watchOf; `go test ./engine/... ./bench/truth` shows
// whether C, Go and the second model agree.
package conf
