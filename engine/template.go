package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
)

// perReportCollectors are those whose reports a template does not serve: they have a
// budget that looks at each, an explanation, or a format of their own.
func (w *Worker) perReportCollectors() (set uint64) {
	for c := range w.outboxes {
		if w.outboxes[c].limit.on || w.rules.Report.Explain || w.rules.Report.Format != report.Format20 {
			set |= 1 << c
		}
	}
	return set
}

// hasTemplate makes the template of the reports of INT-MD packets of a burst and a
// domain: their metadata, which are the sink's own, are the same.
func (w *Worker) hasTemplate(info *inthdr.Info) bool {
	return !w.template.IsNone() && w.templateOf == info.DomainID || w.makeTemplate(info)
}

//go:noinline
func (w *Worker) makeTemplate(info *inthdr.Info) bool {
	w.fillMain(&w.individual, info, nil, 0)
	w.individual.Dropped = false
	w.templateOf = info.DomainID
	return w.template.Make(&w.individual)
}

// reportRun is packets of a burst that are reported alike but for their inner contents:
// of INT-MD, of one watch and domain, for the same events. Several are reported at once,
// so that each costs little more than copying it.
type reportRun struct {
	set    event.Set
	watch  uint8
	domain uint16
	t      report.InType
	n      int
	inner  [mbuf.MaxBurst][]byte // inner[:n]
	of     [mbuf.MaxBurst]uint8  // of[:n] are their places among the INT packets of the burst
}

// reportTogether is sendReport by the template, of the first packet of left and of those
// after it that are reported alike, to collectors outside perReport. It returns what
// of left is not reported yet.
func (w *Worker) reportTogether(b *burst, left, collectors uint64) (rest uint64) {
	r := &w.run
	rest = r.gather(w, b, left)
	v, none := report.VariantOf(r.t, r.set.Has(event.Congestion)), ^uint64(0)
	for ; collectors != 0; collectors &= collectors - 1 {
		none &= w.sendRun(&w.outboxes[bits.TrailingZeros64(collectors)], b, v)
	}
	sent := r.n - bits.OnesCount64(none&(1<<r.n-1))
	for set := r.set; set != 0; set &= set - 1 {
		w.counters.Reported[event.Event(bits.TrailingZeros32(uint32(set)))%event.NumEvents] += uint64(sent)
	}
	if r.set.Has(event.Refresh) {
		w.refreshes.sent += uint32(r.n)
	}
	return rest
}

// gather makes the first packet of left, and those after it that are reported alike, the
// run, and returns the others.
func (r *reportRun) gather(w *Worker, b *burst, left uint64) (rest uint64) {
	j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
	r.n, r.set, r.watch, r.domain = 0, b.events[j], b.watch[j], w.templateOf
	if b.info[b.places[j]&(mbuf.MaxBurst-1)].UDPv4 {
		return r.gatherUDPv4(&w.rules.Report, b, left)
	}
	for ; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
		i := b.places[j] & (mbuf.MaxBurst - 1)
		t, inner := w.innerOf(b, i)
		if r.n > 0 && t != r.t || !r.alike(b, j, &b.info[i]) {
			break
		}
		r.t = t
		r.add(j, inner)
	}
	return left
}

// gatherUDPv4 is gather of UDPv4 packets: innerOf, but that what is the same for all is
// asked once.
func (r *reportRun) gatherUDPv4(rules *ReportRules, b *burst, left uint64) (rest uint64) {
	from, to := uint(udpv4L3), uint(udpv4L3+rules.Fragment)
	r.t = report.IPv4
	if rules.Ethernet {
		from, to, r.t = 0, uint(rules.Fragment), report.Ethernet
	}
	if rules.Fragment == 0 {
		from, to, r.t = 0, 0, report.None
	}
	vec, n := b.vec, 0
	_ = vec[0] // not nil, which is asked once then
	for ; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
		i := b.places[j] & (mbuf.MaxBurst - 1)
		info := b.header[j] // in full, as of every packet that is reported
		if !info.UDPv4 || !r.alike(b, j, info) {
			break
		}
		f := vec[i].Bytes()
		end := min(uint(info.Size+info.Removed), uint(len(f)))
		if end > to {
			end = to
		}
		r.inner[n&(mbuf.MaxBurst-1)], r.of[n&(mbuf.MaxBurst-1)] = f[from:end:end], uint8(j)
		n++
	}
	r.n = n
	return left
}

// alike tells whether INT packet j of b is reported as those of the run.
func (r *reportRun) alike(b *burst, j int, info *inthdr.Info) bool {
	j &= mbuf.MaxBurst - 1
	return info.Type == inthdr.MD && info.DomainID == r.domain && b.watch[j] == r.watch && b.events[j] == r.set
}

func (r *reportRun) add(j int, inner []byte) {
	n := r.n & (mbuf.MaxBurst - 1)
	r.inner[n], r.of[n] = inner, uint8(j)
	r.n++
}

// sendRun appends the run to the open report packet of o, sealing and opening packets as
// it must. It returns which of the run's reports were lost, counted by reason.
func (w *Worker) sendRun(o *outbox, b *burst, v report.Variant) (lost uint64) {
	r := &w.run
	for k, fresh := 0, false; ; {
		n := o.open.AppendEach(&w.template, v, r.inner[k:min(r.n, k+o.mayHold())])
		o.counters.Reports += uint64(n)
		k += n
		switch {
		case k >= r.n:
			o.sealIfFull(b.now)
			return lost
		case n == 0 && fresh:
			if !w.sendCut(o, b, k) {
				lost |= 1 << k
			}
			k++
			fresh = false
		default:
			if o.open.IsOpen() {
				o.seal(b.now)
			}
			if fresh = o.openPacket(report.Format20, uint16(b.hashes[r.of[k]&(mbuf.MaxBurst-1)]), b.now); !fresh {
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
func (w *Worker) sendCut(o *outbox, b *burst, k int) bool {
	j := w.run.of[k]
	r := &w.individual
	w.fillMain(r, &b.info[b.places[j]], nil, 0)
	r.InType, r.Inner = w.run.t, w.run.inner[k]
	r.Dropped, r.CongestedQueue, r.TrackedFlow = false, w.run.set.Has(event.Congestion), true
	return o.addNew(report.Format20, r, uint16(b.hashes[j]), b.now)
}
