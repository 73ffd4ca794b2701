// Removes options of IOAM from the extension headers of IPv6, and headers in which nothing else is left; or the IPv6 header of a
// tunnel that ends here, with all of them.

package strip

import (
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/packet"
)

// stripIOAM leaves L4 as it is: its checksum covers no extension header.
func stripIOAM(b []byte, l *packet.Layers, i *inthdr.Info) int {
	if i.Unwraps() {
		return stripWithTunnel(b, l, i)
	}
	n := ioam.Strip(b, int(l.L3), int(i.End), i.Options)
	shortenIP(b[n:][l.L3:], l, n)
	return n
}
