// Blocks link and tap, whole: which ports packets pass between.

package conf

import (
	"fmt"
	"intsink/conf/schema"
	"slices"
)

// Link joins a network side, where INT arrives, and a host side.
type Link struct {
	Name, Network, Host string
	Mitigation          bool // rules of mitigation may drop packets on their way to the host
	INT                 *INT // in place of Config.INT; nil: that
}

// Tap is a port that is only watched; what it receives is freed.
type Tap struct {
	Name, Port string
	INT        *INT // in place of Config.INT; nil: that
}

// Mitigation tells whether some link has it.
func (c *Config) Mitigation() bool {
	return slices.ContainsFunc(c.Links, func(l Link) bool { return l.Mitigation })
}

// InLink tells whether a link has the port.
func (c *Config) InLink(port string) bool {
	return slices.ContainsFunc(c.Links, func(l Link) bool { return l.Network == port || l.Host == port })
}

// LinkNames returns the names of links, then of taps, in the order of the workers' indices.
func (c *Config) LinkNames() (names []string) {
	for _, l := range c.Links {
		names = append(names, l.Name)
	}
	for _, t := range c.Taps {
		names = append(names, t.Name)
	}
	return names
}

// checkLinks: every port is in one link or tap, and each has the ports it needs.
func (d checker) checkLinks(c *Config) {
	if len(c.Links)+len(c.Taps) == 0 && len(c.Ports) > 0 {
		d.ErrorAt(nil, `there is neither a link nor a tap: nothing would be received; write link "edge" { network = ..., host = ... } on lines of their own`)
	}
	known := portNames(c.Ports)
	used := map[string]string{}
	use := func(key any, where, port string) {
		d.checkKnown(key, where, port, "port", known)
		if other := used[port]; other != "" && port != "" {
			d.ErrorAt([]any{key}, "%s: port %q is in use by %s already; a port belongs to one link or tap", where, schema.Short(port), other)
			return
		}
		used[port] = where
	}
	for i := range c.Links {
		l := &c.Links[i]
		where := fmt.Sprintf("link %q", l.Name)
		if l.Network == l.Host && l.Network != "" {
			d.ErrorAt([]any{&l.Host}, "%s: network and host are the same port %q; a link joins two", where, schema.Short(l.Host))
			use(&l.Network, where, l.Network)
			continue
		}
		use(&l.Network, where, l.Network)
		use(&l.Host, where, l.Host)
	}
	for i := range c.Taps {
		use(&c.Taps[i].Port, fmt.Sprintf("tap %q", c.Taps[i].Name), c.Taps[i].Port)
	}
	for i := range c.Ports {
		if p := &c.Ports[i]; p.MTU != 0 {
			if narrow := c.TooNarrow(p, int(p.MTU)); narrow != "" {
				d.WarnAt([]any{&p.MTU}, "%s; write mtu = %d, or leave it out", narrow, c.RoomForINT(p.Name))
			}
		}
	}
	if d.Failing() {
		return // a link that is wrong may be the one that a port is missing in
	}
	for i := range c.Collectors {
		if port := c.Collectors[i].Port; used[port] == "" {
			used[port] = "a collector"
		}
	}
	for i := range c.Ports {
		if p := &c.Ports[i]; used[p.Name] == "" {
			d.WarnAt([]any{p}, "port %q is in no link and no tap, and no collector's reports leave by it: it is opened for nothing", p.Name)
		}
	}
}

func visitLink(v schema.Visitor, l *Link) {
	v.Required("network", schema.Text(&l.Network))
	v.Required("host", schema.Text(&l.Host))
	v.Attr("mitigation", schema.Boolean(&l.Mitigation))
	v.Optional("int", schema.Pointer(&l.INT, defaultINT, visitINTOfLink))
}

func visitTap(v schema.Visitor, t *Tap) {
	v.Required("port", schema.Text(&t.Port))
	v.Optional("int", schema.Pointer(&t.INT, defaultINT, visitINTOfLink))
}

// INTRoom is what INT adds to a packet in a usual domain: shim, header and eight hops of
// 32 bytes, and a new UDP header.
const INTRoom = 4 + 12 + 8*32 + 8

// UsualMTU is that of a port whose mtu is left out.
const UsualMTU = 1500

// RoomForINT is the MTU that a port needs for the packets of the hosts behind it with INT in them;
// 0 where no packets with INT come to it.
func (c *Config) RoomForINT(name string) int {
	for i := range c.Links {
		if l := &c.Links[i]; l.Network == name {
			mtu := UsualMTU
			for j := range c.Ports {
				if p := &c.Ports[j]; p.Name == l.Host && p.MTU != 0 {
					mtu = int(p.MTU)
				}
			}
			return mtu + INTRoom
		}
	}
	for i := range c.Taps {
		if c.Taps[i].Port == name {
			return UsualMTU + INTRoom
		}
	}
	return 0
}

// TooNarrow says what a NIC with that MTU loses of what comes to port p; empty where it is nothing,
// and for devices that take frames of any length.
func (c *Config) TooNarrow(p *Port, mtu int) string {
	room := c.RoomForINT(p.Name)
	if !p.IsPCI() || mtu >= room {
		return ""
	}
	return fmt.Sprintf("port %q: an mtu of %d has no room for INT of eight hops in packets of %d bytes, which need %d: NICs lose longer ones, some without counting them",
		p.Name, mtu, room-INTRoom, room)
}
