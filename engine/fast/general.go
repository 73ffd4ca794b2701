// Go twin of general.h: packets that give no event although their flow is unsettled, watches ask
// for facts, nodes have other units, or hops are missing.

package fast

import (
	"encoding/binary"
	"math"
	"math/bits"

	"intsink/engine/event"
	"intsink/flows"
)

// told is what general returns for a packet.
type told uint8

const (
	toDefer told = iota
	noWatch
	noPath
	samePath
)

// factsOf is watch.Facts.Hash, as far as templates have facts.
func (t *Template) factsOf(s *State, f []byte) uint32 {
	be, word, h := binary.BigEndian, uint64(0), uint64(0)
	mix := func(v uint64) { h = bits.RotateLeft64((h^v)*s.factsKey, 32) }
	if s.asks&AsksVLAN != 0 && t.vlanAt != 0 {
		word = uint64(be.Uint16(f[t.vlanAt:]) & 0xfff)
	}
	if s.asks&AsksDSCP != 0 {
		dscp := uint64(t.dscp)
		if t.dscpAt != 0 {
			dscp = uint64(be.Uint16(f[t.dscpAt:]) >> t.dscpShift & 0x3f)
		}
		word |= dscp << 16
	}
	if s.asks&AsksLayer != 0 {
		word |= uint64(t.inside) << 24
	}
	mix(word)
	if s.asks&AsksDevice != 0 {
		for i := range uint32(t.allHops) {
			mix(uint64(be.Uint32(f[t.stack+i*t.hopLen:])))
		}
	}
	mix(1)
	return uint32(h >> 32)
}

// samePath reports whether a packet's nodes and interfaces equal those of its flow's current path.
func (t *Template) samePath(w *flows.Flow, f []byte) bool {
	if t.allHops != uint16(w.PathHops) {
		return false
	}
	for i := range uint32(t.allHops) {
		hop, k := f[t.stack+i*t.hopLen:], &w.Hops[i]
		if binary.LittleEndian.Uint32(hop) != k.Node || binary.LittleEndian.Uint32(hop[4:]) != k.Interfaces {
			return false
		}
	}
	return true
}

// windows holds a flow's windows as they will be when its packet is passed.
type windows struct {
	hops   [flows.MaxHops]uint8
	end    uint8
	change bool
}

// standsFirst tells whether no hop in front of hop i is the same node: of a node that a path
// has twice, only package event knows which reference counts.
func standsFirst(w *flows.Flow, i uint32) bool {
	for k := range i {
		if w.Hops[k].Node == w.Hops[i].Node {
			return false
		}
	}
	return true
}

// latenciesPass tells whether the latencies of hops and of the whole path give no event, and
// makes the windows.
func (t *Template) latenciesPass(s *State, w *flows.Flow, p *event.FastPolicy, f []byte, v *windows) bool {
	sum, summed := uint64(0), true
	for i := range uint32(t.allHops) {
		hop, ref := f[t.stack+i*t.hopLen:], w.Hops[i].Ref
		x := binary.BigEndian.Uint32(hop[latencyAt:])
		if x == math.MaxUint32 {
			summed = false
			continue
		}
		unit, _ := s.view.Units(binary.BigEndian.Uint32(hop))
		x = event.Multiply(x, unit)
		sum += uint64(x)
		if !p.WatchesHops || v.hops[i] == 0 && ref != math.MaxUint32 && event.Within(x, ref, p.Absolute) {
			continue
		}
		if ref == math.MaxUint32 || !standsFirst(w, i) {
			return false
		}
		var enters bool
		if v.hops[i], enters = p.Hops.Test(ref, x, v.hops[i]); enters {
			return false
		}
		v.change = true
	}
	return !p.WatchesEnd || t.endPasses(s, w, p, f, v, sum, summed)
}

// endPasses is latenciesPass for the latency of the whole path, sum where all hops know theirs.
func (t *Template) endPasses(s *State, w *flows.Flow, p *event.FastPolicy, f []byte, v *windows, sum uint64, summed bool) bool {
	if p.PTP {
		if sum = t.stamped(s, p, f); sum == math.MaxUint64 {
			return false
		}
	} else if !summed {
		return true
	}
	if !w.EndKnown() {
		return false
	}
	x := uint32(min(sum, math.MaxUint32-1))
	v.change = v.change || v.end != 0 || sum-uint64(w.EndRef)+p.End > p.EndTwice
	var enters bool
	v.end, enters = p.EndToEnd.Test(w.EndRef, x, v.end)
	return !enters
}

// numberOf is the sequence number of a packet.
func (t *Template) numberOf(f []byte) uint64 {
	return binary.BigEndian.Uint64(f[t.numberAt:]) << (64 - t.numberBits) >> (64 - t.numberBits)
}

// general tells whether packet j, of size bytes without INT, gives no event; then it updates
// what its flow knows, but for the totals.
func (s *State) general(j uint32, f []byte, size uint16) told {
	t, w := &s.templates[s.Template[j]], s.Flows[j]
	if t.sound == 0 || w.Held() || uint32(w.Generation) != s.generation || w.Full(size) {
		return toDefer
	}
	if s.keep&askAll != 0 && (t.facts == 0 || t.factsOf(s, f) != w.Facts) {
		return toDefer
	}
	if w.Watch == math.MaxUint8 {
		s.MX += uint32(t.mx)
		return noWatch
	}
	if uint32(w.Watch) >= s.policies {
		return toDefer
	}
	p := &s.view.Policies[w.Watch]
	if fresh := w.NextRefresh == 0; fresh || p.InGo || ^(s.refresh-w.NextRefresh)&p.Refresh != 0 {
		return toDefer
	}
	v := windows{end: w.EndWindow}
	for i := range v.hops {
		v.hops[i] = w.Window(i)
	}
	if t.allHops != 0 && !t.hopsPass(s, w, p, f, &v) {
		return toDefer
	}
	if p.Loss && t.numberBits != 0 {
		n := t.numberOf(f)
		if !w.NextInSequence(n, t.numberBits) {
			return toDefer
		}
		w.Advance(n)
	}
	if v.change {
		for i := range v.hops {
			w.SetWindow(i, v.hops[i])
		}
		w.SetEndWindow(v.end)
	}
	s.MX += uint32(t.mx)
	if t.allHops == 0 {
		return noPath
	}
	return samePath
}

// hopsPass is general for what hops say.
func (t *Template) hopsPass(s *State, w *flows.Flow, p *event.FastPolicy, f []byte, v *windows) bool {
	if !t.samePath(w, f) || !t.latenciesPass(s, w, p, f, v) {
		return false
	}
	if p.Fabric && (t.markThresholds(s.view, p, f) || s.view.Hot != 0 && !t.noEpisode(s.view, p, f)) {
		return false
	}
	return !p.Link || t.linksUnchanged(s, p, f)
}
