// Reader: finds the rule that selects a packet, by what the packet is without INT.

package selector

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// Reader reads of packets what rules ask for. It belongs to one worker.
type Reader struct {
	devices   watch.Devices // where packets have the id of a device
	innerKeys bool          // package fast makes other keys than those that rules ask about

	packet Packet
	key    flows.Key
	layers packet.Layers
	info   inthdr.Info
	outers inthdr.Outers
}

// Adopt makes the reader find the ids of devices where devices has them. innerKeys: flows are told apart by what is
// inside of tunnels.
func (x *Reader) Adopt(devices watch.Devices, innerKeys bool) {
	x.devices, x.innerKeys = devices, innerKeys
}

// Of is the place of the rule of t that selects m, a packet of b that may have INT; None: none does. INT packets are selected by what
// they are without INT, as flows are.
func (x *Reader) Of(t *Table, m *mbuf.Mbuf, b *burst.Burst) int {
	return x.OfFrame(t, burst.Headers(m), m.PktLen(), b.Link.Locator, b.Now)
}

// OfINT is Of for INT packet j of b, whose key package fast may know.
func (x *Reader) OfINT(t *Table, m *mbuf.Mbuf, b *burst.Burst, j int) int {
	if b.Fast.Unknown>>j&1 != 0 || x.innerKeys || t.AsksDevice() {
		return x.Of(t, m, b)
	}
	x.packet = Packet{Key: &b.Fast.Keys[j], SourceMAC: SourceMAC(m.Bytes())}
	return t.Find(&x.packet, b.Now)
}

// OfFrame is Of for the first bytes of a packet of n bytes, with all of its headers, whose INT locator reads; nil: it has
// none.
func (x *Reader) OfFrame(t *Table, f []byte, n int, locator *inthdr.Locator, now int64) int {
	x.packet = Packet{SourceMAC: SourceMAC(f)}
	if packet.Parse(f, n, &x.layers) == packet.OK {
		x.info = inthdr.Info{}
		if locator == nil || locator.Find(f, &x.layers, &x.info, &x.outers) != inthdr.Sound {
			x.info = inthdr.Info{}
		} else if t.AsksDevice() && x.info.Reason == inthdr.ReasonNone {
			x.packet.Device, x.packet.HasDevice = x.devices.Of(f, &x.info, locator.Layout(&x.info))
		}
		burst.SetKey(&x.key, f, &x.layers, &x.info)
		x.packet.Key = &x.key
	}
	return t.Find(&x.packet, now)
}
