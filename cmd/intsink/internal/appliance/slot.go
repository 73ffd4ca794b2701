// slot: a port whose device comes and goes while the sink runs: a NIC that is bound or put in later, or taken out;
// an interface that is made later. The packet path goes on without it.

package appliance

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/intsink/internal/vitals"
	"intsink/conf"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/vfio"
	"intsink/engine/burst"
	"intsink/engine/metric"
	"intsink/exporters/port"
)

// slot is a port that has a device, or has none.
type slot struct {
	conf  *conf.Port
	all   []slotQueue // one per worker
	inner atomic.Pointer[device]
	why   atomic.Pointer[string] // the slot is empty

	mu     sync.Mutex          // held while a device goes
	before vitals.PortCounters // of devices that are gone
	// Of a slot that is empty, for tendSlots only:
	tried string // what the device looked like before the last attempt
	waits bool   // the device may be there: the slot is filled when the other port of its link is
}

// newSlot makes one for so many workers, which is to be filled, or to be told why it is not.
func newSlot(p *conf.Port, workers int) *slot {
	s := &slot{conf: p}
	_, kernel := p.Kernel()
	for range workers {
		if kernel {
			s.all = append(s.all, &kernelQueue{})
		} else {
			s.all = append(s.all, absentQueue())
		}
	}
	return s
}

// emptySlot makes one that is empty because of err.
func emptySlot(p *conf.Port, workers int, err error) *slot {
	s := newSlot(p, workers)
	s.failed(err)
	return s
}

// fill gives the slot a device, which has been started.
func (s *slot) fill(d device) {
	for w, q := range s.all {
		q.fill(d, w)
	}
	s.waits = false
	s.inner.Store(&d)
}

// failed leaves the slot empty because of err.
func (s *slot) failed(err error) {
	why := err.Error()
	s.why.Store(&why)
	s.waits = false
}

// waitFor leaves the slot empty until the other port of its link has a device.
func (s *slot) waitFor(link, other string) {
	s.failed(fmt.Errorf("link %q is stopped, as port %q is not there", link, other))
	s.waits = true
}

// empty tells that there is no device.
func (s *slot) empty() bool { return s.inner.Load() == nil }

// worthATry tells whether an attempt that follows may end otherwise than the last one: DPDK logs each that fails, and a NIC has
// to be given to it before.
func (s *slot) worthATry() bool {
	was := s.tried
	s.tried = s.looks()
	return !s.conf.IsPCI() || s.tried != was
}

// root is where sysfs and /dev are; tests have others.
var root = "/"

// looks is what there is to see of a NIC: which driver has been given it, when, and what speaks against opening it.
func (s *slot) looks() string {
	if !s.conf.IsPCI() {
		return ""
	}
	address := vfio.Address(s.conf.Device)
	driver := filepath.Join(root, "sys/bus/pci/devices", address, "driver")
	to, err := os.Readlink(driver)
	if err != nil {
		return "no driver"
	}
	var given uint64 // to a driver: the link is made anew each time
	if i, err := os.Lstat(driver); err == nil {
		given = i.Sys().(*syscall.Stat_t).Ino
	}
	return fmt.Sprint(filepath.Base(to), given, vfio.Refusal(root, address, vfio.Open))
}

// device is the one that is there; noDevice where none is.
func (s *slot) device() device {
	if d := s.inner.Load(); d != nil {
		return *d
	}
	return noDevice{}
}

func (s *slot) linkDown() string {
	if d := s.inner.Load(); d != nil { // which may go meanwhile
		return (*d).linkDown()
	}
	if s.conf.IsPCI() {
		return *s.why.Load() + "; tried again once that changes"
	}
	return *s.why.Load() + "; tried again each second"
}

func (s *slot) queue(w int) queue              { return s.all[w] }
func (s *slot) queues() int                    { return s.device().queues() }
func (s *slot) mac() (net.HardwareAddr, error) { return s.device().mac() }
func (s *slot) driver() string                 { return s.device().driver() }
func (s *slot) look()                          { s.device().look() }
func (s *slot) impaired() string               { return s.device().impaired() }
func (s *slot) linkSpeed() int                 { return s.device().linkSpeed() }
func (s *slot) flaps() uint64                  { return s.device().flaps() }
func (s *slot) stop()                          { s.device().stop() }
func (s *slot) close()                         { s.device().close() }

// counters are those of all devices that the slot has had: they never go back.
func (s *slot) counters() (vitals.PortCounters, error) {
	s.mu.Lock()
	before, d := s.before, s.device()
	s.mu.Unlock()
	c, err := d.counters()
	metric.Add(&c, &before) // but for RxUncut: a device of DPDK cuts no packets
	return c, err
}

// noDevice is what an empty slot has.
type noDevice struct{ device }

// mac is one of those that no NIC has: ports for reports want one.
func (noDevice) mac() (net.HardwareAddr, error)         { return net.HardwareAddr{2, 0, 0, 0, 0, 0}, nil }
func (noDevice) queues() int                            { return 0 }
func (noDevice) driver() string                         { return "none" }
func (noDevice) counters() (vitals.PortCounters, error) { return vitals.PortCounters{}, nil }
func (noDevice) look()                                  {}
func (noDevice) impaired() string                       { return "" }
func (noDevice) linkSpeed() int                         { return 0 }
func (noDevice) flaps() uint64                          { return 0 }
func (noDevice) stop()                                  {}
func (noDevice) close()                                 {}

// slotQueue is a queue of a slot: as of a link that is down while that is empty.
type slotQueue interface {
	queue
	fill(d device, w int) // with queue pair w
	clear()               // the burst at hand may still use the device
}

// dpdkQueue is one of a device of DPDK. Loops in C poll it whether the slot is empty or not.
type dpdkQueue struct{ *ethdev.Queue }

func absentQueue() dpdkQueue {
	q, err := ethdev.Absent()
	if err != nil {
		panic(err) // a few bytes
	}
	return dpdkQueue{q}
}

func (q dpdkQueue) fill(d device, w int) { q.Found(d.(*dpdkDevice).Port, uint16(w)) }
func (q dpdkQueue) clear()               { q.Lost() }

// Depth is 0 also where the driver cannot tell: that may be another one some day.
func (q dpdkQueue) Depth() int { return max(q.Queue.Depth(), 0) }

// kernelQueue is one of an interface of the kernel that was not there at the start.
type kernelQueue struct{ inner atomic.Pointer[queue] }

func (q *kernelQueue) fill(d device, w int) {
	inner := d.queue(w)
	q.inner.Store(&inner)
}
func (q *kernelQueue) clear() { q.inner.Store(nil) }

// RxBurst implements burst.Queue.
func (q *kernelQueue) RxBurst(v *mbuf.Vec) int {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).RxBurst(v)
	}
	return 0
}

// TxBurst implements burst.Queue.
func (q *kernelQueue) TxBurst(v *mbuf.Vec, n int) int {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).TxBurst(v, n)
	}
	return 0
}

// Exchange implements burst.Queue.
func (q *kernelQueue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).Exchange(tx, n, rx)
	}
	return 0, 0
}

// Refusal implements burst.Refuser.
func (q *kernelQueue) Refusal() mbuf.Refusal {
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
func (q *kernelQueue) Depth() int {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).Depth()
	}
	return 0
}

// together are the slots of the two ports of a link, or of a port beside the links: all are filled, or none.
type together struct {
	link  string
	slots []*slot
}

// startSlots begins to fill those slots that are empty, and to empty those whose device is to be removed.
func (a *Appliance) startSlots(c *conf.Config) (stop func(), err error) {
	for _, l := range c.Links {
		t := together{link: l.Name}
		for _, name := range []string{l.Network, l.Host} {
			if s, ok := a.port(name).device.(*slot); ok {
				t.slots = append(t.slots, s)
			}
		}
		a.together = append(a.together, t)
	}
	for _, p := range a.ports {
		if s, ok := p.device.(*slot); ok && p.beside {
			a.together = append(a.together, together{slots: []*slot{s}})
		}
	}
	return degraded.Retry(degraded.Tick(), a.tendSlots).Stop, nil
}

// tendSlots does what there is to be done now. First all devices that are to be removed are let go: the kernel holds a lock on
// such a one, which DPDK waits for when it looks for any other.
func (a *Appliance) tendSlots() {
	a.opening.Lock()
	defer a.opening.Unlock()
	for _, t := range a.together {
		for _, s := range t.slots {
			if !a.stopping.Load() && !s.letGo(a.pollsAnew) {
				return
			}
		}
	}
	for _, t := range a.together {
		if a.stopping.Load() {
			return
		}
		for _, s := range t.fill(func(p *conf.Port) (device, error) { return a.openPort(a.config.Load(), p) }) {
			d := s.device()
			slog.Info("port: open, it was not there before", portAttrs(s.conf, d)...)
			if mac, err := d.mac(); err == nil {
				a.readdress(s.conf.Name, port.MAC(mac))
			}
		}
	}
}

// removable is a device that may be taken away from its driver.
type removable interface {
	device
	// Removed tells that it has been, or is to be.
	Removed() bool
	// settle waits until nobody asks the driver anything; false: it does not answer.
	settle() bool
}

// letGo empties the slot of a device that is to be removed: who removes it waits for that. pollsAnew waits until no worker uses
// the device any more; false: one does. False: the device is still held, to be let go in a second.
func (s *slot) letGo(pollsAnew func() bool) bool {
	d, ok := s.device().(removable)
	if !ok || !d.Removed() {
		return true
	}
	for _, q := range s.all {
		q.clear()
	}
	if !pollsAnew() || !d.settle() {
		return false // who hangs may be in the driver
	}
	s.failed(errors.New("the device was taken away"))
	s.mu.Lock()
	c, _ := d.counters() // what they last were
	metric.Add(&s.before, &c)
	s.inner.Store(nil)
	s.mu.Unlock()
	d.stop()
	d.close()
	s.tried = s.looks()
	slog.Warn("port: the device is let go, as it is to be removed; it is used again when it is back", "port", s.conf.Name, "device", s.conf.Device)
	return true
}

// pollsAnew waits until each worker has ended the burst at hand; false: one does not.
func (a *Appliance) pollsAnew() bool {
	now, end := a.clock(), time.Now().Add(adoptionPatience)
	for _, w := range a.workers {
		for w.Beat() <= now {
			if time.Now().After(end) {
				return false
			}
			time.Sleep(time.Millisecond)
		}
	}
	return true
}

// fill fills slots that are empty, and returns them, if the devices of all are there by now. Where one is not, what was opened is
// closed again: who is connected there sees it, as at the start.
func (t *together) fill(open func(*conf.Port) (device, error)) (filled []*slot) {
	var waiting []*slot
	try := false
	for _, s := range t.slots {
		switch {
		case !s.empty():
		case s.waits:
			waiting = append(waiting, s)
		default:
			filled = append(filled, s)
			try = s.worthATry() || try
		}
	}
	if !try {
		return nil
	}
	filled = append(filled, waiting...)
	var opened []device
	for _, s := range filled {
		d, err := open(s.conf)
		if err != nil {
			s.failed(err)
			for i, d := range opened {
				d.stop()
				d.close()
				filled[i].waitFor(t.link, s.conf.Name)
			}
			return nil
		}
		opened = append(opened, d)
	}
	for i, s := range filled {
		s.fill(opened[i])
	}
	return filled
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
