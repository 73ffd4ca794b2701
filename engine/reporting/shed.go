// What a budget sheds: whether it admits a report before any of it is built, counts what it
// refuses, makes refreshes rarer where it refuses.

package reporting

import (
	"math"
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// admits spends the cost of r and reports whether r may be added. A report that add has to cut
// costs a full packet.
func (o *outbox) admits(f report.Format, r *report.Individual, p event.Priority, now int64) bool {
	opens, n := false, 0
	if o.open.Reports() > 0 {
		n = o.open.Growth(r)
	}
	if n == 0 {
		opens = true
		if n = report.Alone(f, r, o.maxPayload-o.head); n == 0 {
			n = o.maxPayload - o.head
		}
		n += o.head + o.limit.headers
	}
	return o.limit.take(p, opens, n*8, now)
}

// admitsAs does as admits for a report by template t that shows n bytes of a packet, before
// any part of it is built.
func (o *outbox) admitsAs(t *report.Template, n int, p event.Priority, now int64) bool {
	opens, size := false, 0
	if o.open.Reports() > 0 {
		size = o.open.GrowthAs(t, n)
	}
	if size == 0 {
		opens = true
		if size = t.Alone(n, o.maxPayload-o.head); size == 0 {
			size = o.maxPayload - o.head
		}
		size += o.head + o.limit.headers
	}
	return o.limit.take(p, opens, size*8, now)
}

// RefusedUntil returns the time before which no collector takes a report of priority p, however short it
// is, if none is sent any other report meanwhile: then the caller has only to call Shed. It is
// asked before the packet is looked at.
func (x *Reporter) RefusedUntil(collectors uint64, p event.Priority) int64 {
	if collectors == 0 {
		return math.MinInt64
	}
	until := int64(math.MaxInt64)
	for c := collectors; c != 0; c &= c - 1 {
		o := &x.outboxes[bits.TrailingZeros64(c)]
		if !o.limit.on {
			return math.MinInt64
		}
		until = min(until, o.limit.refusedUntil(p, o.open.Reports() == 0))
	}
	return until
}

// Shed counts reports of the events in set at a time before RefusedUntil. Each bit j that is set in
// which is one report about a packet of flow of[j].
func (x *Reporter) Shed(set event.Set, collectors uint64, p event.Priority, of *[mbuf.MaxBurst]*flows.Flow, which uint64, now int64) {
	n := bits.OnesCount64(which)
	addEvents(&x.counters.Shed, set, n)
	for c := collectors; c != 0; c &= c - 1 {
		o := &x.outboxes[bits.TrailingZeros64(c)]
		addEvents(&o.counters.Shed, set, n)
		o.limit.bucket.shed(p, now)
	}
	for ; which != 0; which &= which - 1 {
		of[bits.TrailingZeros64(which)&(mbuf.MaxBurst-1)].Cold().Shed++
	}
	if set.Has(event.Refresh) {
		x.refreshes.shed += uint32(n)
	}
}

// sendLimited does as sendRun for a collector with a budget; shed are the reports that the
// budget does not allow. now is the same for the whole run, and a refusal spends nothing: so a
// report at least as long as a refused one is refused without asking, until one is sent.
func (x *Reporter) sendLimited(o *outbox, t *report.Template, p *Run, now int64) (sent, shed uint64) {
	const none = 1 << 32
	refused := none // how many bytes of its packet the shortest refused report shows
	for k, inner := range p.Inner[:p.N] {
		n := len(inner)
		if n < refused && o.admitsAs(t, n, p.Priority, now) {
			refused = none
			if x.sendOne(o, t, p, k, now) {
				sent |= 1 << k
			}
			continue
		}
		refused = min(refused, n)
		if refused == p.shortest() {
			return sent, shed | p.all()>>k<<k
		}
		shed |= 1 << k
	}
	return sent, shed
}

// stretch lengthens the time between refreshes while budgets shed them, up to
// maxStretch, and shortens it again when none is shed.
type stretch struct {
	sent, shed uint32 // refreshes since the last step
	next       int64
}

const (
	stretchStep = 1e9  // nanoseconds
	maxStretch  = 1500 // percent of the configured time
)

// step returns the next factor, once a second, else factor. It grows by up to a quarter, in
// proportion to the share of refreshes that is shed: no faster, because a flow takes the new
// factor over only when it is refreshed. It falls by a sixteenth of its part above one.
func (s *stretch) step(factor uint32, now int64) uint32 {
	if now < s.next {
		return factor
	}
	if s.shed > 0 {
		share := uint64(factor) * uint64(s.shed) / (uint64(s.sent) + uint64(s.shed))
		factor = min(factor+uint32(share/4)+6, maxStretch)
	} else {
		factor -= (factor - event.NoStretch + 15) / 16
	}
	*s = stretch{next: now + stretchStep}
	return factor
}

// note counts a report with a refresh; lost says that some collector was not sent it.
func (s *stretch) note(lost bool) {
	if lost {
		s.shed++
	} else {
		s.sent++
	}
}
