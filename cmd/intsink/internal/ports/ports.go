// Ports: opens and starts every port of the configuration, with DPDK or on a kernel interface.

// Package ports is what a sink's packets come from and leave by: devices of DPDK and interfaces of the kernel,
// which may come and go while it runs.
//
// device.go makes both kinds of device one; slot.go is the place of a device that comes and goes, with its queues
// in slotqueue.go, and tend.go fills and empties slots. absent.go has what a start does without a device, checks.go and
// room.go what it warns of and sets. linkstate.go and gauges.go look at links and their load while the sink runs;
// nobody waits for a driver (readings.go).
package ports

import (
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/intsink/internal/vitals"
	"intsink/conf"
	"intsink/dpdk/afpacket"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/iface"
	"intsink/dpdk/mempool"
	"intsink/exporters/port"
)

// Ports are the ports of a sink, in the order of its configuration.
type Ports struct {
	Pool     *mempool.Mempool // of received packets
	Degraded *degraded.Parts

	all      []*Port
	gauges   gauges
	together []together // slots
	opening  sync.Mutex // held while devices of slots are opened and closed
}

// Port is a port of the configuration.
type Port struct {
	name   string
	device device
	beside bool // no link has it: it is for reports, for a tap, or for both
	link   linkState
}

// Queue is what worker w has of the port.
func (p *Port) Queue(w int) Queue { return p.device.queue(w) }

// MAC is the address of the device.
func (p *Port) MAC() (net.HardwareAddr, error) { return p.device.mac() }

// LinkDown describes what is wrong with the link now; empty if it is up.
func (p *Port) LinkDown() string { return p.device.linkDown() }

// LinkChanges counts how often the link came up or went down.
func (p *Port) LinkChanges() uint64 { return p.link.changes.Load() }

// Counters reads those of the device.
func (p *Port) Counters() (vitals.PortCounters, error) { return p.device.counters() }

// Named is the port that conf has checked to exist.
func (s *Ports) Named(name string) *Port {
	for _, p := range s.all {
		if p.name == name {
			return p
		}
	}
	return nil
}

// MACs are the addresses of all ports that have one.
func (s *Ports) MACs() (macs []port.MAC) {
	for _, p := range s.all {
		if mac, err := p.MAC(); err == nil {
			macs = append(macs, port.MAC(mac))
		}
	}
	return macs
}

// Observed are the ports as the endpoint shows them.
func (s *Ports) Observed(c *conf.Config) (all []vitals.Port) {
	for _, p := range s.all {
		tap := slices.ContainsFunc(c.Taps, func(t conf.Tap) bool { return t.Port == p.name })
		all = append(all, vitals.Port{Name: p.name, Device: p, Aside: p.beside && !tap})
	}
	return all
}

// Open opens, configures and starts every port of the configuration. One whose device is not there
// stops its link and no other; beside the links, it is opened later. What the configuration has wrong is an error.
func (s *Ports) Open(c *conf.Config) error {
	again := 0 // a link that comes up without the others is worth a wait
	if len(c.Links)+len(c.Taps) > 1 {
		again = absentTries
	}
	for i := range c.Ports {
		p := &c.Ports[i]
		beside := !c.InLink(p.Name)
		d, err := s.openPort(c, p)
		for ; isAbsent(p, err) && again > 0 && !beside; again-- {
			time.Sleep(absentPause)
			d, err = s.openPort(c, p)
		}
		switch {
		case isAbsent(p, err):
			d = emptySlot(p, len(c.DPDK.Lcores), err)
			if beside {
				s.Degraded.Set("port", p.Name, err)
			}
		case err != nil:
			return fmt.Errorf("port %q: %w", p.Name, err)
		default:
			slog.Info("port: open", portAttrs(p, d)...)
			if p.IsPCI() { // others are not taken out
				to := newSlot(p, len(c.DPDK.Lcores))
				to.fill(d)
				d = to
			}
		}
		s.all = append(s.all, &Port{name: p.Name, device: d, beside: beside})
	}
	for _, why := range narrowLinks(c) {
		slog.Warn(why)
	}
	return s.stopHalfLinks(c)
}

// Close stops all ports, and gives back what they have. The workers have ended.
func (s *Ports) Close() {
	for _, p := range s.all { // all, before any is closed: see eal.SettleInterrupts
		p.device.stop()
	}
	for _, p := range s.all {
		p.device.close()
	}
}

// portAttrs are what the log says of a port that has been opened.
func portAttrs(p *conf.Port, d device) []any {
	attrs := []any{"port", p.Name, "device", p.Device, "driver", d.driver()}
	if mac, err := d.mac(); err == nil {
		attrs = append(attrs, "mac", mac.String())
	}
	return append(attrs, "queues", d.queues())
}

func (s *Ports) openPort(c *conf.Config, p *conf.Port) (device, error) {
	if k, ok := p.Kernel(); ok {
		port, err := afpacket.Open(afpacket.Config{
			Interface: k.Interface, Queues: len(c.DPDK.Lcores), Receivers: len(c.DPDK.Lcores), Frames: k.Frames, MTU: int(p.MTU), Pool: s.Pool,
		})
		if err != nil {
			return nil, err
		}
		for _, why := range alsoKernels(k.Interface) {
			slog.Warn(why, "port", p.Name)
		}
		return kernelDevice{port, len(c.DPDK.Lcores)}, nil
	}
	return s.openDPDK(c, p)
}

// openDPDK opens a port of DPDK. What it opened before an error is closed again.
func (s *Ports) openDPDK(c *conf.Config, p *conf.Port) (_ device, err error) {
	d := &dpdkDevice{unlock: func() {}}
	if name := p.Interface(); name != "" && !madeByDriver(p.Device) {
		if d.unlock, err = iface.Lock(name); err != nil {
			return nil, err
		}
		if err = d.follow(name); err != nil {
			d.unlock()
			return nil, err
		}
		for _, why := range append(alsoKernels(name), joinedFrames(name)...) {
			slog.Warn(why, "port", p.Name)
		}
	}
	fail := func(err error) (device, error) {
		d.unfollow()
		d.unlock()
		return nil, err
	}
	if d.Port, err = ethdev.Attach(p.Device); err != nil {
		return fail(attachError{err})
	}
	if err = s.startDevice(c, p, d); err != nil {
		d.Port.Close()
		return fail(err)
	}
	d.open()
	return d, nil
}

func (s *Ports) startDevice(c *conf.Config, p *conf.Port, d *dpdkDevice) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	if err := fits(&info, d.follower, p, c.DPDK.MbufSize); err != nil {
		return err
	}
	d.queued = len(c.DPDK.Lcores)
	ports := ethdev.Config{
		RxQueues: uint16(d.queued), TxQueues: uint16(d.queued), RxDesc: p.RxDesc, TxDesc: p.TxDesc, MTU: p.MTU,
		SymmetricRSS: d.queued > 1, Pools: []*mempool.Mempool{s.Pool},
	}
	if err := configureWithRoom(c, p, &info, ports, d.Configure); err != nil {
		return err
	}
	if err := d.Start(); err != nil {
		return err
	}
	d.Promiscuous()
	return nil
}
