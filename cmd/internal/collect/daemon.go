// daemon: starts a collector with spool, outputs and HTTP server; reloads, stops, tells
// whether it is ready.

package collect

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"intsink/cmd/internal/notify"
	"intsink/conf/collector"
	"intsink/exporters/collect"
	"intsink/exporters/collect/aggregate"
	"intsink/exporters/collect/spool"
	"intsink/exporters/record"
)

// daemon is a running collector with its spool and HTTP server.
type daemon struct {
	changing  sync.Mutex // held during a reload or stop; guards the next three
	c         *collector.Config
	outputs   []spec
	decoder   record.Options
	series    int
	version   string
	log       *slog.Logger
	limited   *collect.Log
	spool     *spool.Spool // nil: none
	collector *collect.Collector
	set       *aggregate.Set
	stopHTTP  func()
	notifier  *notify.Notifier
	stopTold  func() // tells systemd that the end begins
	stopping  atomic.Bool
	reloads   [2]atomic.Uint64 // refused, adopted
	reloaded  atomic.Int64     // Unix seconds of the configuration in force
}

// start starts everything, or nothing and says why.
func start(c *collector.Config, version string) (*daemon, error) {
	d := &daemon{c: c, series: c.HTTP.Series, version: version, log: logOf(c), set: aggregate.New(c.HTTP.Series)}
	d.limited = collect.NewLog(d.log)
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
	d.decoder, d.outputs = decoder, specs(c)
	for _, s := range d.outputs {
		out, err := s.make(d.limited)
		if err == nil {
			err = openAtStart(out)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", s.name, err), closeAll(o.Outputs))
		}
		o.Outputs = append(o.Outputs, collect.NamedOutput{Name: s.name, Output: out})
	}
	for i := range c.Listens {
		l := &c.Listens[i]
		o.Listens = append(o.Listens, collect.Listen{
			Name: l.Name, Address: l.Address, Sockets: l.Sockets, Buffer: int(l.ReceiveBuffer), Allow: l.Allow, Limit: l.ExporterLimit, Streams: l.Streams, Share: l.Share,
		})
	}
	if s := c.Spool; s != nil {
		if d.spool, err = spool.Open(spool.Options{Directory: s.Directory, Size: s.Size, Memory: queue, Log: d.limited.Say}); err != nil {
			return nil, errors.Join(err, closeAll(o.Outputs))
		}
		o.Spool, o.Replay, o.State = d.spool, s.Replay, filepath.Join(s.Directory, "streams.json")
	}
	if d.collector, err = collect.Start(o); err != nil {
		return nil, errors.Join(err, closeAll(o.Outputs), d.closeSpool())
	}
	d.reloaded.Store(time.Now().Unix())
	if d.stopHTTP, err = d.serve(c.HTTP.Listen, c.HTTP.Hosts); err != nil {
		return nil, errors.Join(err, d.collector.Stop(), d.closeSpool())
	}
	d.running()
	d.stopTold = d.notifySystemd()
	return d, nil
}

// openAtStart opens an output that can tell at once that another process has its place.
func openAtStart(o collect.Output) error {
	if early, ok := o.(interface{ Open() error }); ok {
		return early.Open()
	}
	return nil
}

func closeAll(outputs []collect.NamedOutput) (err error) {
	for _, o := range outputs {
		if o.Output != nil {
			err = errors.Join(err, o.Close())
		}
	}
	return err
}

// running logs that the daemon runs, with its version, addresses and number of outputs, and warns
// of receive buffers that the kernel made smaller than asked.
func (d *daemon) running() {
	var addresses []string
	for i, l := range d.collector.Snapshot().Listens {
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
	for i := range d.outputs {
		old[d.outputs[i].name] = &d.outputs[i]
	}
	fitMemory(c, groupLimit(), d.log) // the log keeps its size
	var outputs []collect.NamedOutput
	all := specs(c)
	for _, s := range all {
		o := collect.NamedOutput{Name: s.name}
		if !s.same(old[s.name]) {
			if o.Output, err = s.make(d.limited); err != nil {
				return errors.Join(fmt.Errorf("%s: %w", s.name, err), closeAll(outputs))
			}
		}
		outputs = append(outputs, o)
	}
	d.collector.SetOutputs(outputs)
	for i := range c.Listens {
		d.collector.SetAllow(c.Listens[i].Name, c.Listens[i].Allow)
	}
	d.c, d.outputs = c, all
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
	case !reflect.DeepEqual(old.HTTP, c.HTTP):
		return "http"
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
	return errors.Join(err, d.closeSpool())
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
	for _, o := range d.collector.Snapshot().Outputs {
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
	if used, size := d.spool.Usage(); float64(used) > full*float64(size) {
		return fmt.Errorf("%s; the spool has %d of %d bytes", why, used, size)
	}
	return nil
}
