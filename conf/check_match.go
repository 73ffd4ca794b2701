package conf

import (
	"math"
	"slices"

	"intsink/conf/schema"
)

// checkMatch warns of what no packet can have.
func (d checker) checkMatch(c *INT, w *Watch, where string) {
	m := w.Match
	if m == nil {
		return
	}
	if mark := c.DSCP; mark != nil && mark.Mask == 63 && slices.Equal(m.DSCP, []uint8{mark.Value}) {
		d.WarnAt([]any{&m.DSCP}, "%s: match: dscp = %d is what marks INT; a watch compares the DSCP that the packet leaves with", where, mark.Value)
	}
	for i, id := range m.Device {
		if id > math.MaxUint32 && !c.hasRole("device_id") {
			d.WarnAt([]any{schema.ElementOf(&m.Device, i)}, "%s: match: device = %s: node ids have 32 bits, and no int domain has an instruction with "+
				`role = "device_id"; no packet has it`, where, formatDevice(id))
		}
	}
	const (
		tcp, udp, dccp, sctp, udpLite = 6, 17, 33, 132, 136
	)
	ports := func(p uint8) bool { return p == tcp || p == udp || p == dccp || p == sctp || p == udpLite }
	for _, list := range []*[]PortRange{&m.SourcePort, &m.DestinationPort} {
		zero := slices.ContainsFunc(*list, func(r PortRange) bool { return r.First == 0 })
		if len(*list) > 0 && !zero && len(m.Protocol) > 0 && !slices.ContainsFunc(m.Protocol, ports) {
			d.WarnAt([]any{list}, "%s: match: the protocols of this watch have no ports; it matches nothing", where)
		}
	}
}

// hasRole tells whether some domain has an instruction with the role.
func (c *INT) hasRole(role string) bool {
	return slices.ContainsFunc(c.Domains, func(d Domain) bool {
		return slices.ContainsFunc(d.Instructions, func(i Instruction) bool { return i.Role == role })
	})
}
