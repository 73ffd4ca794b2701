// absentDevice: a port whose device is not there at start. It stops its link, and not the others.

package appliance

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"intsink/cmd/intsink/internal/observe"
	"intsink/conf"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/iface"
)

// A start tries for two seconds in all to have devices that are not there: a NIC may be bound, and an
// interface be made, while the machine boots.
var absentTries, absentPause = 20, 100 * time.Millisecond

// attachError is that DPDK cannot have a device.
type attachError struct{ error }

// Unwrap returns the error of DPDK.
func (e attachError) Unwrap() error { return e.error }

// isAbsent tells errors of what a port stands on, which is not there or which another process has, from
// those of the configuration.
func isAbsent(p *conf.Port, err error) bool {
	var taken *iface.TakenError
	var attach attachError
	return errors.Is(err, iface.ErrGone) || errors.As(err, &taken) || p.IsPCI() && errors.As(err, &attach)
}

// absentDevice has no packets, and refuses what is sent as a link that is down does.
type absentDevice struct{ why error }

func (d *absentDevice) linkDown() string {
	return fmt.Sprintf("not opened at the start: %v; when that is mended: restart the sink", d.why)
}
func (d *absentDevice) queue(int) queue {
	q, err := ethdev.Absent()
	if err != nil {
		panic(err) // a few bytes at start
	}
	return q
}

// mac is one of those that no NIC has: ports for reports want one.
func (d *absentDevice) mac() (net.HardwareAddr, error) {
	return net.HardwareAddr{2, 0, 0, 0, 0, 0}, nil
}
func (d *absentDevice) queues() int                             { return 0 }
func (d *absentDevice) driver() string                          { return "none" }
func (d *absentDevice) counters() (observe.PortCounters, error) { return observe.PortCounters{}, nil }
func (d *absentDevice) look()                                   {}
func (d *absentDevice) impaired() string                        { return "" }
func (d *absentDevice) linkSpeed() int                          { return 0 }
func (d *absentDevice) flaps() uint64                           { return 0 }
func (d *absentDevice) stop()                                   {}
func (d *absentDevice) close()                                  {}

// absent is why the port was not opened; nil: it was.
func (p *appliancePort) absent() error {
	if d, ok := p.device.(*absentDevice); ok {
		return d.why
	}
	return nil
}

// stopHalfLinks closes the port across from one that is absent, so that whoever is connected there sees
// that the link is down, unless reports leave by it. It fails where no link and no tap is left.
func (a *Appliance) stopHalfLinks(c *conf.Config) error {
	var first error
	for _, p := range a.ports {
		if why := p.absent(); why != nil {
			slog.Error("port: not opened; its link is stopped, others go on", "port", p.name, "err", why)
			if first == nil {
				first = fmt.Errorf("port %q: %w", p.name, why)
			}
		}
	}
	if first == nil {
		return nil
	}
	whole := 0
	for _, l := range c.Links {
		network, host := a.port(l.Network), a.port(l.Host)
		switch {
		case network.absent() == nil && host.absent() == nil:
			whole++
		case network.absent() == nil:
			a.stopHalf(c, network, host, l.Name)
		case host.absent() == nil:
			a.stopHalf(c, host, network, l.Name)
		}
	}
	for _, t := range c.Taps {
		if a.port(t.Port).absent() == nil {
			whole++
		}
	}
	if whole == 0 {
		return first
	}
	return nil
}

func (a *Appliance) stopHalf(c *conf.Config, p, other *appliancePort, link string) {
	for i := range c.Collectors {
		if c.Collectors[i].Port == p.name {
			return
		}
	}
	p.device.stop()
	p.device.close()
	p.device = &absentDevice{fmt.Errorf("link %q is stopped, as port %q is not there", link, other.name)}
	slog.Warn("port: closed, as the other port of its link is not there", "port", p.name, "link", link)
}
