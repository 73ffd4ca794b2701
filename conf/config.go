// Config: the whole configuration: all blocks, their schema, defaults and checks in order;
// Dump, and without secrets.

package conf

import (
	"slices"
	"strings"

	"intsink/conf/schema"
)

// Config is the whole configuration, defaults filled in and validated.
// It is never changed after Load returned it; any goroutine may read it.
type Config struct {
	Node       Node
	DPDK       DPDK
	Ports      []Port
	Links      []Link
	Taps       []Tap
	INT        INT
	NodeModels []NodeModel
	Names      Names
	Flows      Flows
	Recorder   Recorder
	Watches    []Watch
	Events     Events
	Report     Report
	Collectors []Collector
	Overload   Overload
	Bypass     Bypass
	HTTP       HTTP
	Notify     []Notify
	Log        Log
}

// INTs are all blocks int: that of the whole file, then those of links and taps.
func (c *Config) INTs() []*INT {
	all := []*INT{&c.INT}
	for i := range c.Links {
		if own := c.Links[i].INT; own != nil {
			all = append(all, own)
		}
	}
	for i := range c.Taps {
		if own := c.Taps[i].INT; own != nil {
			all = append(all, own)
		}
	}
	return all
}

// Dump is the configuration as HCL, every attribute written out: Parse of it
// gives an equal Config. Host names of collectors come out as the addresses that
// they were resolved to.
func (c *Config) Dump() []byte {
	return schema.Dump(func(v schema.Visitor) { visitConfig(v, c) })
}

// hidden takes the place of a secret value in what readers get.
const hidden = "hidden"

// DumpWithoutSecrets is Dump for people who may read but not write: it leaves out the hashes of
// tokens, since they would allow to try guesses, and the addresses of notify, which who has them can write to.
func (c *Config) DumpWithoutSecrets() []byte {
	shown := *c
	shown.HTTP.Tokens = slices.Clone(c.HTTP.Tokens)
	for i := range shown.HTTP.Tokens {
		shown.HTTP.Tokens[i].SHA256 = hidden
	}
	shown.Notify = slices.Clone(c.Notify)
	for i := range shown.Notify {
		shown.Notify[i].URL = hidden
	}
	return shown.Dump()
}

// secret reports whether the attribute at path is kept from readers.
func secret(path string) bool {
	return strings.HasPrefix(path, `http.token "`) && strings.HasSuffix(path, `".sha256`) ||
		strings.HasPrefix(path, `notify "`) && strings.HasSuffix(path, `".url`)
}

// defaultConfig is the configuration of an empty file: what is missing from it
// to run are ports, a link, a marking of INT, a watch and a collector. dpdk.lcores
// depends on the machine: see defaultLcores.
func defaultConfig() *Config {
	return &Config{
		DPDK:     defaultDPDK(),
		INT:      defaultINT(),
		Flows:    defaultFlows(),
		Recorder: Recorder{Memory: 64 << 20},
		Events:   defaultEvents(DataCenter),
		Report:   defaultReport(),
		Overload: defaultOverload(),
		Bypass:   defaultBypass(),
		HTTP:     defaultHTTP(),
		Log:      Log{Format: AutoLog, Level: InfoLog},
	}
}

// visitConfig is the schema of the whole file. events comes before watch, since
// events_override starts from it.
func visitConfig(v schema.Visitor, c *Config) {
	v.Block("node", &c.Node, func(v schema.Visitor) { visitNode(v, &c.Node) })
	v.Block("dpdk", &c.DPDK, func(v schema.Visitor) { visitDPDK(v, &c.DPDK) })
	v.Blocks("port", schema.Slice(&c.Ports, defaultPort, func(p *Port) *string { return &p.Name }, visitPort))
	v.Blocks("link", schema.Slice(&c.Links, schema.Zero[Link], func(l *Link) *string { return &l.Name }, visitLink))
	v.Blocks("tap", schema.Slice(&c.Taps, schema.Zero[Tap], func(t *Tap) *string { return &t.Name }, visitTap))
	v.Block("int", &c.INT, func(v schema.Visitor) { visitINT(v, &c.INT, false) })
	v.Blocks("node_model", NodeModelBlocks(&c.NodeModels))
	v.Block("names", &c.Names, func(v schema.Visitor) { VisitNames(v, &c.Names) })
	v.Block("flows", &c.Flows, func(v schema.Visitor) { visitFlows(v, &c.Flows) })
	v.Block("recorder", &c.Recorder, func(v schema.Visitor) { visitRecorder(v, &c.Recorder) })
	v.Block("events", &c.Events, func(v schema.Visitor) { visitEvents(v, &c.Events) })
	v.Blocks("watch", schema.Slice(&c.Watches, defaultWatch, func(w *Watch) *string { return &w.Name }, func(v schema.Visitor, w *Watch) {
		visitWatch(v, w, &c.Events)
	}))
	v.Block("report", &c.Report, func(v schema.Visitor) { visitReport(v, &c.Report) })
	v.Blocks("collector", schema.Slice(&c.Collectors, defaultCollector, func(c *Collector) *string { return &c.Name }, visitCollector))
	v.Block("overload", &c.Overload, func(v schema.Visitor) { visitOverload(v, &c.Overload) })
	v.Block("bypass", &c.Bypass, func(v schema.Visitor) { visitBypass(v, &c.Bypass) })
	v.Block("http", &c.HTTP, func(v schema.Visitor) { visitHTTP(v, &c.HTTP) })
	v.Blocks("notify", schema.Slice(&c.Notify, defaultNotify, func(n *Notify) *string { return &n.Name }, visitNotify))
	v.Block("log", &c.Log, func(v schema.Visitor) { visitLog(v, &c.Log) })
}

// check makes the checks that take more than one attribute of a file.
func (d checker) check(c *Config, m machine) {
	d.checkLcores(&c.DPDK, &c.Node, m)
	d.checkPorts(c.Ports)
	d.checkLinks(c)
	d.checkMbufs(&c.DPDK, c.Ports)
	d.checkRecorder(&c.Recorder)
	d.checkMemory(c, m)
	d.checkINTs(c)
	d.checkNodeModels(c)
	d.checkEvents(&c.Events, nil, "events")
	d.checkWatches(c)
	d.checkReport(c)
	d.checkProfile(c)
	d.checkCollectors(c)
	d.checkOverload(&c.Overload, &c.DPDK, &c.Bypass)
	d.checkBypass(&c.Bypass)
	d.checkHTTP(&c.HTTP)
	d.checkNotify(c.Notify)
}

// fillIn makes explicit what an omitted list, source port or gateway stands for.
func fillIn(c *Config) {
	for i := range c.Collectors {
		col := &c.Collectors[i]
		if c.Report.Profile == TransparentSecurity && col.SourcePortMode == AnySourcePort {
			col.SourcePort, col.SourcePortMode = 0, FixedSourcePort
		}
		col.fillGateway()
	}
	for i := range c.Watches {
		w := &c.Watches[i]
		if w.Events == nil {
			w.Events = w.defaultEvents(c)
		}
		if w.Collectors == nil {
			for _, col := range c.Collectors {
				w.Collectors = append(w.Collectors, col.Name)
			}
		}
	}
}
