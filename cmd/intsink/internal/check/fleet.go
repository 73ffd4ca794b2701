// Fleet (check --fleet): compares configurations of several sinks, finds node ids and
// hw_ids that collide, and what they read otherwise of the INT of one domain.

package check

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"intsink/cmd/internal/cli"
	"intsink/conf"
)

// member is one sink of a fleet.
type member struct {
	path        string
	node        uint32
	first, last int // hw_id, of the first and the last worker
	conf        *conf.Config
}

// Fleet validates all configurations (*.hcl) in a folder, and holds them against each
// other: two sinks that report as the same node and hw_id break the accounts of lost
// report packets of whoever collects from both. Diagnostics and what it finds go to stderr.
func Fleet(stdout, stderr io.Writer, dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.hcl"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s has no file *.hcl: put the configurations of all sinks there, one file each", dir)
	}
	if err != nil {
		return cli.Failed(err)
	}
	var all []member
	faults := 0
	for _, path := range paths {
		c, diags := conf.LoadElsewhere(path)
		cli.Diagnose(stderr, diags)
		if c == nil {
			faults += diags.Count(conf.Error)
			continue
		}
		base := int(c.Node.HwIDBase)
		all = append(all, member{path, c.Node.ID, base, base + len(c.DPDK.Lcores) - 1, c})
	}
	faults += compare(stderr, all)
	alike(stderr, all)
	if faults > 0 {
		return cli.Failed(fmt.Errorf("%s is not valid: %s", dir, cli.Count(faults, "error")))
	}
	fmt.Fprintf(stdout, "%s is valid: %s\n", dir, cli.Count(len(all), "sink"))
	return nil
}

// compare says which sinks cannot be told apart, and returns how many pairs.
func compare(stderr io.Writer, all []member) (faults int) {
	slices.SortStableFunc(all, func(a, b member) int { return int(int64(a.node) - int64(b.node)) })
	for i, a := range all {
		for _, b := range all[i+1:] {
			switch {
			case a.node != b.node:
			case a.first <= b.last && b.first <= a.last:
				faults++
				fmt.Fprintf(stderr, "%s: error: node %d has hw_id %s, and so has %s (%s): collectors cannot tell their reports apart; give each sink a node.id of its own, or a hw_id_base beyond the other's workers\n",
					b.path, b.node, span(b), a.path, span(a))
			default:
				fmt.Fprintf(stderr, "%s: warning: node %d is also that of %s: their reports differ by hw_id (%s and %s), but on paths they are one node\n",
					b.path, b.node, a.path, span(b), span(a))
			}
		}
	}
	return faults
}

// mostDifferences is how many are named of each sink.
const mostDifferences = 4

// alike warns of what sinks read otherwise than the first one: all sinks of a domain see the same INT (INT 2.1, 2), and records of
// nodes whose values have two meanings cannot be put together.
func alike(stderr io.Writer, all []member) {
	for i := range all {
		n := 0
		for _, c := range conf.Diff(all[0].conf, all[i].conf) {
			if block := c.Block(); block != "int" && block != "node_model" {
				continue
			}
			if n++; n <= mostDifferences {
				fmt.Fprintf(stderr, "%s: warning: other than at %s: %s; sinks of one domain read its INT alike (INT 2.1, 2)\n", all[i].path, all[0].path, c)
			}
		}
		if n > mostDifferences {
			fmt.Fprintf(stderr, "%s: warning: and %d more of int and node_model\n", all[i].path, n-mostDifferences)
		}
	}
}

func span(m member) string {
	if m.first == m.last {
		return fmt.Sprint(m.first)
	}
	return fmt.Sprintf("%d-%d", m.first, m.last)
}
