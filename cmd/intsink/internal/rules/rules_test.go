package rules

import (
	"strings"
	"testing"
	"time"

	"intsink/conf"
)

// TestWhatReloads: collectors, budgets, http and idle_timeout change while the appliance runs;
// collectors by a port where reports leave by that port since the start.
func TestWhatReloads(t *testing.T) {
	load := func(collector string) *conf.Config {
		c, d := conf.Parse("test.hcl", []byte(strings.Replace(assembleBase, `{ address = "192.0.2.10:8555" }`, collector, 1)))
		if c == nil {
			t.Fatal(d.Err())
		}
		return c
	}
	old := load("{\n  address = \"192.0.2.10:8555\"\n}")
	budget := load("{\n  address = \"192.0.2.10:8555\"\n  budget {\n    packets = 1000\n    bits    = 5000000\n    burst   = \"200ms\"\n  }\n}")
	more := load("{\n  address = \"192.0.2.11:8555\"\n}\nhttp { listen = \"\" }\nflows {\n capacity = 16\n idle_timeout = \"5s\"\n}\nnode { id = 9 }")
	needs := func(c *conf.Config, ports ...string) string {
		var lines []string
		for _, change := range NeedsRestart(conf.Diff(old, c), old, c, ports) {
			lines = append(lines, change.String())
		}
		return strings.Join(lines, "\n")
	}
	if what := needs(more); what != "node.id: 0 -> 9\nflows.capacity: 1048576 -> 16" {
		t.Errorf("four changes need %s", what)
	}
	if what := needs(budget); what != "" {
		t.Errorf("a budget needs a restart: %s", what)
	}
	byPort := load("{\n  address = \"192.0.2.10:8555\"\n  port = \"host\"\n source = \"192.0.2.1\"\n}")
	if what := needs(byPort); !strings.Contains(what, `collector "four".port: (not set) -> "host"`) {
		t.Errorf("a collector by a port needs %q", what)
	}
	if what := needs(byPort, "host"); what != "" {
		t.Errorf("a collector by a port of reports needs %q", what)
	}
	if what := needs(byPort, "network"); !strings.Contains(what, `collector "four".port`) {
		t.Errorf("a collector by another port needs %q", what)
	}
	if r := Of(more); r.IdleTimeout != 5e9 {
		t.Errorf("flows end after %d", r.IdleTimeout)
	}
	got := Of(budget).Collectors[0].Budget
	if got.Packets != 1000 || got.Bits != 5_000_000 || got.Burst != int64(200*time.Millisecond) || got.Headers != 42 {
		t.Errorf("%+v", got)
	}
}

// TestEveryBlockReloadsOrRestarts: a block that is new in the schema has to be put into the
// table.
func TestEveryBlockReloadsOrRestarts(t *testing.T) {
	c, d := conf.Parse("test.hcl", []byte(assembleBase+"node { id = 3 }\nport \"span\" { device = \"net_null2\" }\ntap \"t\" { port = \"span\" }\nnode_model \"m\" {}\nnotify \"ops\" { url = \"https://hooks.example.net\" }\n"))
	if c == nil {
		t.Fatal(d.Err())
	}
	seen := map[string]bool{}
	for _, change := range conf.Diff(&conf.Config{}, c) {
		seen[change.Block()] = true
	}
	for block := range seen {
		if reloads[block] == nil {
			t.Errorf("%s is not in the table", block)
		}
	}
	for block := range reloads {
		if !seen[block] {
			t.Errorf("the table has %s, which the configuration has not", block)
		}
	}
}

// TestUnknownBlockNeedsARestart: a change of a block that reloads does not list needs a restart.
func TestUnknownBlockNeedsARestart(t *testing.T) {
	changes := []conf.Change{{Kind: conf.ChangeSet, Path: "new_block.x"}, {Kind: conf.ChangeSet, Path: "report.fragment"}, {Kind: conf.ChangeSet, Path: "report.coalesce.max_bytes"}}
	if got := NeedsRestart(changes, &conf.Config{}, &conf.Config{}, nil); len(got) != 2 || got[0].Path != "new_block.x" || got[1].Path != "report.coalesce.max_bytes" {
		t.Errorf("%v", got)
	}
}
