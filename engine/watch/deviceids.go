// Reads the device ids of a packet for watches: node ids of the hop stack, or a domain's metadata
// with that role.

package watch

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
)

// readDevices takes the hop stack's node ids, and the id that a domain's metadata
// has for a device. What is all ones is no value.
func (f *Facts) readDevices(ws *Watches, p *Packet) {
	frame, info := p.Frame, p.Info
	if info.Reason != inthdr.ReasonNone {
		f.noPath = true
		return
	}
	f.noPath = info.MTUExceeded
	l := p.Locator.Layout(info)
	if info.Format.Foreign() {
		h := p.Locator.Hops(frame, info)
		frame, info = h.Frame, h.Info
	}
	if info.Hops > 0 && l.NodeID >= 0 && info.HopLen >= 4 {
		f.hopLen, f.nodeMask = int(info.HopLen), 0xffffffff
		if l.Format == inthdr.Format2016 {
			f.nodeMask = 0x7fffffff // the top bit marks the bottom of the stack
		}
		f.nodes = frame[int(info.Stack)+int(l.NodeID):][:int(info.StackLen)-int(l.NodeID)]
		for s := f.nodes; len(s) >= 4; s = s[min(f.hopLen, len(s)):] {
			if binary.BigEndian.Uint32(s)|^f.nodeMask == 0xffffffff {
				f.noPath = true
			}
		}
	}
	f.device, f.hasDevice = ws.devices.Of(frame, info, l)
}

// Devices are where domains have the id of a device.
type Devices []device

// device is a DeviceField with the layout of its domain.
type device struct {
	bit    uint8
	domain inthdr.Domain
}

// NewDevices finds the layouts of c.Devices.
func NewDevices(c *Config) (out Devices) {
	for _, f := range c.Devices {
		for i := range c.INT.Domains {
			if c.INT.Domains[i].ID == f.Domain {
				out = append(out, device{f.Bit & 15, c.INT.Domains[i]})
			}
		}
	}
	return out
}

// Of returns the device id in the domain's metadata of packet f. The INT of f must be sound. If
// every hop writes an id, it returns that of the hop nearest to the source.
func (all Devices) Of(f []byte, info *inthdr.Info, l *inthdr.Layout) (id uint64, ok bool) {
	if info.Format != inthdr.Format2 {
		return 0, false
	}
	baseline := int(l.HopLen)
	for i := range all {
		d := &all[i]
		if d.domain.ID != info.DomainID || info.DSInstruction&(0x8000>>d.bit) == 0 {
			continue
		}
		field := &d.domain.Bits[d.bit]
		at, end := int(info.Stack)+int(info.StackLen), int(info.Stack)+int(info.StackLen)+int(info.SourceLen)
		if !field.SourceOnly {
			if info.Hops == 0 {
				continue
			}
			end = at
			at += baseline - int(info.HopLen)
			if info.Bitmap&inthdr.BitChecksumComplement != 0 {
				at -= 4 // it stands behind the domain's
			}
		}
		for bit := range d.bit {
			if b := &d.domain.Bits[bit]; info.DSInstruction&(0x8000>>bit) != 0 && b.SourceOnly == field.SourceOnly {
				at += int(b.Length)
			}
		}
		if to := at + int(field.Length); field.Length > 0 && to <= min(end, len(f)) {
			return number(f[at:to])
		}
	}
	return 0, false
}

// number is b as one; false where it is all ones, or more than 64 bits.
func number(b []byte) (n uint64, ok bool) {
	ones := byte(0xff)
	for i, x := range b {
		if ones &= x; x != 0 && i < len(b)-8 {
			return 0, false
		}
		n = n<<8 | uint64(x)
	}
	return n, ones != 0xff
}
