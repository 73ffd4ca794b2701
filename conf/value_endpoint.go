// Reads and writes address and source_port of a collector: host:port, names to be resolved.

package conf

import (
	"net/netip"
	"strconv"

	"intsink/conf/schema"
)

// endpoint is the address of a collector, "host:port". A host name is resolved
// when everything has been read.
func endpoint(c *Collector) schema.Value { return &endpointValue{c} }

type endpointValue struct{ c *Collector }

func (v *endpointValue) Key() any { return &v.c.Address }

func (v *endpointValue) Write() (string, bool) { return schema.Quote(v.c.Endpoint()), true }

func (v *endpointValue) Read(x *schema.Expr) bool {
	s, ok := x.Text(`"host:port"`)
	if !ok {
		return false
	}
	host, port, ok := schema.SplitEndpoint(x, s)
	if !ok {
		return false
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return v.set(x, a.Unmap(), port)
	}
	v.c.unresolved = &unresolved{host: host, port: port, at: x}
	return true
}

func (v *endpointValue) set(x *schema.Expr, a netip.Addr, port uint16) bool {
	if !sendable(x, a) {
		return false
	}
	v.c.Address = netip.AddrPortFrom(a, port)
	return true
}

// sendable reports an address that the kernel does not send reports to.
func sendable(x *schema.Expr, a netip.Addr) bool {
	switch {
	case a.IsUnspecified():
		return x.Fail("%s stands for no host: reports cannot be sent to it", schema.Short(a.String()))
	case a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return x.Fail("%s is the broadcast address: the kernel refuses to send reports to it; name one collector", a)
	case a.IsMulticast():
		x.Warn("a multicast address: the kernel sends reports to it on one interface of its choice, " +
			"and no router passes them on (TTL 1)")
	}
	return true
}

// sourcePort is the UDP source port of reports: a number, or "hash".
func sourcePort(c *Collector) schema.Value { return &sourcePortValue{c} }

type sourcePortValue struct{ c *Collector }

func (v *sourcePortValue) Key() any { return &v.c.SourcePort }

func (v *sourcePortValue) Write() (string, bool) {
	switch v.c.SourcePortMode {
	case HashedSourcePort:
		return `"hash"`, true
	case FixedSourcePort:
		return strconv.Itoa(int(v.c.SourcePort)), true
	}
	return "", false
}

func (v *sourcePortValue) Read(x *schema.Expr) bool {
	const accepted = `a number from 0 to 65535, or "hash"`
	s, ok := x.TextOrNumber(accepted)
	if !ok {
		return false
	}
	if s == "hash" {
		v.c.SourcePort, v.c.SourcePortMode = 0, HashedSourcePort
		return true
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return x.Fail("must be %s%s", accepted, schema.DidYouMean(s, []string{"hash"}, "%q"))
	}
	v.c.SourcePort, v.c.SourcePortMode = uint16(n), FixedSourcePort
	return true
}
