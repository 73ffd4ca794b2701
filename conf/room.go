// Room for INT on ports that packets with INT come to.

package conf

import "fmt"

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
