// Package schema reads HCL files into structs, and writes them back, by a schema that is
// written once: a function that names the attributes and blocks of each kind of block
// beside the fields that they fill. It knows nothing of what it configures.
//
//	func (c *config) visit(v schema.Visitor) {
//		v.Required("listen", schema.Text(&c.Listen))
//		v.Attr("wait", schema.Duration(&c.Wait, 0, time.Minute))
//	}
//
//	f, diags := schema.Open(path) // a File, or why it cannot be read; OpenAny reads folders, too
//	f.Parse(c.visit)              // c has its defaults; what the file sets is changed
//	f.ErrorAt(...)                // what takes more than one attribute to see
//	diags = f.Done()              // all faults, each with its place
//	schema.Dump(c.visit)          // HCL that reads as the same
//
// readfiles.go reads the files, env.go fills in variables of the environment.
//
// Values (value.go, listvalue.go, duration.go, ranges.go, net.go, object.go) join a
// field to the way it is written; Then, Checked and Omitted add checks to one. Visitors walk a schema:
// hclreader.go fills fields, dump.go writes them, and a caller may have its own, to see that
// every attribute is documented. Checks know a field by a pointer to it, its key: file.go
// remembers where each stands. Every step goes on after a fault, so that the user sees all
// of them at once; only a file that is no HCL, or more than bounds.go lets the HCL parser
// have, ends early.
package schema
