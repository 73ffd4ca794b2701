// First: finds the first watch that selects a flow with these facts; bitSet, a set of
// watches in four words.

package watch

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/classify"
	"intsink/flows"
)

// First returns the index of the first watch that selects a packet of flow k with
// these facts, or None. f is nil where no watch asks for facts, and where no packet is at
// hand (a flow that ends); then a watch that asks for facts does not match.
func (ws *Watches) First(k *flows.Key, f *Facts) uint8 {
	for i := range ws.collectors {
		if ws.collectors[i].is(k) {
			return None
		}
	}
	set := ws.own
	ws.fiveTuple(&set, k)
	if f == nil {
		set.add(&ws.inner)
		if i := set.first(); i != None && !ws.asking.has(i) {
			return i
		}
		return None
	}
	if f.inside {
		set.remove(&ws.outer)
	}
	if f.inner != nil {
		inner := ws.inner
		ws.fiveTuple(&inner, f.inner)
		set.add(&inner)
	}
	ws.packet(&set, f)
	return set.first()
}

// FirstOfAll returns the first watch that selects whatever comes by a port, or None.
func (ws *Watches) FirstOfAll(ingress uint16) uint8 {
	for i := range ws.all {
		if ws.all[i].match.Takes(ingress) {
			return ws.all[i].watch
		}
	}
	return None
}

// fiveTuple keeps only the watches in set that select k.
func (ws *Watches) fiveTuple(set *bitSet, k *flows.Key) {
	set.keep(ws.protocol.At(classify.Point{0, uint64(k.Proto())}))
	set.keep(ws.destinationPort.At(classify.Point{0, uint64(k.DstPort())}))
	set.keep(ws.sourcePort.At(classify.Point{0, uint64(k.SrcPort())}))
	v := k.Version() >> 1 & 1 // 4: 0, 6: 1
	set.keep(ws.destination[v].At(k.Dst()))
	set.keep(ws.source[v].At(k.Src()))
}

// packet keeps only the watches in set that select a packet with these facts.
func (ws *Watches) packet(set *bitSet, f *Facts) {
	set.keep(ws.vlan.At(classify.Point{0, uint64(f.vlan)}))
	if ws.asks&askLink != 0 {
		set.keep(ws.ingress.At(classify.Point{0, uint64(f.ingress)}))
	}
	set.keep(ws.dscp.At(classify.Point{0, uint64(f.dscp)}))
	vni := &ws.anyVNI
	if f.hasVNI {
		vni = ws.vni.At(classify.Point{0, uint64(f.vni)})
	}
	set.keep(vni)
	if ws.asks&askDevice == 0 {
		return
	}
	devices := ws.anyDevice
	for s := f.nodes; len(s) >= 4; s = s[min(f.hopLen, len(s)):] {
		devices.add(ws.device.At(classify.Point{0, uint64(binary.BigEndian.Uint32(s) & f.nodeMask)}))
	}
	if f.hasDevice {
		devices.add(ws.device.At(classify.Point{0, f.device}))
	}
	set.keep(&devices)
}

// bitSet is a set of watches by their index.
type bitSet [(Max + 63) / 64]uint64

func (s *bitSet) put(i int)        { s[i/64] |= 1 << (i % 64) }
func (s *bitSet) has(i uint8) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s *bitSet) keep(o *bitSet) {
	s[0], s[1], s[2], s[3] = s[0]&o[0], s[1]&o[1], s[2]&o[2], s[3]&o[3]
}
func (s *bitSet) add(o *bitSet) {
	s[0], s[1], s[2], s[3] = s[0]|o[0], s[1]|o[1], s[2]|o[2], s[3]|o[3]
}
func (s *bitSet) remove(o *bitSet) {
	s[0], s[1], s[2], s[3] = s[0]&^o[0], s[1]&^o[1], s[2]&^o[2], s[3]&^o[3]
}

// first returns the smallest index in s, None where s is empty.
func (s *bitSet) first() uint8 {
	for i, w := range s {
		if w != 0 {
			return uint8(64*i + bits.TrailingZeros64(w))
		}
	}
	return None
}
