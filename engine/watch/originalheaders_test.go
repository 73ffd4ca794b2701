package watch

import (
	"testing"

	"intsink/engine/wire/packet"
)

// TestTunnelHeadersThatLie about what follows: nothing beyond the frame is read.
func TestTunnelHeadersThatLie(t *testing.T) {
	ports := packet.DefaultTunnelPorts
	frame := make([]byte, 64)
	for _, port := range []uint16{packet.PortVXLAN, packet.PortVXLANGPE, packet.PortGeneve, 1} {
		for first := range 256 {
			for at := range 70 {
				frame[8], frame[11] = byte(first), byte(first)
				var f Facts
				h := originalHeaders{proto: packet.ProtoUDP, port: port, at: at, end: 60}
				if in := openTunnel(&ports, frame, &h, &f); in.at != 0 && in.at < at {
					t.Fatalf("port %d, %#x at %d: inside at %d", port, first, at, in.at)
				}
				h.proto = packet.ProtoGRE
				openTunnel(&ports, frame, &h, &f)
			}
		}
	}
}
