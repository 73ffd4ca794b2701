package inthdr

import "intsink/engine/packet"

// Marks is what a Locator looks at to tell whether a packet has INT, as far as it is not
// said by the headers that INT stands behind.
type Marks struct {
	DSCP       bool // some DSCP marks INT: those with Value under Mask
	Value      uint8
	Mask       uint8
	Probe      bool // a probe marker does
	ProbePorts bool // it is looked for on some ports only
	Counted    int  // words of a shim that its Length counts
	Ports      [4]uint16
}

// What stands where in Marks.Ports: UDP ports behind which there may be INT or a tunnel.
const (
	VXLANPort = iota
	GPEPort
	GenevePort
	OwnPort // that of INT; that of VXLAN again where INT has none
)

// Marks are those of p.
func (p *Locator) Marks() Marks {
	m := Marks{DSCP: p.byDSCP, Value: p.dscpValue, Mask: p.dscpMask, Probe: p.byProbe, ProbePorts: len(p.probePorts) > 0, Counted: p.counted}
	m.Ports = [4]uint16{VXLANPort: packet.PortVXLAN, GPEPort: p.tunnels.GPE, GenevePort: p.tunnels.Geneve, OwnPort: p.port}
	if !p.byPort {
		m.Ports[OwnPort] = packet.PortVXLAN
	}
	return m
}
