package rules

import (
	"fmt"
	"slices"
	"strings"

	"intsink/conf"
)

// NeedsRestart names the blocks that differ between two configurations
// and cannot change while the appliance runs; "" if there are none.
func NeedsRestart(old, c *conf.Config) string {
	blocks := []struct{ name, old, new string }{
		{"node", fmt.Sprint(old.Node), fmt.Sprint(c.Node)},
		{"dpdk", fmt.Sprint(old.DPDK), fmt.Sprint(c.DPDK)},
		{"port", fmt.Sprint(old.Ports), fmt.Sprint(c.Ports)},
		{"link", fmt.Sprint(old.Links), fmt.Sprint(c.Links)},
		{"tap", fmt.Sprint(old.Taps), fmt.Sprint(c.Taps)},
		{"flows", fmt.Sprint(old.Flows), fmt.Sprint(c.Flows)},
		{"collector", fmt.Sprint(withoutBudgets(old)), fmt.Sprint(withoutBudgets(c))},
		{"http", fmt.Sprint(old.HTTP), fmt.Sprint(c.HTTP)},
		{"report.coalesce.max_bytes", fmt.Sprint(old.Report.Coalesce.MaxBytes), fmt.Sprint(c.Report.Coalesce.MaxBytes)},
	}
	var changed []string
	for _, b := range blocks {
		if b.old != b.new {
			changed = append(changed, b.name)
		}
	}
	return strings.Join(changed, ", ")
}

// withoutBudgets are the collectors but for what of them can change.
func withoutBudgets(c *conf.Config) []conf.Collector {
	all := slices.Clone(c.Collectors)
	for i := range all {
		all[i].Budget, all[i].Host = conf.Budget{}, ""
	}
	return all
}
