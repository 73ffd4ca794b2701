// Block names, whole: what people call nodes, their interfaces, and hosts; of a file that sinks and
// collectors share, too.

package conf

import (
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"intsink/conf/schema"
	"intsink/internal/plainfile"
)

// Names are what people call things that packets have numbers and addresses of.
type Names struct {
	File  string // of more nodes and hosts; "" for none
	Hosts string // a file as /etc/hosts; "" for none
	Nodes []NodeName

	HostNames map[netip.Addr]string // of Hosts, or of the file that File names
	more      []NodeName            // of File
}

// NodeName is the name of a node, and those of its interfaces.
type NodeName struct {
	Name       string
	ID         uint32
	Interfaces []schema.Numbered
}

// maxHosts is how many addresses have names.
const maxHosts = 65536

// VisitNames is the schema of block names, in this configuration and others.
func VisitNames(v schema.Visitor, n *Names) {
	v.Attr("file", schema.Text(&n.File))
	visitNamesFile(v, n, &n.Nodes)
}

// visitNamesFile is the schema of a file of names.
func visitNamesFile(v schema.Visitor, n *Names, nodes *[]NodeName) {
	v.Attr("hosts", schema.Text(&n.Hosts))
	v.Blocks("node", schema.Slice(nodes, schema.Zero[NodeName], func(x *NodeName) *string { return &x.Name }, func(v schema.Visitor, x *NodeName) {
		v.Required("id", schema.Integer(&x.ID, 0, maxNodeID))
		v.Attr("interfaces", schema.NumberedTexts(&x.Interfaces, 1<<32-2))
	}))
}

// All are the nodes with names: of two with one id, that of the configuration itself.
func (n *Names) All() []NodeName { return append(slices.Clone(n.more), n.Nodes...) }

// Read checks the block, and reads the files that it names, from dir where they are relative. What cannot be read is a
// warning, as no packet needs a name; what is wrong in a file of names is an error.
func (n *Names) Read(f *schema.File, dir string) {
	checkNames(f, n.Nodes)
	hosts, at := beside(dir, n.Hosts), any(&n.Hosts)
	if n.File != "" && !f.Wrong(&n.File) {
		if more := n.readFile(f, beside(dir, n.File)); hosts == "" {
			hosts, at = more, &n.File
		}
	}
	if hosts == "" || f.Wrong(&n.Hosts) {
		return
	}
	text, err := plainfile.Read(hosts)
	if err != nil {
		missing(f, at, "names: hosts", err)
	}
	n.HostNames = hostsOf(string(text))
}

// beside is a path that a file in dir names.
func beside(dir, path string) string {
	if path == "" || dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func missing(f *schema.File, at any, what string, err error) {
	f.WarnAt([]any{at}, "%s: %v: numbers and addresses stand in place of these names, until a reload finds the file", what, err)
}

// readFile reads a file of names: nodes, and the hosts that it names.
func (n *Names) readFile(f *schema.File, path string) (hosts string) {
	text, err := plainfile.Read(path)
	if err != nil {
		missing(f, &n.File, "names: file", err)
		return ""
	}
	var own Names
	file := schema.New(path, text)
	if file.Parse(func(v schema.Visitor) { visitNamesFile(v, &own, &own.Nodes) }) {
		checkNames(file, own.Nodes)
	}
	if wrong := file.Done().Errors; len(wrong) > 0 {
		for _, x := range wrong {
			f.ErrorAt([]any{&n.File}, "names: file: %s:%d:%d: %s", x.File, x.Line, x.Column, x.Message)
		}
		return ""
	}
	n.more = own.Nodes
	return beside(filepath.Dir(path), own.Hosts)
}

// checkNames reports ids that have two names.
func checkNames(f *schema.File, nodes []NodeName) {
	first := map[uint32]string{}
	for i := range nodes {
		x := &nodes[i]
		if !f.Good(&x.ID) { // that it is missing, or wrong, is told
			continue
		}
		if before, twice := first[x.ID]; twice {
			f.ErrorAt([]any{&x.ID}, "node %q: node %q has the id %d already: a node has one name", x.Name, before, x.ID)
		}
		first[x.ID] = x.Name
	}
}

// hostsOf parses a file as /etc/hosts: each line has an address, then names, and the first name counts. It skips lines without
// a valid address, and names that no host can have: other programs write this file, so its faults are not errors here.
func hostsOf(text string) map[netip.Addr]string {
	all := map[netip.Addr]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) < 2 || len(words[1]) > 253 || strings.Trim(words[1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") != "" {
			continue
		}
		a, err := netip.ParseAddr(words[0])
		if a = a.Unmap().WithZone(""); err != nil || a.IsLoopback() || len(all) >= maxHosts {
			continue
		}
		if _, twice := all[a]; !twice {
			all[a] = words[1]
		}
	}
	return all
}
