package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
)

// run is packets of a burst that are reported alike but for their inner contents: of
// INT-MD, of one watch and domain, for the same events. Several are reported at once, so
// that each costs little more than copying it.
type run struct {
	set    event.Set
	info   *inthdr.Info // of the first
	inType report.InType
	n      int
	inner  [mbuf.MaxBurst][]byte // inner[:n]
	hash   [mbuf.MaxBurst]uint8  // packet k's flow has hashes[hash[k]]
	hashes *[mbuf.MaxBurst]uint64
}

// entropy is that of packet k's flow.
func (p *run) entropy(k int) uint16 { return uint16(p.hashes[p.hash[k]&(mbuf.MaxBurst-1)]) }

// hasTemplate reports whether packets with this INT can be reported by the template, and
// makes it that of their domain: the metadata, which are the sink's own, are the same.
func (x *reporter) hasTemplate(info *inthdr.Info) bool {
	return !x.template.IsNone() && x.domain == info.DomainID || x.makeTemplate(info)
}

//go:noinline
func (x *reporter) makeTemplate(info *inthdr.Info) bool {
	x.fillMain(&subject{info: info})
	x.individual.Dropped = false
	x.domain = info.DomainID
	return x.template.Make(&x.individual)
}

// together reports p by the template, to collectors outside perReport.
func (x *reporter) together(p *run, collectors uint64, now int64) {
	v, none := report.VariantOf(p.inType, p.set.Has(event.Congestion)), ^uint64(0)
	for ; collectors != 0; collectors &= collectors - 1 {
		none &= x.sendRun(&x.outboxes[bits.TrailingZeros64(collectors)], p, v, now)
	}
	addEvents(&x.counters.Reported, p.set, p.n-bits.OnesCount64(none&(1<<p.n-1)))
	if p.set.Has(event.Refresh) {
		x.refreshes.sent += uint32(p.n)
	}
}

// sendRun appends the run to the open report packet of o, sealing and opening packets as
// it must. It returns which of the run's reports were lost, counted by reason.
func (x *reporter) sendRun(o *outbox, p *run, v report.Variant, now int64) (lost uint64) {
	for k, fresh := 0, false; ; {
		n := o.open.AppendEach(&x.template, v, p.inner[k:min(p.n, k+o.mayHold())])
		o.counters.Reports += uint64(n)
		k += n
		switch {
		case k >= p.n:
			o.sealIfFull(now)
			return lost
		case n == 0 && fresh:
			if !x.sendCut(o, p, k, now) {
				lost |= 1 << k
			}
			k++
			fresh = false
		default:
			if o.open.IsOpen() {
				o.seal(now)
			}
			if fresh = o.openPacket(report.Format20, p.entropy(k), now); !fresh {
				o.counters.Dropped[ReportDropNoMbuf]++
				lost |= 1 << k
				k++
			}
		}
	}
}

// sendCut reports packet k of the run where not even a new report packet has room for all
// of its fragment.
//
//go:noinline
func (x *reporter) sendCut(o *outbox, p *run, k int, now int64) bool {
	x.fillMain(&subject{info: p.info})
	r := &x.individual
	r.InType, r.Inner = p.inType, p.inner[k]
	r.Dropped, r.CongestedQueue, r.TrackedFlow = false, p.set.Has(event.Congestion), true
	return o.addNew(report.Format20, r, p.entropy(k), now)
}
