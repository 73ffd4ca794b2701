// Looks up the host names of collectors at the same time, and chooses one address of each.

package conf

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"intsink/conf/schema"
)

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
			if m.known != nil {
				found[i] = c.Collectors[i].reachable(m.known(u.host))
			}
			if len(found[i]) == 0 && m.lookup == nil {
				c.Collectors[i].later()
			} else if len(found[i]) == 0 {
				wait.Go(func() { found[i], errs[i] = m.lookup(u.host) })
			}
		}
	}
	wait.Wait()
	for i := range c.Collectors {
		if c.Collectors[i].unresolved != nil {
			c.Collectors[i].resolve(found[i], errs[i], m.elsewhere)
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

// later leaves the collector without an address: its host name is looked up while the sink runs.
func (col *Collector) later() {
	u := col.unresolved
	col.Address, col.Host, col.unresolved = netip.AddrPortFrom(netip.Addr{}, u.port), u.host, nil
}

// resolve chooses one of the addresses that were found for the host name, or reports why
// there is none: an error for who needs it now.
func (col *Collector) resolve(found []netip.Addr, err error, now bool) {
	u := col.unresolved
	col.later()
	switch {
	case err == nil && len(found) > 0:
		if best := col.best(found); sendable(u.at, best) {
			col.Address = netip.AddrPortFrom(best, u.port)
		}
	case now:
		u.at.Fail("the host name does not resolve%s; an IP address needs no resolver", because(err))
	default:
		u.at.Warn("the host name does not resolve%s: the sink runs, and looks it up again each second; an IP address needs no resolver", because(err))
	}
}

// best is the address that the collector has, where it is among found, else the first of the family of its source, or of all.
func (col *Collector) best(found []netip.Addr) netip.Addr {
	best := found[0].Unmap()
	for _, a := range slices.Backward(found) {
		if a = a.Unmap(); col.Source.IsValid() && a.Is4() == col.Source.Is4() {
			best = a
		}
	}
	for _, a := range found {
		if a.Unmap() == col.Address.Addr() {
			return col.Address.Addr()
		}
	}
	return best.WithZone("")
}

// LookUp returns the addresses of a host name. It takes as long as a collector may hold up a start at most.
func LookUp(host string) ([]netip.Addr, error) {
	found, err := thisMachine().lookup(host)
	if err == nil && len(found) == 0 {
		err = errors.New("it has no address")
	}
	if err != nil {
		return nil, fmt.Errorf("the host name %s does not resolve%s", host, because(err))
	}
	return found, nil
}

// WithAddresses is c with addresses that were found for host names of its collectors; moved are the names of the collectors that
// have another one then. An address that is still among those found stays.
func (c *Config) WithAddresses(found map[string][]netip.Addr) (next *Config, moved []string) {
	copied := *c
	copied.Collectors = slices.Clone(c.Collectors)
	for i := range copied.Collectors {
		col := &copied.Collectors[i]
		all := found[col.Host]
		if col.Host == "" || len(all) == 0 {
			continue
		}
		best, was := col.best(all), col.Address.Addr()
		if best == was || best.IsUnspecified() {
			continue
		}
		if col.Port != "" && col.Gateway == was {
			col.Gateway = netip.Addr{}
		}
		col.Address = netip.AddrPortFrom(best, col.Address.Port())
		col.fillGateway()
		moved = append(moved, col.Name)
	}
	return &copied, moved
}

// Endpoint is where the collector's reports go, as the file says it where that is a name without an address.
func (col *Collector) Endpoint() string {
	if col.Host != "" && !col.Address.IsValid() {
		return net.JoinHostPort(col.Host, strconv.Itoa(int(col.Address.Port())))
	}
	return col.Address.String()
}

// fillGateway makes explicit what an omitted gateway stands for.
func (col *Collector) fillGateway() {
	if col.Port != "" && !col.Gateway.IsValid() && col.GatewayMAC == [6]byte{} {
		col.Gateway = col.Address.Addr().WithZone("")
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
