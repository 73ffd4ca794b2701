package conf

import (
	"fmt"
	"strings"
	"testing"
)

// TestApart: what two lists of models share is told by a node, the lowest of the range, or as the model of all others.
func TestApart(t *testing.T) {
	nodes := func(name string, ranges ...NodeRange) NodeModel { return NodeModel{Name: name, Nodes: ranges} }
	a := []NodeModel{nodes("a", NodeRange{First: 10, Last: 19}, NodeRange{First: 30, Last: 30})}
	for _, c := range []struct {
		name string
		a, b []NodeModel
		want string
	}{
		{"none", nil, nil, ""},
		{"side by side", a, []NodeModel{nodes("b", NodeRange{First: 0, Last: 9}, NodeRange{First: 20, Last: 29}, NodeRange{First: 31, Last: 40})}, ""},
		{"the last of a range", a, []NodeModel{nodes("b", NodeRange{First: 19, Last: 25})}, `node 19 of "a"`},
		{"the first of a range", a, []NodeModel{nodes("b", NodeRange{First: 1, Last: 10})}, `node 10 of "a"`},
		{"one node", a, []NodeModel{nodes("b", NodeRange{First: 30, Last: 30})}, `node 30 of "a"`},
		{"in the second of either", append([]NodeModel{nodes("x", NodeRange{First: 1, Last: 2})}, a...), []NodeModel{nodes("y", NodeRange{First: 5, Last: 5}), nodes("b", NodeRange{First: 12, Last: 14})}, `node 12 of "a"`},
		{"all others and some", []NodeModel{nodes("all")}, a, ""},
		{"all others in both", append(a, nodes("rest")), []NodeModel{nodes("all")}, `the model of every other node, "rest"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := Apart(c.a, c.b); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestHintsOfOverlaps: of two ranges that share nodes, the hint is the rest of the later one in the file.
func TestHintsOfOverlaps(t *testing.T) {
	for _, c := range []struct{ first, later, want string }{
		{"10-19", "15-25", `15 stands in "10-19" of node_model "a" too, and a node has one model; did you mean "20-25"?`},
		{"10-19", "10-20", `10 stands in "10-19" of node_model "a" too, and a node has one model; did you mean "20"?`},
		{"10-19", "5-10", `10 stands in "10-19" of node_model "a" too, and a node has one model; did you mean "5-9"?`},
		{"10-19", "5-19", `10 stands in "10-19" of node_model "a" too, and a node has one model; did you mean "5-9"?`},
		{"10-19", "5-20", `10 stands in "10-19" of node_model "a" too, and a node has one model; did you mean "5-9", "20"?`},
		{"10-19", "12-19", `12 stands in "10-19" of node_model "a" too, and a node has one model; leave it out here`},
		{"10-19", "10-19", `10 stands in "10-19" of node_model "a" too, and a node has one model; leave it out here`},
		{"10-19", "20-25", ""},
		{"10-19", "5-9", ""},
	} {
		t.Run(c.first+" and "+c.later, func(t *testing.T) {
			src := fmt.Sprintf("%swatch \"all\" {}\nnode_model \"a\" { nodes = [%q] }\nnode_model \"b\" { nodes = [%q] }\n", base, c.first, c.later)
			_, d := parse("test.hcl", []byte(src), fakeMachine())
			want := ""
			if c.want != "" {
				want = `node_model "b": nodes: ` + c.want
			}
			got := ""
			if len(d.Errors) > 0 {
				got = d.Errors[0].Message
			}
			if got != want || len(d.Errors) > 1 || len(d.Errors) == 1 && d.Errors[0].Line != 2+strings.Count(base, "\n")+1 {
				t.Errorf("%v\nwant %s", d.Errors, want)
			}
		})
	}
}
