// Room for INT: raises the MTU of NICs that packets with INT come to, where the configuration leaves it out.

package ports

import (
	"fmt"
	"log/slog"

	"intsink/conf"
	"intsink/dpdk/ethdev"
)

// roomFor is the MTU to be set on port p, and what is lost nevertheless, empty where nothing is. 0: the
// driver's own stays.
func roomFor(c *conf.Config, p *conf.Port, info *ethdev.Info) (mtu uint16, lost string) {
	room := c.RoomForINT(p.Name)
	if p.MTU != 0 || !p.IsPCI() || room == 0 {
		return p.MTU, ""
	}
	most := room
	if info.MaxMTU > 0 {
		most = min(most, int(info.MaxMTU))
	}
	if !info.Scatter() {
		most = min(most, c.DPDK.MbufSize-frameOverhead)
	}
	if most < room {
		lost = c.TooNarrow(p, most) + fmt.Sprintf("; %s takes no more here: lower the MTU of the hosts by %d, or the MSS", info.Driver, room-most)
	}
	return uint16(most), lost
}

// configureWithRoom configures a port by configure, with room for INT where the device takes it.
func configureWithRoom(c *conf.Config, p *conf.Port, info *ethdev.Info, ports ethdev.Config, configure func(ethdev.Config) error) error {
	mtu, lost := roomFor(c, p, info)
	ports.MTU = mtu
	err := configure(ports)
	if err != nil && mtu != p.MTU { // the driver refuses what it says that it takes
		lost = c.TooNarrow(p, conf.UsualMTU) + fmt.Sprintf("; the device refuses %d (%v): lower the MTU of the hosts by %d, or the MSS", mtu, err, conf.INTRoom)
		ports.MTU = 0
		err = configure(ports)
	}
	switch {
	case err != nil:
		return err
	case lost != "":
		slog.Warn(lost)
	}
	if ports.MTU != p.MTU {
		slog.Info("port: room for INT; mtu of the port says otherwise", "port", p.Name, "mtu", ports.MTU)
	}
	return nil
}
