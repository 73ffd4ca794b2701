// Looks up the host names of collectors at the same time, and chooses one address of each.

package conf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"intsink/conf/schema"
)

// lookupFunc returns the addresses of a host name, best first.
type lookupFunc func(host string) ([]netip.Addr, error)

// lookupTimeout is how long a name may take. A collector is worth no longer
// wait at start: an address in the file needs no name server at all.
const lookupTimeout = 2 * time.Second

func thisMachine() machine {
	return machine{cpus: allowedCPUs(), memory: installedMemory(), limit: MemoryLimit(), lookup: func(host string) ([]netip.Addr, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
		defer cancel()
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}}
}

// unresolved is the address of a collector that is a host name.
type unresolved struct {
	host string
	port uint16
	at   *schema.Expr
}

// resolveCollectors looks up all host names at the same time, but those that are known.
func resolveCollectors(c *Config, m machine) {
	found := make([][]netip.Addr, len(c.Collectors))
	errs := make([]error, len(c.Collectors))
	var wait sync.WaitGroup
	for i := range c.Collectors {
		if u := c.Collectors[i].unresolved; u != nil {
			if m.lookup == nil {
				c.Collectors[i].Host, c.Collectors[i].unresolved = u.host, nil
				continue
			}
			if m.known != nil {
				found[i] = c.Collectors[i].reachable(m.known(u.host))
			}
			if len(found[i]) == 0 {
				wait.Go(func() { found[i], errs[i] = m.lookup(u.host) })
			}
		}
	}
	wait.Wait()
	for i := range c.Collectors {
		if c.Collectors[i].unresolved != nil {
			c.Collectors[i].resolve(found[i], errs[i])
		}
	}
}

// reachable returns all if the collector can be sent reports there from its source, else nil.
func (col *Collector) reachable(all []netip.Addr) []netip.Addr {
	for _, a := range all {
		if !col.Source.IsValid() || a.Is4() == col.Source.Is4() {
			return all
		}
	}
	return nil
}

// resolve chooses one of the addresses that were found for the host name, or reports why
// there is none.
func (col *Collector) resolve(found []netip.Addr, err error) {
	u := col.unresolved
	col.unresolved = nil
	if err != nil || len(found) == 0 {
		u.at.Fail("the host name does not resolve%s; an IP address needs no resolver", because(err))
		return
	}
	best := found[0].Unmap()
	for _, a := range found {
		if a = a.Unmap(); col.Source.IsValid() && a.Is4() == col.Source.Is4() {
			best = a
			break
		}
	}
	best = best.WithZone("")
	if sendable(u.at, best) {
		col.Address, col.Host = netip.AddrPortFrom(best, u.port), u.host
	}
}

func because(err error) string {
	var dns *net.DNSError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &dns) && dns.IsTimeout:
		return fmt.Sprintf(" within %s", schema.DurationText(lookupTimeout))
	case errors.As(err, &dns):
		return " (" + dns.Err + ")"
	}
	return " (" + err.Error() + ")"
}
