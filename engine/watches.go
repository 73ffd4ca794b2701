// Watch: match, policy and collectors; finds a flow's watch, again when its facts change; the
// collectors of packets without a flow; blind: flows not seen while rules were suspended.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// Watch selects traffic, the events that are looked for in it, and the collectors that get
// the reports.
type Watch struct {
	Name string
	watch.Match
	Policy     event.Policy
	Collectors uint64 // bit i: reports go to collector i
}

// compileWatches takes time and memory; it is not for the packet path.
func compileWatches(r *Rules) *watch.Watches {
	c := watch.Config{INT: r.domains(), Devices: r.Devices, InnerKeys: r.InnerKeys}
	for i := range r.Collectors {
		if a := r.Collectors[i].Address; a.IsValid() { // else its name has none yet
			c.Collectors = append(c.Collectors, a)
		}
	}
	for i := range r.Watches {
		c.Matches = append(c.Matches, &r.Watches[i].Match)
	}
	return watch.Compile(&c)
}

// policies returns the policies of all watches.
func (r *Rules) policies() []event.Policy {
	all := make([]event.Policy, len(r.Watches))
	for i := range r.Watches {
		all[i] = r.Watches[i].Policy
	}
	return all
}

// setWatches makes ws the watches of the rules in force.
func (w *Worker) setWatches(ws *watch.Watches) {
	vlan, dscp, layer, device, link, ok := ws.AsksInFront()
	w.watches, w.keepAll, w.askedFacts = ws, !ok, fast.Facts{Key: w.facts.HashKey()}
	for _, a := range []struct {
		asks bool
		fact uint8
	}{{vlan, fast.AsksVLAN}, {dscp, fast.AsksDSCP}, {layer, fast.AsksLayer}, {device, fast.AsksDevice}, {link, fast.AsksLink}} {
		if a.asks {
			w.askedFacts.Asks |= a.fact
		}
	}
}

// matchWatch finds the watch of the flow of INT packet j of the burst.
func (w *Worker) matchWatch(b *burst, j int) uint8 {
	if !w.watches.Asks() {
		return w.watches.First(&b.fast.Keys[j], nil)
	}
	w.readFacts(b, j)
	b.fast.Flows[j].Facts = w.facts.Hash(w.watches)
	return w.watches.First(&b.fast.Keys[j], w.facts)
}

// factsChanged makes a flow be matched again where packet j has other facts than those
// that its watch was found by. A packet that is no evidence of its path changes nothing,
// where watches ask for devices.
//
//go:noinline
func (w *Worker) factsChanged(b *burst, j int) {
	flow := b.fast.Flows[j]
	if flow == nil || b.fresh>>j&1 != 0 || flow.Generation != w.generation {
		return // there is none, or it is matched anyway
	}
	w.readFacts(b, j)
	if flow.Facts != w.facts.Hash(w.watches) && !w.facts.NoPath() {
		flow.Generation = w.generation - 1
	}
}

// readFacts takes the facts that watches ask for from INT packet j of the burst.
func (w *Worker) readFacts(b *burst, j int) {
	i := b.fast.At[j]
	info := &b.info[i]
	w.facts.Read(w.watches, &watch.Packet{
		Frame: b.vec[i].Bytes(), Layers: &b.layers[i], Info: info, Layout: w.locator.Layout(info), Outers: &b.outers[i], Key: &b.fast.Keys[j],
		Ingress: b.ingress, Ports: w.locator.TunnelPorts(),
	})
}

// watchOfFrame finds the watch of a packet that belongs to no flow: by its headers as they are without INT. What
// is no IP packet is selected by a watch that selects everything.
func (w *Worker) watchOfFrame(m *mbuf.Mbuf, ingress uint16) uint8 {
	m.Pullup(min(pullupLen, m.PktLen()))
	f, x := m.Bytes(), &w.selects
	if packet.Parse(f, m.PktLen(), &x.layers) != packet.OK {
		return w.watches.FirstOfAll(ingress)
	}
	l := x.layers
	if x.info = (inthdr.Info{}); w.locator.Find(f, &x.layers, &x.info, &x.outers) != inthdr.Sound {
		x.layers, x.info = l, inthdr.Info{DSCP: l.DSCP, End: max(l.L4, l.Payload)}
	}
	flowKey(&x.key, f, &x.layers, &x.info)
	w.innerKey(&x.key, f, &x.layers, &x.info, &x.outers)
	if !w.watches.Asks() {
		return w.watches.First(&x.key, nil)
	}
	w.facts.Read(w.watches, &watch.Packet{Frame: f, Layers: &x.layers, Info: &x.info, Layout: w.locator.Layout(&x.info), Outers: &x.outers, Key: &x.key, Ingress: ingress, Ports: w.locator.TunnelPorts()})
	return w.watches.First(&x.key, w.facts)
}

// blind remembers until when the worker did not see packets of its flows, by the generation
// of its rules.
type blind struct {
	now, ever bool
	until     uint16 // the first generation that saw packets again
}

// adopt takes rules of a generation over, which are suspended or not; true: they end a time
// without sight.
func (x *blind) adopt(suspended bool, generation uint16) (ends bool) {
	if ends = x.now && !suspended; ends {
		x.ever, x.until = true, generation
	} else if generation-x.until > 1<<14 {
		x.ever = false // every flow that is left was matched since; the numbers of generations wrap
	}
	x.now = suspended
	return ends
}

// missed tells whether a flow that was last matched in that generation may have missed
// packets since.
func (x *blind) missed(generation uint16) bool {
	return x.ever && int16(generation-x.until) < 0
}

// eventCollectors has the collectors of each event: those of all watches that have the event. Packets that belong to
// no flow are reported by it.
type eventCollectors [event.NumEvents]uint64

// eventCollectorsOf returns those of each port that packets come by, at watch.IngressOf: watches may select some
// ports.
func eventCollectorsOf(r *Rules, links int) []eventCollectors {
	all := make([]eventCollectors, int(NumDirections)*links)
	for ingress := range all {
		for i := range r.Watches {
			x := &r.Watches[i]
			for e := range all[ingress] {
				if x.Policy.Events.Has(event.Event(e)) && x.Takes(uint16(ingress)) {
					all[ingress][e] |= x.Collectors
				}
			}
		}
	}
	return all
}

// ingress is the port that packets of the link come by, from the network (ToHost) or from hosts.
func (p *linkState) ingress(to Direction) uint16 { return watch.IngressOf(p.number, to == ToNetwork) }

// of returns the collectors of all events in set.
func (in *eventCollectors) of(set event.Set) (collectors uint64) {
	for e := range in {
		if set.Has(event.Event(e)) {
			collectors |= in[e]
		}
	}
	return collectors
}

// noFlowEvent is the event of a packet that belongs to no flow, at most one per port
// and second: malformed or leak.
func (w *Worker) noFlowEvent(p *linkState, to Direction, e event.Event, now int64) event.Set {
	if w.eventCollectors[p.ingress(to)][e] == 0 {
		w.detector.Counters.Fired[e]++
		return 0
	}
	return w.detector.Limited(now, e, &p.limits.lastReported[e])
}
