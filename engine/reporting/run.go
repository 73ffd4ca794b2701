// Run: packets reported alike by a template, many at once.

package reporting

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
)

// Run is packets of a burst that are reported alike but for their inner contents: of
// INT-MD, of one watch and domain, for the same events. Several are reported at once, so
// that each costs little more than copying it.
type Run struct {
	set    event.Set
	info   *inthdr.Info // of the first
	inType report.InType
	n      int
	inner  [mbuf.MaxBurst][]byte // inner[:n]
	hash   [mbuf.MaxBurst]uint8  // packet k's flow has hashes[hash[k]]
	hashes *[mbuf.MaxBurst]uint64
}

// Begin makes p empty, of packets that are reported for set; info is that of the first, and
// hashes those of the burst's flows.
func (p *Run) Begin(set event.Set, info *inthdr.Info, hashes *[mbuf.MaxBurst]uint64) {
	p.n, p.set, p.info, p.hashes = 0, set, info, hashes
}

// Add puts a packet into p, whose flow has the hash at j of the burst's.
func (p *Run) Add(t report.InType, j int, inner []byte) {
	n := p.n & (mbuf.MaxBurst - 1)
	p.inType = t
	p.inner[n], p.hash[n] = inner, uint8(j)
	p.n++
}

// Len is how many packets are in p.
func (p *Run) Len() int { return p.n }

// InType is what the inner contents of packets in p are.
func (p *Run) InType() report.InType { return p.inType }

// entropy is that of packet k's flow.
func (p *Run) entropy(k int) uint16 { return uint16(p.hashes[p.hash[k]&(mbuf.MaxBurst-1)]) }

// TakesRun reports whether packets with this INT can be reported to collectors by the
// template, and makes it that of their domain: the metadata, which are the sink's own, are the
// same.
func (x *Reporter) TakesRun(info *inthdr.Info, collectors uint64) bool {
	return info.Type == inthdr.MD && collectors&x.perReport == 0 &&
		(!x.template.IsNone() && x.domain == info.DomainID || x.makeTemplate(info))
}

//go:noinline
func (x *Reporter) makeTemplate(info *inthdr.Info) bool {
	x.fillMain(&Subject{Info: info})
	x.individual.Dropped = false
	x.domain = info.DomainID
	return x.template.Make(&x.individual)
}

// Together reports p by the template, to collectors outside perReport.
func (x *Reporter) Together(p *Run, collectors uint64, now int64) {
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
func (x *Reporter) sendRun(o *outbox, p *Run, v report.Variant, now int64) (lost uint64) {
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
				o.counters.Dropped[DropNoMbuf]++
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
func (x *Reporter) sendCut(o *outbox, p *Run, k int, now int64) bool {
	x.fillMain(&Subject{Info: p.info})
	r := &x.individual
	r.InType, r.Inner = p.inType, p.inner[k]
	r.Dropped, r.CongestedQueue, r.TrackedFlow = false, p.set.Has(event.Congestion), true
	return o.addNew(report.Format20, r, p.entropy(k), now)
}
