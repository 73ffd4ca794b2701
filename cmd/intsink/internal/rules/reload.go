package rules

import (
	"slices"
	"strings"

	"intsink/conf"
)

// reloads tells of each block of the file whether a reload can change what path in it names.
// What is fixed, ports, memory and sockets are made from.
var reloads = map[string]func(path string) bool{
	"node": never, "dpdk": never, "port": never, "link": never, "tap": never, "flows": never,
	"int": always, "node_model": always, "watch": always, "events": always, "log": always,
	"report":    func(path string) bool { return path != "report.coalesce.max_bytes" },
	"collector": inBudget,
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

// NeedsRestart are those of changes that cannot be made while the appliance runs.
func NeedsRestart(changes []conf.Change) []conf.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c conf.Change) bool {
		reload := reloads[c.Block()]
		return reload != nil && reload(c.Path)
	})
}
