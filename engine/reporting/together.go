// Run: packets of a burst that are reported alike; Together sends a run by report template
// to each of its collectors, and counts.

package reporting

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// Run is a group of packets of a burst whose reports differ only in the packet that is shown and
// in the Explanation: all have INT-MD of one domain, and are reported for the same events to the
// same collectors. They are reported at once, so that each costs little more than a copy.
type Run struct {
	Set        event.Set
	Priority   event.Priority
	Collectors uint64       // bit i: collector i gets a report
	Info       *inthdr.Info // of the first packet
	InType     report.InType

	// Values of the burst, indexed by a packet's number there.
	Flows    *[mbuf.MaxBurst]*flows.Flow
	Hashes   *[mbuf.MaxBurst]uint64
	Triggers *[mbuf.MaxBurst]event.Trigger // of Set & event.Triggered

	// Values of packet k of the run, k < N, set by the caller that gathers the packets.
	N      int
	Inner  [mbuf.MaxBurst][]byte // the bytes of it that the report shows
	Number [mbuf.MaxBurst]uint8  // its number in the burst
	INTEnd [mbuf.MaxBurst]uint16 // as Subject.INTEnd
	Cuts   uint64                // bit k: that fragment ends inside of INT
}

// all returns a set with a bit for each packet of the run.
func (p *Run) all() uint64 { return 1<<p.N - 1 }

// of returns the number of packet k in the burst.
func (p *Run) of(k int) uint8 { return p.Number[k&(mbuf.MaxBurst-1)] & (mbuf.MaxBurst - 1) }

// entropy returns the entropy of packet k's flow.
func (p *Run) entropy(k int) uint16 { return uint16(p.Hashes[p.of(k)]) }

// shortest returns the length of the shortest Inner.
func (p *Run) shortest() int {
	least := len(p.Inner[0])
	for _, inner := range p.Inner[:p.N] {
		least = min(least, len(inner))
	}
	return least
}

// Together reports p by a template. It returns false, and does nothing, if there is none.
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

// count counts the reports of a run. A bit of sent: at least one collector was sent a report of
// that packet. A bit of shed: the budget of at least one collector did not allow it.
func (x *Reporter) count(p *Run, sent, shed uint64) {
	addEvents(&x.counters.Reported, p.Set, bits.OnesCount64(sent))
	x.counters.News[p.Set.News()] += uint64(bits.OnesCount64(sent))
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

// sendRun appends the reports of the run to the open report packet of o; it seals and opens
// packets as needed. It returns which were appended, and counts the others by reason.
func (x *Reporter) sendRun(o *outbox, t *report.Template, p *Run, now int64) (sent uint64) {
	sent = p.all()
	for k := 0; k < p.N; {
		if !o.open.IsOpen() && !x.open(o, p, k, now) {
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
			if !x.sendCut(o, p, k, now) {
				sent &^= 1 << k
			}
			k++
		}
	}
	return sent
}

// open opens a report packet for packet k. It returns false, and counts it, if there is no mbuf.
func (x *Reporter) open(o *outbox, p *Run, k int, now int64) bool {
	if o.openPacket(x.rules.Format, p.entropy(k), now) {
		return true
	}
	o.counters.Dropped[DropNoMbuf]++
	return false
}

// sendOne appends the report of packet k. It returns false if the report is lost, which it
// counts by reason.
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

// appendEach puts the reports of packets from to to-1 into the open report packet, as many as
// fit, and returns how many did.
func (x *Reporter) appendEach(o *outbox, t *report.Template, p *Run, from, to int) (n int) {
	was, congested := o.open.Len(), p.Set.Has(event.Congestion)
	if to-from != 1 {
		n = o.open.AppendEach(t, congested, p.Inner[from:to])
	} else if o.open.AppendAs(t, congested, p.Inner[from&(mbuf.MaxBurst-1)]) {
		n = 1
	}
	o.counters.Reports += uint64(n)
	if p.Cuts != 0 {
		o.counters.Cut += uint64(bits.OnesCount64(p.Cuts >> from & (1<<n - 1)))
	}
	if n > 0 && t.Explained() != 0 {
		x.explainEach(o.open.Since(was), t, p, from, from+n)
	}
	return n
}

// sendCut reports packet k with a shorter fragment: even the new, open report packet has no
// room for the whole one.
//
//go:noinline
func (x *Reporter) sendCut(o *outbox, p *Run, k int, now int64) bool {
	j := p.of(k)
	s := Subject{Set: p.Set, Info: p.Info, Flow: p.Flows[j], Trigger: p.Triggers[j], InType: p.InType, Inner: p.Inner[k], INTEnd: int(p.INTEnd[k&(mbuf.MaxBurst-1)])}
	x.fill(&s)
	return o.addToNew(&x.individual, now)
}
