// Run: packets of a burst that are reported alike; Together sends a run by report template
// to each of its collectors, and counts.

package reporting

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
	"intsink/flows"
)

// Run is packets of a burst that are reported alike but for the packet that is shown and for
// what their flows explain: of INT-MD, of one domain, for the same events, to the same
// collectors. Several are reported at once, so that each costs little more than copying it.
type Run struct {
	Set        event.Set
	Priority   event.Priority
	Collectors uint64       // bit i: collector i hears of it
	Info       *inthdr.Info // of the first packet
	InType     report.InType

	// Of the burst, by a packet's number there.
	Flows    *[mbuf.MaxBurst]*flows.Flow
	Hashes   *[mbuf.MaxBurst]uint64
	Triggers *[mbuf.MaxBurst]event.Trigger // of Set & event.Triggered

	// Of packet k, below N. Whoever gathers the packets fills it.
	N      int
	Inner  [mbuf.MaxBurst][]byte // as much of it as the report carries
	Number [mbuf.MaxBurst]uint8  // its own in the burst
}

// all has a bit for each packet.
func (p *Run) all() uint64 { return 1<<p.N - 1 }

// of is the number of packet k in the burst.
func (p *Run) of(k int) uint8 { return p.Number[k&(mbuf.MaxBurst-1)] & (mbuf.MaxBurst - 1) }

// entropy is that of packet k's flow.
func (p *Run) entropy(k int) uint16 { return uint16(p.Hashes[p.of(k)]) }

// shortest is the length of the shortest of Inner.
func (p *Run) shortest() int {
	least := len(p.Inner[0])
	for _, inner := range p.Inner[:p.N] {
		least = min(least, len(inner))
	}
	return least
}

// Together reports p by a template. False: there is none, and nothing is done.
func (x *Reporter) Together(p *Run, now int64) bool {
	t := x.template(p.Info, p.InType)
	if t == nil {
		return false
	}
	t.SetEvents(uint32(p.Set))
	sent, shed := uint64(0), uint64(0)
	for c := p.Collectors; c != 0; c &= c - 1 {
		o := &x.outboxes[bits.TrailingZeros64(c)]
		if o.limit.on {
			s, d := x.sendLimited(o, t, p, now)
			sent, shed = sent|s, shed|d
			addEvents(&o.counters.Shed, p.Set, bits.OnesCount64(d))
		} else {
			sent |= x.sendRun(o, t, p, now)
		}
	}
	x.count(p, sent, shed)
	return true
}

// count counts what came of a run: which packets some collector was sent a report of, and
// which some collector was not, for its budget.
func (x *Reporter) count(p *Run, sent, shed uint64) {
	addEvents(&x.counters.Reported, p.Set, bits.OnesCount64(sent))
	if lost := shed &^ sent; lost != 0 {
		addEvents(&x.counters.Shed, p.Set, bits.OnesCount64(lost))
		for ; lost != 0; lost &= lost - 1 {
			p.Flows[p.of(bits.TrailingZeros64(lost))].Cold().Shed++
		}
	}
	if p.Set.Has(event.Refresh) {
		n := uint32(bits.OnesCount64(shed))
		x.refreshes.shed += n
		x.refreshes.sent += uint32(p.N) - n
	}
}

// sendRun appends the run to the open report packet of o, sealing and opening packets as
// it must. It returns which of the run's reports were; the others are counted by reason.
func (x *Reporter) sendRun(o *outbox, t *report.Template, p *Run, now int64) (sent uint64) {
	sent = p.all()
	for k := 0; k < p.N; {
		fresh := !o.open.IsOpen()
		if fresh && !x.open(o, p, k, now) {
			sent &^= 1 << k
			k++
			continue
		}
		most := min(p.N-k, o.mayHold())
		n := x.appendEach(o, t, p, k, k+most)
		k += n
		switch {
		case n == most:
			o.sealIfFull(now)
		case o.open.Reports() > 0:
			o.seal(now)
		default:
			if !fresh && !x.open(o, p, k, now) || !x.sendCut(o, p, k, now) {
				sent &^= 1 << k
			}
			k++
		}
	}
	return sent
}

// open opens a report packet for packet k. False: there is no mbuf, which is counted.
func (x *Reporter) open(o *outbox, p *Run, k int, now int64) bool {
	if o.openPacket(x.rules.Format, p.entropy(k), now) {
		return true
	}
	o.counters.Dropped[DropNoMbuf]++
	return false
}

// sendOne appends the report of packet k. False: it is lost, counted by reason.
func (x *Reporter) sendOne(o *outbox, t *report.Template, p *Run, k int, now int64) bool {
	if o.open.IsOpen() {
		if x.appendEach(o, t, p, k, k+1) == 1 {
			o.sealIfFull(now)
			return true
		}
		o.seal(now)
	}
	if !x.open(o, p, k, now) {
		return false
	}
	if x.appendEach(o, t, p, k, k+1) == 0 {
		return x.sendCut(o, p, k, now)
	}
	o.sealIfFull(now)
	return true
}

// appendEach puts the reports of packets from to to-1 into the open report packet, as many
// as there is room for.
func (x *Reporter) appendEach(o *outbox, t *report.Template, p *Run, from, to int) (n int) {
	was, congested := o.open.Len(), p.Set.Has(event.Congestion)
	if to-from != 1 {
		n = o.open.AppendEach(t, congested, p.Inner[from:to])
	} else if o.open.AppendAs(t, congested, p.Inner[from&(mbuf.MaxBurst-1)]) {
		n = 1
	}
	o.counters.Reports += uint64(n)
	if n > 0 && t.Explained() != 0 {
		x.explainEach(o.open.Since(was), t, p, from, from+n)
	}
	return n
}

// sendCut reports packet k of the run where not even a new report packet, which is open, has
// room for all of its fragment.
//
//go:noinline
func (x *Reporter) sendCut(o *outbox, p *Run, k int, now int64) bool {
	j := p.of(k)
	s := Subject{Set: p.Set, Info: p.Info, Flow: p.Flows[j], Trigger: p.Triggers[j], InType: p.InType, Inner: p.Inner[k]}
	x.fill(&s)
	return o.addToNew(&x.individual, now)
}
