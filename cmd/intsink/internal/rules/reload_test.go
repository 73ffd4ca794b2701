package rules

import (
	"strings"
	"testing"
	"time"

	"intsink/conf"
)

// TestBudgetReload: a budget changes while the appliance runs, the rest of a
// collector does not.
func TestBudgetReload(t *testing.T) {
	load := func(collector string) *conf.Config {
		c, d := conf.Parse("test.hcl", []byte(strings.Replace(assembleBase, `{ address = "192.0.2.10:8555" }`, collector, 1)))
		if c == nil {
			t.Fatal(d.Err())
		}
		return c
	}
	old := load("{\n  address = \"192.0.2.10:8555\"\n}")
	budget := load("{\n  address = \"192.0.2.10:8555\"\n  budget {\n    packets = 1000\n    bits    = 5000000\n    burst   = \"200ms\"\n  }\n}")
	more := load("{\n  address = \"192.0.2.11:8555\"\n}\nhttp { listen = \"\" }\nflows { capacity = 16 }")
	if what := NeedsRestart(old, more); what != "flows, collector, http" {
		t.Errorf("three changes need %q", what)
	}
	other := load("{\n  address = \"192.0.2.11:8555\"\n}")
	if what := NeedsRestart(old, budget); what != "" {
		t.Errorf("a budget needs a restart: %s", what)
	}
	if what := NeedsRestart(old, other); what != "collector" {
		t.Errorf("another address needs %q", what)
	}
	got := Of(budget).Report.Budgets[0]
	if got.Packets != 1000 || got.Bits != 5_000_000 || got.Burst != int64(200*time.Millisecond) || got.Headers != 42 {
		t.Errorf("%+v", got)
	}
}
