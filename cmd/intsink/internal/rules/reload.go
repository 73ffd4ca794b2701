// NeedsRestart: which changes of a configuration a reload cannot make.

package rules

import (
	"slices"
	"strings"

	"intsink/conf"
	"intsink/conf/schema"
)

// reloads tells of each block of the file whether a reload can change what path in it names.
// What is fixed, ports, memory and sockets are made from.
var reloads = map[string]func(path string) bool{
	"node": never, "dpdk": never, "port": never, "link": never, "tap": never, "flows": never,
	"int": always, "node_model": always, "watch": always, "events": always, "log": always,
	"report":    func(path string) bool { return path != "report.coalesce.max_bytes" },
	"collector": always, // but for those by a port: see byPort
	"http":      func(path string) bool { return strings.HasPrefix(path, "http.token") },
}

func never(string) bool  { return false }
func always(string) bool { return true }

func inBudget(path string) bool {
	for _, attribute := range []string{"packets", "bits", "burst"} {
		if strings.HasSuffix(path, `".budget.`+attribute) {
			return true
		}
	}
	return false
}

// NeedsRestart are those of changes, from old to now, that cannot be made while the appliance
// runs.
func NeedsRestart(changes []conf.Change, old, now *conf.Config) []conf.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c conf.Change) bool {
		reload := reloads[c.Block()]
		return reload != nil && reload(c.Path) && (inBudget(c.Path) || !byPort(c.Path, old) && !byPort(c.Path, now))
	})
}

// byPort tells whether path is a collector of c, or in one, to which the reports leave by a
// port of DPDK: workers know its queues and neighbours from their start.
func byPort(path string, c *conf.Config) bool {
	return slices.ContainsFunc(c.Collectors, func(col conf.Collector) bool {
		block := "collector " + schema.Quote(col.Name)
		return col.Port != "" && (path == block || strings.HasPrefix(path, block+"."))
	})
}
