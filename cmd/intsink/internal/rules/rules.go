// Of: makes engine.Rules of a configuration; NeedsRestart: what a reload cannot change;
// settings of workers: port ids, hw_id, flow table, report room.

package rules

import (
	"math"
	"slices"
	"strings"

	"intsink/cmd/internal/sinkconf"
	"intsink/conf"
	"intsink/conf/schema"
	"intsink/engine"
	"intsink/engine/stage/tonetwork"
	"intsink/exporters/port"
	"intsink/flows"
)

// Of turns the configuration into what the workers read per packet.
func Of(c *conf.Config) *engine.Rules {
	r := &engine.Rules{
		INT:           sinkconf.INT(&c.INT),
		DropMalformed: c.INT.Malformed == conf.DropMalformed,
		Leak:          leaks[c.INT.Leak],
		LeakMark:      leakMarks[c.INT.LeakMark],
		Verify:        c.INT.Verify,
		Own:           ownINT(c),
		Devices:       deviceFields(c),
		DropInterval:  int64(c.Events.Drop.Interval),
		Report:        reportRules(c),
		Collectors:    collectors(c),
		NodeModels:    sinkconf.NodeModels(c.NodeModels),
		IdleTimeout:   int64(c.Flows.IdleTimeout),
		InnerKeys:     c.Flows.Key == conf.InnerKey,
	}
	names := CollectorNames(c)
	for i := range c.Watches {
		w := &c.Watches[i]
		watch := watchOf(c, w, names)
		watch.Policy = policyOf(w, &c.Events)
		r.Watches = append(r.Watches, watch)
	}
	return r
}

// ownINT are the rules of INT of links and taps that have their own, in the order of a worker's links; nil: none has.
func ownINT(c *conf.Config) []*engine.INTRules {
	var all []*engine.INTRules
	add := func(x *conf.INT) {
		if x == nil {
			all = append(all, nil)
			return
		}
		all = append(all, &engine.INTRules{
			INT: sinkconf.INT(x), DropMalformed: x.Malformed == conf.DropMalformed, Leak: leaks[x.Leak], LeakMark: leakMarks[x.LeakMark],
		})
	}
	if len(c.INTs()) == 1 {
		return nil
	}
	for i := range c.Links {
		add(c.Links[i].INT)
	}
	for i := range c.Taps {
		add(c.Taps[i].INT)
	}
	return all
}

var (
	leaks     = map[conf.LeakPolicy]tonetwork.LeakPolicy{conf.ForwardLeaks: tonetwork.ForwardLeaks, conf.StripLeaks: tonetwork.StripLeaks, conf.DropLeaks: tonetwork.DropLeaks}
	leakMarks = map[conf.MarkPolicy]tonetwork.MarkPolicy{conf.ClearMarks: tonetwork.ClearMarks, conf.DropMarks: tonetwork.DropMarks, conf.ForwardMarks: tonetwork.ForwardMarks}
)

// CollectorNames are the names of the collectors, as watches and reports index them.
func CollectorNames(c *conf.Config) []string {
	names := make([]string, len(c.Collectors))
	for i := range c.Collectors {
		names[i] = c.Collectors[i].Name
	}
	return names
}

// reloads has a function for each block of the file: whether a reload can change the attribute at
// a path in that block. Ports, memory and sockets are made at start and cannot change.
var reloads = map[string]func(path string) bool{
	"node": never, "dpdk": never, "port": never, "link": itsINT, "tap": itsINT,
	"recorder": never, "int": always, "node_model": always, "watch": always, "events": always, "log": always, "http": always, "notify": always,
	"overload": always, "bypass": always,
	"report":    func(path string) bool { return path != "report.coalesce.max_bytes" },
	"collector": always, // but for those by some ports: see byOtherPort
	"flows":     func(path string) bool { return path != "flows.capacity" },
}

// itsINT is a change within the int block of a link or a tap.
func itsINT(path string) bool {
	_, inside, _ := strings.Cut(path, "\".")
	return inside == "int" || strings.HasPrefix(inside, "int.")
}

func never(string) bool  { return false }
func always(string) bool { return true }

// NeedsRestart returns the changes, from old to now, that cannot be made while the appliance
// runs. ports are those that reports have left by since the start: workers have queues of them,
// so that collectors behind them may come and go.
func NeedsRestart(changes []conf.Change, old, now *conf.Config, ports []string) []conf.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c conf.Change) bool {
		reload := reloads[c.Block()]
		return reload != nil && reload(c.Path) && !byOtherPort(c.Path, old, ports) && !byOtherPort(c.Path, now, ports)
	})
}

// byOtherPort reports whether path is a collector of c or an attribute of one, and the reports to
// that collector leave by a DPDK port that is not in ports.
func byOtherPort(path string, c *conf.Config, ports []string) bool {
	return slices.ContainsFunc(c.Collectors, func(col conf.Collector) bool {
		block := "collector " + schema.Quote(col.Name)
		return col.Port != "" && !slices.Contains(ports, col.Port) && (path == block || strings.HasPrefix(path, block+"."))
	})
}

// PortID is the interface id of a port in the sink's own metadata.
func PortID(c *conf.Config, name string) uint16 {
	for i := range c.Ports {
		if c.Ports[i].Name == name {
			return c.Ports[i].ID
		}
	}
	return 0
}

// Flows is the flow table of one worker; seed keys its hash.
func Flows(c *conf.Config, seed uint64) flows.Config {
	return flows.Config{Capacity: c.Flows.Capacity, Seed: seed, IdleTimeout: int64(c.Flows.IdleTimeout)}
}

// HwID is the hw_id of worker w: 6 bits.
func HwID(c *conf.Config, w int) uint8 {
	return uint8(min(int(c.Node.HwIDBase)+w, math.MaxUint8)) & 0x3f
}

// ReportRoom is the buffer of one report packet: headroom for its headers, the
// handoff, and the largest payload.
func ReportRoom(c *conf.Config) int {
	return conf.ReportRoom + c.Report.Coalesce.MaxBytes
}

// PortSource is how the UDP source port of report packets to col is chosen.
func PortSource(col *conf.Collector) port.SourcePort {
	return port.SourcePort{Hash: col.SourcePortMode == conf.HashedSourcePort, Fixed: col.SourcePortMode == conf.FixedSourcePort, Number: col.SourcePort}
}
