// DefaultINT: the ports, protocols and option classes that mark INT in reported packets if
// nothing is configured.

package record

import (
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
)

// DefaultINT returns how INT is recognised if nothing is configured: behind UDP ports 5000
// and 555, and in GRE, VXLAN-GPE and Geneve with the values of intsink's examples. The only
// domain that it knows is that of Transparent Security.
func DefaultINT() []inthdr.Config {
	first, second, gre := uint16(5000), uint16(555), uint16(34998)
	config := inthdr.Config{
		UDPPort: &first, GREProtocol: &gre,
		VXLANGPE: &inthdr.VXLANGPE{Port: packet.PortVXLANGPE, NextProtocol: 0x82},
		Geneve:   &inthdr.Geneve{Port: packet.PortGeneve, OptionClass: 0x0103},
		Formats:  defaultFormats(),
		Version2: true, Version1: true, Version0: true, Fragments: true,
		Domains: []inthdr.Domain{transparentSecurityDomain()},
	}
	other := config
	other.UDPPort = &second
	return []inthdr.Config{config, other}
}

// transparentSecurityDomain returns the domain of the project Transparent Security. Only the
// source adds metadata of it: the MAC address of the device that sent the packet, and two bytes
// of padding.
func transparentSecurityDomain() inthdr.Domain {
	d := inthdr.Domain{ID: report.TransparentSecurityID}
	d.Bits[0].Length, d.Bits[0].SourceOnly, d.Bits[0].Role = 8, true, inthdr.DeviceID
	return d
}
