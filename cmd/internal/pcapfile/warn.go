// Warns of what a Reader found in a capture: packets that are cut or left out, or that libpcap
// refuses.

package pcapfile

import (
	"fmt"
	"io"
)

// Warn writes which parts of the capture Next did not return, and why.
func (c *Reader) Warn(w io.Writer) {
	if c.cut {
		rest := "the rest of the file"
		if s, err := c.file.Stat(); err == nil && s.Mode().IsRegular() && !c.gzipped {
			rest = fmt.Sprintf("the last %d bytes of the file", s.Size()-c.end)
		}
		fmt.Fprintf(w, "warning: %s: cut short or damaged after packet %d: %s could not be read and are left out\n", c.Path, c.Packets, rest)
	}
	if c.short > 0 {
		fmt.Fprintf(w, "warning: %s: %d of %d packets were captured only in part (snap length) and are taken as they are\n", c.Path, c.short, c.Packets)
	}
}

// WarnPackets says that n packets were not taken as they are, and why; nothing where
// there are none.
func (c *Reader) WarnPackets(w io.Writer, n int, why string) {
	if n > 0 {
		fmt.Fprintf(w, "warning: %s: %d of %d packets %s\n", c.Path, n, c.Packets, why)
	}
}

// maxLibpcap is the longest packet that libpcap reads from a file.
const maxLibpcap = 262144

// WhyUnread says why DPDK's pcap driver cannot read a packet that we can: it
// reads the file with libpcap, which is stricter.
func (c *Reader) WhyUnread(p *Packet) string {
	if len(p.Data) > maxLibpcap {
		return fmt.Sprintf("it is %d bytes long, and libpcap reads at most %d", len(p.Data), maxLibpcap)
	}
	return "libpcap finds the capture damaged there: try editcap to repair it"
}
