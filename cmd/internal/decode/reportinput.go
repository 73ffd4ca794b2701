// Reads report packets for decode out of a capture file, or from a UDP socket until it is
// told to stop.

package decode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/internal/pcapfile"
	"intsink/cmd/internal/progress"
	"intsink/engine/wire/report"
)

// readCapture prints the reports in a capture; port 0 tries every UDP packet.
func (d *reportPrinter) readCapture(ctx context.Context, path string, port uint16) error {
	c, err := pcapfile.Open(path)
	if err != nil {
		return err
	}
	defer c.Close()
	if !progress.IsTerminal(d.stdout) { // where reports scroll by
		d.errs = c.ShowProgress(d.errs, c.Path).Above(d.errs)
	}
	defer c.Warn(d.errs)
	if link, ok := c.LinkType(); ok {
		if _, known := decodable(link); !known {
			return fmt.Errorf("%s: %w", c.Path, errLinkType(link))
		}
	}
	for ctx.Err() == nil && !d.done() {
		p, err := c.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		link, known := decodable(p.Link)
		if err == nil && !known {
			err = errLinkType(p.Link)
		}
		if err != nil {
			return fmt.Errorf("%s: packet %d: %w", c.Path, d.seen+1, err)
		}
		d.seen++
		g := datagram{number: d.seen, time: time.Unix(0, p.At), carries: func() bool { return d.carriesINT(p.Data, link) }}
		from, to, payload, ok := udpOf(p.Data, link)
		if !ok {
			d.otherINT(g)
		}
		if !ok || port != 0 && to.Port() != port {
			continue
		}
		g.from, g.to = from, to
		err = d.payload(g, payload)
		if err == nil && path == pcapfile.Stdin && c.Drained() {
			err = d.out.Flush() // show all reports received so far before waiting
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// carriesINT reports whether there is INT in a packet of a capture.
func (d *reportPrinter) carriesINT(b []byte, link layers.LinkType) bool {
	t := report.Ethernet
	switch {
	case link == layers.LinkTypeEthernet:
	case link == layers.LinkTypeRaw && len(b) > 0 && b[0]>>4 == 6:
		t = report.IPv6
	case link == layers.LinkTypeRaw:
		t = report.IPv4
	default:
		return false // cooked captures, which are those of report packets
	}
	return d.decoder.Find(t, b) != nil
}

// decodable returns the link type to decode packets of link type t as.
func decodable(t layers.LinkType) (link layers.LinkType, known bool) {
	switch t {
	case layers.LinkTypeEthernet, layers.LinkTypeNull, layers.LinkTypeLoop, layers.LinkTypeLinuxSLL, layers.LinkTypeLinuxSLL2:
		return t, true
	case 12, 14, layers.LinkTypeRaw, layers.LinkTypeIPv4, layers.LinkTypeIPv6:
		return layers.LinkTypeRaw, true // the version is in the packet
	}
	return t, false
}

func errLinkType(t layers.LinkType) error {
	return fmt.Errorf("link type %d is not supported: it must be Ethernet, raw IP, Linux cooked or loopback", t)
}

// udpOf finds the outermost UDP datagram of a captured packet.
func udpOf(b []byte, link layers.LinkType) (from, to netip.AddrPort, payload []byte, ok bool) {
	p := gopacket.NewPacket(b, link, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	udp, ok := p.Layer(layers.LayerTypeUDP).(*layers.UDP)
	if !ok {
		return from, to, nil, false
	}
	net := p.NetworkLayer()
	if net == nil {
		return from, to, nil, false
	}
	src, _ := netip.AddrFromSlice(net.NetworkFlow().Src().Raw())
	dst, _ := netip.AddrFromSlice(net.NetworkFlow().Dst().Raw())
	from = netip.AddrPortFrom(src, uint16(udp.SrcPort))
	to = netip.AddrPortFrom(dst, uint16(udp.DstPort))
	return from, to, udp.Payload, true
}

// listen prints reports as they arrive, until ctx ends or enough are printed.
func (d *reportPrinter) listen(ctx context.Context, address string) error {
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(ctx, "udp", address)
	if err != nil {
		return fmt.Errorf("--listen %s: %w; it must be an address of this machine and a free UDP port, such as 0.0.0.0:8555", address, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	udp := conn.(*net.UDPConn)
	to := udp.LocalAddr().(*net.UDPAddr).AddrPort()
	fmt.Fprintf(d.errs, "listening on %s\n", to)
	buf := make([]byte, 1<<16)
	for !d.done() {
		n, from, err := udp.ReadFromUDPAddrPort(buf)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		d.seen++
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if err := d.payload(datagram{number: d.seen, time: time.Now(), from: from, to: to}, buf[:n]); err != nil {
			return err
		}
		if err := d.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}
