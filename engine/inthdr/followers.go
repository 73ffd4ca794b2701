package inthdr

import "intsink/engine/packet"

// locateByPort is locateShim for INT's UDP port.
func (p *Locator) locateByPort(b []byte, l *packet.Layers, i *Info) Result {
	r := p.locateShim(b, l, i, ByPort, int(l.Payload))
	if r == Sound && i.NPT == 1 && i.Orig == p.port {
		p.addFollowers(b, l, i)
	}
	return r
}

// addFollowers takes in the shims of a chain: the original port of a shim is INT's
// own where another shim follows. The last one may have NPT 2: then the UDP header
// was made for INT. What is no sound shim is the payload of somebody who uses INT's
// port for something else.
func (p *Locator) addFollowers(b []byte, l *packet.Layers, i *Info) {
	for i.NPT == 1 && i.Orig == p.port {
		var next Info
		if p.locateShim(b, l, &next, ByPort, int(i.End)) != Sound {
			return
		}
		start, end := i.Start, next.End
		if next.NPT == 2 {
			start = l.L4
		}
		if i.Type == Destination && next.Type != Destination {
			*i = next
		}
		i.NPT, i.Orig = next.NPT, next.Orig
		i.Start, i.End, i.Removed = start, end, end-start
	}
}
