// Package conf reads the HCL configuration of intsink into one immutable
// Config. Nothing outside this package sees HCL.
//
//	c, diags := conf.Load("/etc/intsink/intsink.hcl")
//	diags.WriteTo(os.Stderr) // errors and warnings, with their places
//	if c == nil {
//		return errInvalid
//	}
//
// The schema is written once, in schema*.go: one function per kind of block names its
// attributes and nested blocks beside the fields that they fill, in config.go. Package
// conf/schema walks it to read a file and to dump one; the tests walk it to see that every
// attribute is documented. Values that only intsink has are in value_*.go, lcores.go and
// nodemodel.go.
//
// A file is read (types, ranges, names), then collectors are resolved (resolve.go), then
// check*.go see what takes more than one place of the file. Every step goes on after a
// fault, so that the user sees all of them at once.
//
// To add an attribute: a field in config.go, its default in defaults.go, a line in
// schema*.go, in check_*.go what must hold between it and others, a row in
// docs/configuration.md and a line in conf/examples/reference.hcl (tests fail until both are
// there), a line in CHANGELOG.md. An attribute that takes one of a few words has a type of its own
// in words.go. `go test ./conf -update` rewrites the dumps in testdata, `make imports` the fields
// in ARCHITECTURE.md.
//
// It takes effect in cmd/intsink/internal/rules, whose map reloads (rules.go) says of each block
// whether a reload can change it; but those of blocks int and node_model in cmd/internal/sinkconf,
// and those of dpdk and port in cmd/intsink/internal/appliance. Attributes of `intsink collect`
// are in conf/collector.
package conf
