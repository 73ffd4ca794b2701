package conf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// lookupFunc returns the addresses of a host name, best first.
type lookupFunc func(host string) ([]netip.Addr, error)

// lookupTimeout is how long a name may take. A collector is worth no longer
// wait at start: an address in the file needs no name server at all.
const lookupTimeout = 2 * time.Second

func thisMachine() machine {
	return machine{cpus: allowedCPUs(), memory: installedMemory(), lookup: func(host string) ([]netip.Addr, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
		defer cancel()
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}}
}

// unresolved is a collector whose address is a host name.
type unresolved struct {
	collector *Collector
	host      string
	port      uint16
	at        expr
}

// resolveCollectors looks up all host names at the same time.
func (d *decoder) resolveCollectors(lookup lookupFunc) {
	found := make([][]netip.Addr, len(d.unresolved))
	errs := make([]error, len(d.unresolved))
	var wait sync.WaitGroup
	for i := range d.unresolved {
		wait.Go(func() { found[i], errs[i] = lookup(d.unresolved[i].host) })
	}
	wait.Wait()
	for i := range d.unresolved {
		u := &d.unresolved[i]
		if errs[i] != nil || len(found[i]) == 0 {
			u.at.fail("the host name does not resolve%s; an IP address needs no resolver", because(errs[i]))
			continue
		}
		best := found[i][0].Unmap()
		for _, a := range found[i] {
			if a = a.Unmap(); u.collector.Source.IsValid() && a.Is4() == u.collector.Source.Is4() {
				best = a
				break
			}
		}
		best = best.WithZone("")
		if sendable(&u.at, best) {
			u.collector.Address, u.collector.Host = netip.AddrPortFrom(best, u.port), u.host
		}
	}
}

func because(err error) string {
	var dns *net.DNSError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &dns) && dns.IsTimeout:
		return fmt.Sprintf(" within %s", durationText(lookupTimeout))
	case errors.As(err, &dns):
		return " (" + dns.Err + ")"
	}
	return " (" + err.Error() + ")"
}
