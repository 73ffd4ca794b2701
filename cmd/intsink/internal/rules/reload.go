package rules

import (
	"reflect"
	"slices"
	"strings"

	"intsink/conf"
)

// restarting are the fields of conf.Config, or parts of them, that are fixed while the
// appliance runs: ports, memory and sockets are made from them.
var restarting = []struct {
	block string // in the file
	field string // of conf.Config
	value func(*conf.Config) any
}{
	{"node", "Node", func(c *conf.Config) any { return c.Node }},
	{"dpdk", "DPDK", func(c *conf.Config) any { return c.DPDK }},
	{"port", "Ports", func(c *conf.Config) any { return c.Ports }},
	{"link", "Links", func(c *conf.Config) any { return c.Links }},
	{"tap", "Taps", func(c *conf.Config) any { return c.Taps }},
	{"flows", "Flows", func(c *conf.Config) any { return c.Flows }},
	{"collector", "Collectors", func(c *conf.Config) any { return withoutBudgets(c) }},
	{"http", "HTTP", func(c *conf.Config) any { return c.HTTP }},
	{"report.coalesce.max_bytes", "Report", func(c *conf.Config) any { return c.Report.Coalesce.MaxBytes }},
}

// reloading are the fields of conf.Config all of which a reload changes.
var reloading = []string{"INT", "NodeModels", "Watches", "Events", "Log"}

// NeedsRestart names the blocks that differ between two configurations
// and cannot change while the appliance runs; "" if there are none.
func NeedsRestart(old, c *conf.Config) string {
	var changed []string
	for _, r := range restarting {
		if !reflect.DeepEqual(r.value(old), r.value(c)) {
			changed = append(changed, r.block)
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
