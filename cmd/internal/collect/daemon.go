// daemon: starts a collector with spool, outputs and HTTP server; reloads, stops, tells
// whether it is ready.

package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"intsink/cmd/internal/allsinks"
	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/notify"
	"intsink/conf"
	"intsink/conf/collector"
	"intsink/exporters/collect"
	"intsink/exporters/collect/aggregate"
	"intsink/exporters/collect/spool"
	"intsink/exporters/record"
)

// daemon is a running collector with its spool and HTTP server.
type daemon struct {
	changing  sync.Mutex // held while outputs change, and during a reload or stop; guards the next two
	c         *collector.Config
	began     *collector.Config // what the start had: of what only a restart changes
	decoder   record.Options
	series    int
	names     atomic.Pointer[conf.Names]
	version   string
	log       *slog.Logger
	limited   *collect.Log
	spool     *spool.Spool // nil: none
	collector *collect.Collector
	set       *aggregate.Set
	parts     *degraded.Parts
	world     *world
	sinks     *allsinks.Sinks // whose page this is; nil: of none
	dropping  dropping
	http      struct {
		sync.Mutex
		server *http.Server // nil: its address is not open
	}
	notifier *notify.Notifier
	stopTold func() // tells systemd that the end begins
	stopping atomic.Bool
	reloads  [2]atomic.Uint64 // refused, adopted
	reloaded atomic.Int64     // Unix seconds of the configuration in force
}

// start starts all that the world around allows, and tries the rest again each second; with strict, it starts all or nothing.
func start(c *collector.Config, version string, strict bool) (*daemon, error) {
	d := &daemon{c: c, began: c, series: c.HTTP.Series, version: version, log: logOf(c), set: aggregate.New(c.HTTP.Series), world: newWorld()}
	d.limited = collect.NewLog(d.log)
	d.parts = degraded.New(time.Now, func() *slog.Logger { return d.log })
	decoder, err := decoderOptions(c)
	if err != nil {
		return nil, err
	}
	o := collect.Options{
		Decoder: func() collect.Decoder { return record.NewDecoder(decoder) },
		Observe: d.set.Observer, Log: d.limited,
	}
	queue := fitMemory(c, groupLimit(), d.log)
	o.Queue, o.Recent = int(queue), int(recentOf(queue))
	d.decoder = decoder
	d.names.Store(&c.Names)
	if d.sinks, err = d.makeSinks(c.Network); err != nil {
		return nil, err
	}
	all := specs(c)
	d.world.use(all)
	for i := range all {
		o.Outputs = append(o.Outputs, d.outputAtStart(&all[i], strict))
	}
	for i := range c.Listens {
		l := &c.Listens[i]
		o.Listens = append(o.Listens, collect.Listen{
			Name: l.Name, Address: l.Address, Sockets: l.Sockets, Buffer: int(l.ReceiveBuffer), Allow: l.Allow, Limit: l.ExporterLimit, Streams: l.Streams, Share: l.Share, IPFIX: terminatorsOf(l.IPFIX),
		})
	}
	if s := c.Spool; s != nil {
		so := spool.Options{Directory: s.Directory, Size: s.Size, Memory: queue, Log: d.limited.Say}
		if d.spool, err = spool.Open(so); err != nil {
			d.spool = spool.Detached(so, err)
		}
		o.Spool, o.Replay, o.State = d.spool, s.Replay, filepath.Join(s.Directory, "streams.json")
	}
	o.Peers = peersOf(c)
	d.collector = collect.Start(o)
	d.reloaded.Store(time.Now().Unix())
	d.openHTTP()
	d.tellDegraded()
	if strict {
		if err := d.broken(); err != nil {
			d.stopping.Store(true)
			d.stopHTTP()
			return nil, errors.Join(fmt.Errorf("with --strict: %w", err), d.collector.Stop(), d.closeSpool())
		}
	}
	d.tryAgain()
	d.running()
	d.stopTold = d.notifySystemd()
	return d, nil
}

// outputAtStart makes an output, or one that stands in for it. With strict it opens its file before anything comes: otherwise the
// output does, and holds nothing up.
func (d *daemon) outputAtStart(s *spec, strict bool) collect.NamedOutput {
	out, err := d.makeOutput(s)
	if err != nil {
		return collect.NamedOutput{Name: s.name, Output: absent{s.format, err}}
	}
	if early, ok := out.(interface{ Open() error }); ok && strict {
		early.Open() // its error is told by Away
	}
	return collect.NamedOutput{Name: s.name, Output: out}
}

// running logs that the daemon runs, with its version, addresses and number of outputs, and warns
// of receive buffers that the kernel made smaller than asked.
func (d *daemon) running() {
	var addresses []string
	for i, l := range d.collector.Snapshot().Listens {
		if l.Why != nil { // it is degraded
			continue
		}
		addresses = append(addresses, d.collector.Addresses()[i].String())
		if want := d.c.Listens[i].ReceiveBuffer; int64(l.Buffer) < want {
			d.log.Warn("the kernel gives sockets less than receive_buffer; raise net.core.rmem_max with sysctl, or run with CAP_NET_ADMIN",
				"listen", l.Name, "bytes", l.Buffer, "asked", want)
		}
	}
	d.log.Info("collecting", "version", d.version, "listen", strings.Join(addresses, " "), "outputs", len(specs(d.c)), "metrics", d.c.HTTP.Listen)
}

// reload adopts the configuration at path, or keeps the old one and says why.
func (d *daemon) reload(path string) {
	d.changing.Lock()
	defer d.changing.Unlock()
	if d.stopping.Load() {
		return
	}
	defer d.tellReload()()
	if err := d.adopt(path); err != nil {
		d.reloads[0].Add(1)
		d.log.Error("reload refused, the old configuration stays", "err", err)
		return
	}
	d.reloads[1].Add(1)
	d.reloaded.Store(time.Now().Unix())
	d.log.Info("reloaded", "outputs", len(specs(d.c)))
}

func (d *daemon) adopt(path string) error {
	c, err := loadLogged(path, d.log)
	if err != nil {
		return err
	}
	if what := needsRestart(d.c, c); what != "" {
		return fmt.Errorf("a change of %s needs a restart", what)
	}
	decoder, err := decoderOptions(c)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(d.decoder, decoder) {
		return fmt.Errorf("%s: a change of int or node_model in the file of sink needs a restart", c.Sink)
	}
	old := map[string]*spec{}
	before := d.world.outputs()
	for i := range before {
		old[before[i].name] = &before[i]
	}
	fitMemory(c, groupLimit(), d.log) // the log keeps its size
	var outputs []collect.NamedOutput
	all := specs(c)
	for i := range all {
		s := &all[i]
		o := collect.NamedOutput{Name: s.name}
		if was := old[s.name]; !s.same(was) {
			if o.Output, err = d.makeOutput(s); err != nil && was == nil {
				o.Output = absent{s.format, err}
			} else if err != nil { // the one before goes on meanwhile
				o.Output = nil
			}
		}
		outputs = append(outputs, o)
	}
	d.world.use(all)
	d.collector.SetOutputs(outputs)
	d.tellDegraded()
	for i := range c.Listens {
		d.collector.SetAllow(c.Listens[i].Name, c.Listens[i].Allow)
	}
	d.c = c
	d.names.Store(&c.Names)
	return nil
}

// needsRestart names the block that a running collector cannot change; "": none.
func needsRestart(old, c *collector.Config) string {
	listens := func(c *collector.Config) (all []collector.Listen) {
		for _, l := range c.Listens {
			l.Allow = []netip.Prefix(nil)
			all = append(all, l)
		}
		return all
	}
	switch {
	case !reflect.DeepEqual(listens(old), listens(c)):
		return "listen, but for allow,"
	case !reflect.DeepEqual(old.Spool, c.Spool):
		return "spool"
	case !reflect.DeepEqual(old.Peers, c.Peers):
		return "peers"
	case !reflect.DeepEqual(old.HTTP, c.HTTP):
		return "http"
	case !reflect.DeepEqual(old.Network, c.Network):
		return "network"
	case old.Sink != c.Sink:
		return "sink"
	case !reflect.DeepEqual(old.NodeModels, c.NodeModels):
		return "node_model"
	case old.Log != c.Log:
		return "log"
	}
	return ""
}

// stop ends everything in order.
func (d *daemon) stop() error {
	d.stopping.Store(true)
	d.world.stop()
	d.changing.Lock()
	defer d.changing.Unlock()
	d.stopTold()
	err := d.collector.Stop()
	for _, o := range d.collector.Snapshot().Outputs {
		lost := uint64(0)
		for _, n := range o.Dropped {
			lost += n
		}
		d.log.Info("stopped", "output", o.Name, "delivered", o.Delivered, "dropped", lost, "in_spool", o.Waiting)
	}
	d.stopHTTP()
	if d.sinks != nil {
		d.sinks.Close()
	}
	return errors.Join(err, d.closeSpool())
}

// makeSinks are the sinks that one page is over; nil: none are configured.
func (d *daemon) makeSinks(n *collector.Network) (*allsinks.Sinks, error) {
	if n == nil {
		return nil, nil
	}
	o := allsinks.Options{
		Addresses: n.Sinks, TokenFile: n.TokenFile, Timeout: n.Timeout, Names: d.names.Load, Log: func() *slog.Logger { return d.log }, Now: time.Now,
		LookUp: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
	}
	if t := n.TLS; t != nil {
		o.TLS = &allsinks.TLS{CA: t.CA, Certificate: t.Certificate, Key: t.Key, ServerName: t.ServerName}
	}
	for i := range d.began.ClickHouses {
		h := &d.began.ClickHouses[i]
		if h.Name != n.History {
			continue
		}
		store, err := makeClickHouse(h, nil)
		if err != nil {
			return nil, fmt.Errorf("clickhouse %q, for the history: %w", h.Name, err)
		}
		o.Past = &allsinks.Past{Read: store.Read, Database: store.Database()}
	}
	return allsinks.New(o)
}

func (d *daemon) closeSpool() error {
	if d.spool == nil {
		return nil
	}
	return d.spool.Close()
}

// full is how full a spool may be while nothing takes records.
const full = 0.9

// ready: an output takes records, or has not been given any, or there is room to keep them.
func (d *daemon) ready() error {
	if d.stopping.Load() {
		return errors.New("stopping")
	}
	var away []string
	s := d.collector.Snapshot()
	if d.sinks != nil && len(s.Listens) == 0 { // a page alone
		return nil
	}
	if !slices.ContainsFunc(s.Listens, func(l collect.ListenSnapshot) bool { return l.Why == nil }) {
		return fmt.Errorf("nothing is received: %w", s.Listens[0].Why)
	}
	for _, o := range s.Outputs {
		if untried := o.Taken+o.Restored == 0; o.Takes && (o.Proved || untried) {
			return nil
		}
		away = append(away, o.Name)
	}
	why := "no output takes records: " + strings.Join(away, ", ")
	if d.spool == nil {
		return errors.New(why + "; there is no spool")
	}
	if err := d.spool.Failing(); err != nil {
		return fmt.Errorf("%s; the spool cannot be written: %w", why, err)
	}
	if d.dropping.goesOn(time.Now()) {
		return errors.New(why + "; the spool, or its disk, is full, and the oldest records are dropped")
	}
	if used, size := d.spool.Usage(); float64(used) > full*float64(size) {
		return fmt.Errorf("%s; the spool has %d of %d bytes", why, used, size)
	}
	return nil
}
