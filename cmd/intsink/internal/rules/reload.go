// NeedsRestart: which changes of a configuration a reload cannot make.

package rules

import (
	"slices"
	"strings"

	"intsink/conf"
	"intsink/conf/schema"
)

// reloads says for each block of the file whether a reload can change the attribute at a path
// in it. Ports, memory and sockets are made at start and cannot change.
var reloads = map[string]func(path string) bool{
	"node": never, "dpdk": never, "port": never, "link": never, "tap": never,
	"int": always, "node_model": always, "watch": always, "events": always, "log": always, "http": always,
	"overload": always, "bypass": always,
	"report":    func(path string) bool { return path != "report.coalesce.max_bytes" },
	"collector": always, // but for those by some ports: see byOtherPort
	"flows":     func(path string) bool { return path == "flows.idle_timeout" },
}

func never(string) bool  { return false }
func always(string) bool { return true }

// NeedsRestart are those of changes, from old to now, that cannot be made while the appliance
// runs. ports are those by which reports leave since its start: collectors may come and go
// there, since workers know their queues.
func NeedsRestart(changes []conf.Change, old, now *conf.Config, ports []string) []conf.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c conf.Change) bool {
		reload := reloads[c.Block()]
		return reload != nil && reload(c.Path) && !byOtherPort(c.Path, old, ports) && !byOtherPort(c.Path, now, ports)
	})
}

// byOtherPort tells whether path is a collector of c, or in one, to which the reports leave by
// a port of DPDK that is not among ports.
func byOtherPort(path string, c *conf.Config, ports []string) bool {
	return slices.ContainsFunc(c.Collectors, func(col conf.Collector) bool {
		block := "collector " + schema.Quote(col.Name)
		return col.Port != "" && !slices.Contains(ports, col.Port) && (path == block || strings.HasPrefix(path, block+"."))
	})
}
