// Config of what marks INT (UDP port, DSCP, probe marker, GRE, VXLAN-GPE, Geneve, domains),
// compiled into a Locator; layouts it remembers.

package inthdr

import (
	"intsink/engine/wire/packet"
	"intsink/internal/ranges"
)

// Config says which packets carry INT over TCP or UDP. A nil pointer: not by
// this marking.
type Config struct {
	UDPPort       *uint16
	DSCP          []DSCP
	ProbeMarker   *uint64
	ProbePorts    []PortRange // destination ports the probe marker is looked for on; empty: all
	BeforeOptions bool        // INT stands before the TCP options
	GREProtocol   *uint16     // protocol type that says INT
	VXLANGPE      *VXLANGPE
	Geneve        *Geneve
	Formats                      // that are not INT
	Version2      bool           // INT 2.x is taken
	Version1      bool           // INT 1.0 is taken
	Version0      bool           // the June 2016 format is taken
	GEANT         bool           // INT 1.0 is as GEANT's programs write it: FormatGEANT
	Outer         bool           // INT is in the outermost layers alone: what tunnels carry is as its sender made it
	Fragments     bool           // first fragments that hold the whole INT are taken as INT
	ShimInclusive bool           // Length of shims of 2.x counts the shim itself
	KeepChecksum  bool           // TCP and UDP checksums are left as they are
	Ignored       [NumTypes]bool // types that are not taken as INT
	ReadOnly      bool           // nothing is taken out: first fragments in tunnels that the source made are INT, too
	Cut           bool           // frames end before their packets do: what NPT 2 restores is not there to be checked
	Domains       []Domain
	Only          *Only // nil: every packet may carry INT
}

// TunnelPorts returns the UDP ports that tunnels are looked for at.
func (c *Config) TunnelPorts() packet.TunnelPorts {
	p := packet.DefaultTunnelPorts
	if c.VXLANGPE != nil {
		p.GPE = c.VXLANGPE.Port
	}
	if c.Geneve != nil {
		p.Geneve = c.Geneve.Port
	}
	return p
}

// DSCP marks INT where dscp & Mask == Value & Mask.
type DSCP struct {
	Value, Mask uint8
	Restore     *uint8 // the DSCP of a packet whose shim carries none; nil: without the bits of Mask
}

// VXLANGPE marks INT by the next protocol of VXLAN-GPE.
type VXLANGPE struct {
	Port         uint16
	NextProtocol uint8
}

// Geneve marks INT by the class of a Geneve option.
type Geneve struct{ Port, OptionClass uint16 }

// PortRange is an inclusive range of ports.
type PortRange = ranges.Range[uint16]

// Domain is the layout of one domain's metadata; Bits[0] belongs to the most
// significant bit of DS Instruction. Length 0: the bit is not defined.
type Domain struct {
	ID   uint16
	Bits [16]struct {
		Length     uint16 // bytes
		SourceOnly bool
		Role       Role
	}
}

// Locator finds INT. One per worker: it remembers layouts.
type Locator struct {
	byPort, byDSCP, byProbe bool
	byGRE, byGPE, byGeneve  bool
	beforeOptions           bool
	versions                formats // that are taken
	format1                 Format  // of INT 1.0: Format1 or FormatGEANT
	counted                 int     // words of a 2.x shim that its Length counts: 0 or 1
	outer                   bool
	fragments               bool
	cut, readOnly           bool
	edit                    Edit // of every packet
	ignored                 [NumTypes]bool
	port                    uint16
	dscps                   dscps
	probe                   uint64
	greProtocol             uint16
	gpe                     VXLANGPE
	geneve                  Geneve
	tunnels                 packet.TunnelPorts
	foreign                 Formats
	takesForeign            bool // some of them are taken
	asINT                   *asINT
	probePorts              []PortRange
	domains                 []Domain
	only                    *Only
	layouts                 [layoutSlots]Layout
	current                 *Layout // the one last asked for
}

// layoutSlots layouts are remembered; an INT domain uses one or two bitmaps.
const layoutSlots = 8

// NewLocator compiles c.
func NewLocator(c Config) *Locator {
	p := &Locator{
		beforeOptions: c.BeforeOptions, outer: c.Outer, fragments: c.Fragments, ignored: c.Ignored,
		probePorts: c.ProbePorts, domains: c.Domains,
		tunnels: c.TunnelPorts(), only: c.Only,
	}
	p.setReading(&c)
	if p.foreign, p.takesForeign = c.Formats, c.Formats != (Formats{}); p.takesForeign {
		p.asINT = new(asINT)
	}
	if c.GREProtocol != nil {
		p.byGRE, p.greProtocol = true, *c.GREProtocol
	}
	if c.VXLANGPE != nil {
		p.byGPE, p.gpe = true, *c.VXLANGPE
	}
	if c.Geneve != nil {
		p.byGeneve, p.geneve = true, *c.Geneve
	}
	if c.UDPPort != nil {
		p.byPort, p.port = true, *c.UDPPort
	}
	p.byDSCP, p.dscps = len(c.DSCP) > 0, dscpsOf(c.DSCP)
	if c.ProbeMarker != nil {
		p.byProbe, p.probe = true, *c.ProbeMarker
	}
	for s := range p.layouts {
		p.layouts[s] = LayoutOf(0, Format2)
	}
	p.current = &p.layouts[0]
	return p
}

func (p *Locator) setReading(c *Config) {
	for f, taken := range [...]bool{Format2: c.Version2, Format1: c.Version1, Format2016: c.Version0} {
		if taken {
			p.versions |= 1 << f
		}
	}
	if c.GEANT {
		p.format1 = FormatGEANT
	} else {
		p.format1 = Format1
	}
	if c.ShimInclusive {
		p.counted = 1
	}
	p.cut, p.readOnly = c.Cut, c.ReadOnly
	if c.KeepChecksum {
		p.edit = KeepChecksum
	}
}

// TunnelPorts returns the UDP ports that tunnels are looked for at.
func (p *Locator) TunnelPorts() *packet.TunnelPorts { return &p.tunnels }

// takes reports whether INT of type t is taken.
func (p *Locator) takes(t Type) bool { return t.Known() && t.OfINT() && !p.ignored[t] }

// Layout returns the layout of one hop of i, remembered where possible. It is
// valid until the next call.
func (p *Locator) Layout(i *Info) *Layout {
	if p.current.Bitmap == i.Bitmap && p.current.Format == i.Format {
		return p.current
	}
	return p.layout(i.Bitmap, i.Format)
}

func (p *Locator) layout(bitmap uint16, format Format) *Layout {
	l := &p.layouts[(bitmap>>13^bitmap>>10^bitmap>>7^bitmap^uint16(format))%layoutSlots]
	if l.Bitmap != bitmap || l.Format != format {
		*l = LayoutOf(bitmap, format)
	}
	p.current = l
	return l
}

func (p *Locator) probePort(port uint16) bool {
	for _, r := range p.probePorts {
		if r.Has(port) {
			return true
		}
	}
	return len(p.probePorts) == 0
}

// Marks are the values that a Locator looks for in a packet that may carry INT, or a tunnel with
// INT: DSCP, probe marker, UDP ports.
type Marks struct {
	DSCPs      uint64 // bit n: DSCP n marks INT
	Probe      bool   // a probe marker does, or that of IFA 1.0
	ProbePorts bool   // it is looked for on some ports only
	Counted    int    // words of a shim that its Length counts
	Ports      [4]uint16
	Extensions bool  // headers of IPv6 may have telemetry
	Only       *Only // nil: every packet may carry INT
}

// What stands where in Marks.Ports: UDP ports behind which there may be INT or a tunnel.
const (
	VXLANPort = iota
	GPEPort
	GenevePort
	OwnPort // that of INT; that of VXLAN again where INT has none
)

// Marks returns the marks of p.
func (p *Locator) Marks() Marks {
	m := Marks{DSCPs: p.dscps.marked, Probe: p.byProbe || p.foreign.byMarker(), ProbePorts: len(p.probePorts) > 0, Counted: p.counted, Extensions: p.foreign.inExtensions(), Only: p.only}
	m.Ports = [4]uint16{VXLANPort: packet.PortVXLAN, GPEPort: p.tunnels.GPE, GenevePort: p.tunnels.Geneve, OwnPort: p.port}
	if !p.byPort {
		m.Ports[OwnPort] = packet.PortVXLAN
	}
	return m
}
