// Mitigation in the worker: selects packets by rules, drops, counts and reports them.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/mitigate"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// Mitigate hands over rules of mitigation, which are in force from the next tick on, in a
// millisecond; nil ends them. A reload leaves them alone. Safe from any goroutine.
func (w *Worker) Mitigate(t *mitigate.Table) {
	w.askedMitigation.Store(t)
	w.changed.Store(true)
}

// Mitigates tells whether t is in force, which Mitigate handed over last. Safe from any
// goroutine.
func (w *Worker) Mitigates(t *mitigate.Table) bool { return w.inForce.Load() == t }

// selectPackets asks the rules about each packet of the burst, counts, and keeps the
// rules of packets that are to be dropped. It tells whether there are any.
func (w *Worker) selectPackets(p *linkState, b *burst) (any bool) {
	c, x := &p.counters.Mitigation, &w.selects
	x.rules = [mbuf.MaxBurst]*mitigate.Rule{}
	for i := range b.n {
		m := b.vec[i]
		r := w.ruleOf(w.mitigation, m, b)
		if r == nil {
			continue
		}
		n := m.PktLen()
		if r.Apply(int(w.number), b.now, n) {
			x.rules[i], any = r, true
			continue
		}
		c.add(r.Action, false, n)
	}
	return any
}

// ruleOf is the rule that selects m; nil: none does. INT packets are selected by what they
// are without INT, as flows are.
func (w *Worker) ruleOf(t *mitigate.Table, m *mbuf.Mbuf, b *burst) *mitigate.Rule {
	pktLen := m.PktLen()
	m.Pullup(min(pullupLen, pktLen))
	f := m.Bytes()
	x := &w.selects
	x.packet = mitigate.Packet{SourceMAC: mitigate.SourceMAC(f)}
	if packet.Parse(f, pktLen, &x.layers) == packet.OK {
		x.info = inthdr.Info{}
		if w.locator.Find(f, &x.layers, &x.info, &x.outers) != inthdr.Sound {
			x.info = inthdr.Info{}
		} else if t.AsksDevice() && x.info.Reason == inthdr.ReasonNone {
			x.packet.Device, x.packet.HasDevice = w.devices.Of(f, &x.info, w.locator.Layout(&x.info))
		}
		flowKey(&x.key, f, &x.layers, &x.info)
		x.packet.Key = &x.key
	}
	return t.Find(&x.packet, b.now)
}

// selects has the rules that select packets of a burst, and scratch of ruleOf and watchOfFrame.
type selects struct {
	any   bool                          // some packet is to be dropped
	rules [mbuf.MaxBurst]*mitigate.Rule // that want packets dropped; nil: none does

	packet mitigate.Packet
	key    flows.Key
	layers packet.Layers
	info   inthdr.Info
	outers inthdr.Outers
}

// dropSelected drops the packets that rules want dropped, and are still there, and reports
// them as they came.
func (w *Worker) dropSelected(p *linkState, b *burst, watched bool) {
	var flowOf [mbuf.MaxBurst]*flows.Flow
	if watched {
		for j := range b.fast.Len() {
			flowOf[b.fast.At[j]] = b.fast.Flows[j]
		}
	}
	for i := range b.n {
		r := w.selects.rules[i]
		if r == nil || b.verdict[i] == consumed {
			continue
		}
		n := b.vec[i].PktLen()
		w.refusedOne(p, ToHost, b, flowOf[i], b.vec[i], DropMitigation)
		b.dropPacket(i, DropMitigation, &p.counters.Direction[ToHost])
		r.Dropped(int(w.number), n)
		p.counters.Mitigation.add(r.Action, true, n)
	}
}

// devicesOf are where packets have the id of a device.
func devicesOf(r *Rules) watch.Devices {
	return watch.NewDevices(&watch.Config{INT: r.domains(), Devices: r.Devices})
}

// MitigationCounters are the packets that rules of mitigation have selected, by action and
// by what became of them. What a rule wanted dropped, and was dropped for another reason
// before, is in neither.
type MitigationCounters struct {
	Passed, Dropped           [mitigate.NumActions]uint64
	PassedBytes, DroppedBytes [mitigate.NumActions]uint64
}

func (c *MitigationCounters) add(a mitigate.Action, dropped bool, bytes int) {
	if dropped {
		c.Dropped[a]++
		c.DroppedBytes[a] += uint64(bytes)
		return
	}
	c.Passed[a]++
	c.PassedBytes[a] += uint64(bytes)
}

func (c *MitigationCounters) sum(o *MitigationCounters) {
	for a := range c.Passed {
		c.Passed[a] += o.Passed[a]
		c.Dropped[a] += o.Dropped[a]
		c.PassedBytes[a] += o.PassedBytes[a]
		c.DroppedBytes[a] += o.DroppedBytes[a]
	}
}
