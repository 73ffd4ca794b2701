// Opens and starts every port of the configuration, with DPDK or on a kernel interface.

package appliance

import (
	"fmt"
	"log/slog"
	"time"

	"intsink/conf"
	"intsink/dpdk/afpacket"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/iface"
	"intsink/dpdk/mempool"
)

type appliancePort struct {
	name   string
	device device
	beside bool // no link has it: it is for reports, for a tap, or for both
	link   linkState
}

// queue is what worker w has of the port.
func (p *appliancePort) queue(w int) queue { return p.device.queue(w) }

// openPorts opens, configures and starts every port of the configuration. One whose device is not there
// stops its link and no other; beside the links, it is opened later. What the configuration has wrong is an error.
func (a *Appliance) openPorts(c *conf.Config) (stop func(), err error) {
	stop = func() {
		a.giveTurn(c)
		for _, p := range a.ports { // all, before any is closed: see eal.SettleInterrupts
			p.device.stop()
		}
		for _, p := range a.ports {
			p.device.close()
		}
	}
	again := 0 // a link that comes up without the others is worth a wait
	if len(c.Links)+len(c.Taps) > 1 {
		again = absentTries
	}
	for i := range c.Ports {
		p := &c.Ports[i]
		beside := !inLink(c, p.Name)
		d, err := a.openPort(c, p)
		for ; isAbsent(p, err) && again > 0 && !beside; again-- {
			time.Sleep(absentPause)
			d, err = a.openPort(c, p)
		}
		switch {
		case isAbsent(p, err):
			d = emptySlot(p, len(c.DPDK.Lcores), err)
			if beside {
				a.degraded.Set("port", p.Name, err)
			}
		case err != nil:
			return stop, fmt.Errorf("port %q: %w", p.Name, err)
		default:
			slog.Info("port: open", portAttrs(p, d)...)
			if p.IsPCI() { // others are not taken out
				s := newSlot(p, len(c.DPDK.Lcores))
				s.fill(d)
				d = s
			}
		}
		a.ports = append(a.ports, &appliancePort{name: p.Name, device: d, beside: beside})
	}
	for _, s := range narrowLinks(c) {
		slog.Warn(s)
	}
	return stop, a.stopHalfLinks(c)
}

// portAttrs are what the log says of a port that has been opened.
func portAttrs(p *conf.Port, d device) []any {
	attrs := []any{"port", p.Name, "device", p.Device, "driver", d.driver()}
	if mac, err := d.mac(); err == nil {
		attrs = append(attrs, "mac", mac.String())
	}
	return append(attrs, "queues", d.queues())
}

func (a *Appliance) openPort(c *conf.Config, p *conf.Port) (device, error) {
	if k, ok := p.Kernel(); ok {
		port, err := afpacket.Open(afpacket.Config{
			Interface: k.Interface, Queues: len(c.DPDK.Lcores), Receivers: len(c.DPDK.Lcores), Frames: k.Frames, MTU: int(p.MTU), Pool: a.pool,
		})
		if err != nil {
			return nil, err
		}
		for _, s := range alsoKernels(k.Interface) {
			slog.Warn(s, "port", p.Name)
		}
		return kernelDevice{port, len(c.DPDK.Lcores)}, nil
	}
	return a.openDPDK(c, p)
}

// openDPDK opens a port of DPDK. What it opened before an error is closed again.
func (a *Appliance) openDPDK(c *conf.Config, p *conf.Port) (_ device, err error) {
	d := &dpdkDevice{unlock: func() {}}
	if name := p.Interface(); name != "" && !madeByDriver(p.Device) {
		if d.unlock, err = iface.Lock(name); err != nil {
			return nil, err
		}
		if err = d.follow(name); err != nil {
			d.unlock()
			return nil, err
		}
		for _, s := range append(alsoKernels(name), joinedFrames(name)...) {
			slog.Warn(s, "port", p.Name)
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
	if err = a.startDevice(c, p, d); err != nil {
		d.Port.Close()
		return fail(err)
	}
	d.open()
	return d, nil
}

func (a *Appliance) startDevice(c *conf.Config, p *conf.Port, d *dpdkDevice) error {
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
		SymmetricRSS: d.queued > 1, Pools: []*mempool.Mempool{a.pool},
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

func (a *Appliance) port(name string) *appliancePort {
	for _, p := range a.ports {
		if p.name == name {
			return p
		}
	}
	return nil // conf has checked that every name exists
}
