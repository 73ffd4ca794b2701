// slot: a port whose device comes and goes while the sink runs: a NIC that is bound or put in later, or taken out;
// an interface that is made later. The packet path goes on without it.

package ports

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"intsink/cmd/intsink/internal/vitals"
	"intsink/conf"
	"intsink/dpdk/vfio"
	"intsink/engine/metric"
)

// slot is a port that has a device, or has none.
type slot struct {
	conf  *conf.Port
	all   []slotQueue // one per worker
	inner atomic.Pointer[device]
	why   atomic.Pointer[string] // the slot is empty

	mu     sync.Mutex          // held while a device goes
	before vitals.PortCounters // of devices that are gone
	// Of a slot that is empty, for tend only:
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

func (s *slot) queue(w int) Queue              { return s.all[w] }
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
