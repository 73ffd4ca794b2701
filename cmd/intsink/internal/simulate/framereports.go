// Frame: puts the headers of a collector's configuration around report packets that are
// written to a file.

package simulate

import (
	"net/netip"

	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/engine/wire/report"
	"intsink/exporters/port"
)

// Frame is the frame around a collector's report packets.
type Frame struct {
	report.UDPFrame
	byPort bool // the frame is what exporters/port would send
	hash   bool // of the flow makes the source port
	source port.SourcePort
}

// To returns the frame of the packet whose handoff is h.
func (f *Frame) To(h report.Handoff) *report.UDPFrame {
	switch {
	case f.byPort:
		f.Src = netip.AddrPortFrom(f.Src.Addr(), f.source.Of(0, h))
	case f.hash:
		f.Src = netip.AddrPortFrom(f.Src.Addr(), report.EntropyPort(h.Entropy))
	}
	return &f.UDPFrame
}

// FrameOf is the frame to col. What is learned from the kernel, a device or a
// gateway (MAC addresses and the source address, where they are not configured)
// is zero, so that nothing of this machine gets into the output.
func FrameOf(col *conf.Collector) Frame {
	source := col.Source
	if !source.IsValid() {
		source = netip.IPv4Unspecified()
		if !col.Address.Addr().Unmap().Is4() {
			source = netip.IPv6Unspecified()
		}
	}
	return Frame{
		UDPFrame: report.UDPFrame{
			DstMAC: col.GatewayMAC, VLAN: col.VLAN, DSCP: col.DSCP, TTL: col.TTL,
			Src: netip.AddrPortFrom(source, col.SourcePort), Dst: col.Address,
		},
		byPort: col.Port != "", hash: col.SourcePortMode == conf.HashedSourcePort, source: rules.PortSource(col),
	}
}
