// Fills slots whose devices have come, and empties those whose devices are to be removed.

package ports

import (
	"errors"
	"log/slog"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/conf"
	"intsink/engine"
	"intsink/exporters/port"
)

// together are the slots of the two ports of a link, or of a port beside the links: all are filled, or none.
type together struct {
	link  string
	slots []*slot
}

// Sink is whom ports come and go for.
type Sink struct {
	Config    func() *conf.Config // in force now
	Clock     func() int64        // of the workers
	Workers   []*engine.Worker
	Stopping  func() bool
	Readdress func(port string, mac port.MAC) // another device is there
}

// Tend begins to fill those slots that are empty, and to empty those whose device is to be removed.
func (s *Ports) Tend(to Sink) (stop func()) {
	c := to.Config()
	for _, l := range c.Links {
		t := together{link: l.Name}
		for _, name := range []string{l.Network, l.Host} {
			if x, ok := s.Named(name).device.(*slot); ok {
				t.slots = append(t.slots, x)
			}
		}
		s.together = append(s.together, t)
	}
	for _, p := range s.all {
		if x, ok := p.device.(*slot); ok && p.beside {
			s.together = append(s.together, together{slots: []*slot{x}})
		}
	}
	return degraded.Retry(degraded.Tick(), func() { s.tend(&to) }).Stop
}

// tend does what there is to be done now. First all devices that are to be removed are let go: the kernel holds a lock on
// such a one, which DPDK waits for when it looks for any other.
func (s *Ports) tend(to *Sink) {
	s.opening.Lock()
	defer s.opening.Unlock()
	for _, t := range s.together {
		for _, x := range t.slots {
			if !to.Stopping() && !x.letGo(to.pollsAnew) {
				return
			}
		}
	}
	for _, t := range s.together {
		if to.Stopping() {
			return
		}
		for _, x := range t.fill(func(p *conf.Port) (device, error) { return s.openPort(to.Config(), p) }) {
			d := x.device()
			slog.Info("port: open, it was not there before", portAttrs(x.conf, d)...)
			if mac, err := d.mac(); err == nil {
				to.Readdress(x.conf.Name, port.MAC(mac))
			}
		}
	}
}

// burstPatience is far more than a polling worker needs for a burst.
const burstPatience = 2 * time.Second

// pollsAnew waits until each worker has ended the burst at hand; false: one does not.
func (to *Sink) pollsAnew() bool {
	now, end := to.Clock(), time.Now().Add(burstPatience)
	for _, w := range to.Workers {
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

// tellBeside takes down which ports beside the links are not there, or have no link.
func (s *Ports) tellBeside() {
	for _, p := range s.all {
		if !p.beside {
			continue
		}
		var err error
		if down := p.link.down.Load(); down != nil && *down != "" {
			err = errors.New(*down)
		}
		s.Degraded.Set("port", p.name, err)
	}
}

// Settle waits until no device of a slot is being opened or closed; false: one hangs.
func (s *Ports) Settle(patience time.Duration) bool {
	for end := time.Now().Add(patience); !s.opening.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	s.opening.Unlock() // who takes it now sees that the sink stops
	return true
}
