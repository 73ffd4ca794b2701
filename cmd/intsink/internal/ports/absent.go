// A port whose device is not there at start: it stops its link, and not the others.

package ports

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"intsink/conf"
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

// absent is why the port was not opened; nil: it was.
func (p *Port) absent() error {
	if s, ok := p.device.(*slot); ok && s.empty() {
		return errors.New(*s.why.Load())
	}
	return nil
}

// stopHalfLinks closes the port across from one that is absent, so that whoever is connected there sees
// that the link is down, unless reports leave by it. It fails where no link and no tap is left.
func (s *Ports) stopHalfLinks(c *conf.Config) error {
	var first error
	for _, p := range s.all {
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
		network, host := s.Named(l.Network), s.Named(l.Host)
		switch {
		case network.absent() == nil && host.absent() == nil:
			whole++
		case network.absent() == nil:
			s.stopHalf(c, network, host, l.Name)
		case host.absent() == nil:
			s.stopHalf(c, host, network, l.Name)
		}
	}
	for _, t := range c.Taps {
		if s.Named(t.Port).absent() == nil {
			whole++
		}
	}
	if whole == 0 {
		return first
	}
	return nil
}

func (s *Ports) stopHalf(c *conf.Config, p, other *Port, link string) {
	for i := range c.Collectors {
		if c.Collectors[i].Port == p.name {
			return
		}
	}
	p.device.stop()
	p.device.close()
	at := slices.IndexFunc(c.Ports, func(x conf.Port) bool { return x.Name == p.name })
	empty := newSlot(&c.Ports[at], len(c.DPDK.Lcores))
	empty.waitFor(link, other.name)
	p.device = empty
	slog.Warn("port: closed, as the other port of its link is not there", "port", p.name, "link", link)
}
