// lateDevice: a port beside the links, for reports or a tap only, whose device is not there at the start. It is opened
// once it is there; until then the links go on without it.

package appliance

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/intsink/internal/observe"
	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/exporters/port"
)

// lateDevice is a device that comes later, or never.
type lateDevice struct {
	conf  *conf.Port
	all   []*lateQueue // one per worker
	inner atomic.Pointer[device]
	why   atomic.Pointer[string] // the device is not there
	tried string                 // what the device looked like when DPDK would not have it; only the retrier uses it
}

// newLate makes the device of port p for so many workers; it is not there because of err.
func newLate(p *conf.Port, workers int, err error) *lateDevice {
	d := &lateDevice{conf: p, tried: deviceDriver(p)}
	for range workers {
		d.all = append(d.all, &lateQueue{})
	}
	d.failed(err)
	return d
}

func (d *lateDevice) failed(err error) {
	why := err.Error()
	d.why.Store(&why)
}

// found makes the device that is there now the port's.
func (d *lateDevice) found(now device) {
	for w, q := range d.all {
		inner := now.queue(w)
		q.inner.Store(&inner)
	}
	d.inner.Store(&now)
}

// worthATry tells whether another attempt may end otherwise than the last one: DPDK logs each that fails, and a NIC has to
// be given to it before.
func (d *lateDevice) worthATry() bool {
	if !d.conf.IsPCI() {
		return true
	}
	was := d.tried
	d.tried = deviceDriver(d.conf)
	return d.tried != was
}

// deviceDriver is the kernel's driver of a PCI device, "" where there is none.
func deviceDriver(p *conf.Port) string {
	to, _ := os.Readlink(filepath.Join("/sys/bus/pci/devices", p.Device, "driver"))
	return filepath.Base(to)
}

// device is the one that is there; absentDevice where none is.
func (d *lateDevice) device() device {
	if inner := d.inner.Load(); inner != nil {
		return *inner
	}
	return &absentDevice{why: errors.New(*d.why.Load())}
}

func (d *lateDevice) linkDown() string {
	if d.inner.Load() == nil {
		return *d.why.Load() + "; tried again each second"
	}
	return d.device().linkDown()
}

func (d *lateDevice) queue(w int) queue                       { return d.all[w] }
func (d *lateDevice) queues() int                             { return d.device().queues() }
func (d *lateDevice) mac() (net.HardwareAddr, error)          { return d.device().mac() }
func (d *lateDevice) driver() string                          { return d.device().driver() }
func (d *lateDevice) counters() (observe.PortCounters, error) { return d.device().counters() }
func (d *lateDevice) look()                                   { d.device().look() }
func (d *lateDevice) impaired() string                        { return d.device().impaired() }
func (d *lateDevice) linkSpeed() int                          { return d.device().linkSpeed() }
func (d *lateDevice) flaps() uint64                           { return d.device().flaps() }
func (d *lateDevice) stop()                                   { d.device().stop() }
func (d *lateDevice) close()                                  { d.device().close() }

// lateQueue is a queue of a lateDevice: as of a link that is down until the device is there.
type lateQueue struct{ inner atomic.Pointer[queue] }

// RxBurst implements burst.Queue.
func (q *lateQueue) RxBurst(v *mbuf.Vec) int {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).RxBurst(v)
	}
	return 0
}

// TxBurst implements burst.Queue.
func (q *lateQueue) TxBurst(v *mbuf.Vec, n int) int {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).TxBurst(v, n)
	}
	return 0
}

// Exchange implements burst.Queue.
func (q *lateQueue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).Exchange(tx, n, rx)
	}
	return 0, 0
}

// Refusal implements burst.Refuser.
func (q *lateQueue) Refusal() mbuf.Refusal {
	inner := q.inner.Load()
	if inner == nil {
		return mbuf.RefusedDown
	}
	if r, ok := (*inner).(burst.Refuser); ok {
		return r.Refusal()
	}
	return mbuf.RefusedFull
}

// Depth is 0 while nothing can wait.
func (q *lateQueue) Depth() int {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).Depth()
	}
	return 0
}

// startLate begins to try those ports again that are beside the links and were not there.
func (a *Appliance) startLate(*conf.Config) (stop func(), err error) {
	for _, p := range a.ports {
		if _, ok := p.device.(*lateDevice); ok {
			return degraded.Retry(degraded.Tick(), a.openLate).Stop, nil
		}
	}
	return nil, nil
}

// openLate opens what is there by now.
func (a *Appliance) openLate() {
	a.opening.Lock()
	defer a.opening.Unlock()
	for _, p := range a.ports {
		d, ok := p.device.(*lateDevice)
		if !ok || d.inner.Load() != nil || a.stopping.Load() || !d.worthATry() {
			continue
		}
		now, err := a.openPort(a.config.Load(), d.conf)
		if err != nil {
			d.failed(err)
			continue
		}
		d.found(now)
		slog.Info("port: open, it was not there before", portAttrs(d.conf, now)...)
		if mac, err := now.mac(); err == nil {
			a.readdress(p.name, port.MAC(mac))
		}
	}
}

// readdress lets the exporters of reports that leave by a port begin anew, with its MAC address.
func (a *Appliance) readdress(name string, mac port.MAC) {
	a.inForce.Lock()
	defer a.inForce.Unlock()
	for _, p := range a.exporters.ports.ports {
		p.AlsoSink(mac)
	}
	own := a.exporters.ports.named(name)
	if own == nil || a.stopping.Load() {
		return
	}
	own.SetMAC(mac)
	c := a.config.Load()
	a.collectAnew(c, slices.DeleteFunc(slices.Clone(*a.exporters.collectors.Load()), func(c *collector) bool { return c.conf.Port == name }))
	a.handOver(c)
}

// tellBeside takes down which ports beside the links are not there, or have no link.
func (a *Appliance) tellBeside() {
	for _, p := range a.ports {
		if !p.beside {
			continue
		}
		var err error
		if down := p.link.down.Load(); down != nil && *down != "" {
			err = errors.New(*down)
		}
		a.degraded.Set("port", p.name, err)
	}
}
