// Tells frames that may be ARP or Neighbor Discovery, which stations on ports of reports hear.

package burst

import "intsink/engine/wire/packet"

// MaybeNeighbor reports whether a frame may be ARP or Neighbor Discovery, from what packet.Parse
// has found: no IP, or ICMPv6. It is called only on ports that reports leave by, and only for
// frames that were parsed.
func MaybeNeighbor(s packet.Status, l *packet.Layers) bool {
	return s == packet.NotIP || s == packet.OK && l.Proto == packet.ProtoICMPv6
}
