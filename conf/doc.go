// Package conf reads the HCL configuration of intsink into one immutable
// Config. Nothing outside this package sees HCL.
//
//	c, diags := conf.Load("/etc/intsink/intsink.hcl")
//	diags.WriteTo(os.Stderr) // errors and warnings, with their places
//	if c == nil {
//		return errInvalid
//	}
//
// The schema is written once, in schema*.go: one function per kind of block
// names its attributes and nested blocks beside the fields that they fill. Three
// visitors walk it: reader (reader.go) fills the fields from a parsed file,
// dumper (dump.go) writes them back as HCL, and the tests list the names to see
// that every one is documented.
//
// Before anything else the file is bounded in size and nesting (bounds.go), since
// the HCL parser is not. Load then reads (types, ranges, names), resolves collectors (resolve.go),
// then checks what takes more than one place of the file to see (check*.go).
// Every step goes on after a fault, so that the user sees all of them at once;
// only a file that is no HCL, or too large, ends it early.
package conf
