package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
)

// gather makes the first packet of left, and those after it that are reported alike, the
// run, and returns the others. The run is empty where the fragment of the first packet
// goes beyond its first buffer.
func (w *Worker) gather(b *burst, left uint64) (rest uint64) {
	r, j := &w.run, bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)
	first := &b.info[b.places[j]&(mbuf.MaxBurst-1)]
	r.n, r.set, r.info, r.hashes = 0, b.events[j], first, &b.hashes
	alike := shared{set: r.set, watch: b.watch[j], domain: first.DomainID}
	if first.UDPv4 {
		return r.gatherUDPv4(&w.rules.Report, b, alike, left)
	}
	for ; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
		i := b.places[j] & (mbuf.MaxBurst - 1)
		t, from, to := w.fragmentOf(b, i)
		f := b.vec[i].Bytes()
		if r.n > 0 && t != r.inType || to > len(f) || !alike.has(b, j, &b.info[i]) {
			break
		}
		r.inType = t
		r.add(j, f[from:to:to])
	}
	return left
}

// gatherUDPv4 is gather of UDPv4 packets: fragmentOf, but that what is the same for all is
// asked once.
func (r *run) gatherUDPv4(rules *ReportRules, b *burst, alike shared, left uint64) (rest uint64) {
	from, to := uint(udpv4L3), uint(udpv4L3+rules.Fragment)
	r.inType = report.IPv4
	if rules.Ethernet {
		from, to, r.inType = 0, uint(rules.Fragment), report.Ethernet
	}
	if rules.Fragment == 0 {
		from, to, r.inType = 0, 0, report.None
	}
	vec, n := b.vec, 0
	_ = vec[0] // not nil, which is asked once then
	for ; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
		i := b.places[j] & (mbuf.MaxBurst - 1)
		info := b.header[j] // in full, as of every packet that is reported
		if !info.UDPv4 || !alike.has(b, j, info) {
			break
		}
		f := vec[i].Bytes()
		end := min(uint(info.Size+info.Removed), to)
		if end > uint(len(f)) {
			break
		}
		r.inner[n&(mbuf.MaxBurst-1)], r.hash[n&(mbuf.MaxBurst-1)] = f[from:end:end], uint8(j)
		n++
	}
	r.n = n
	return left
}

// shared is what the packets of a run have in common.
type shared struct {
	set    event.Set
	watch  uint8
	domain uint16
}

// has reports whether INT packet j of b, with that INT, belongs to the run.
func (s shared) has(b *burst, j int, info *inthdr.Info) bool {
	j &= mbuf.MaxBurst - 1
	return info.Type == inthdr.MD && info.DomainID == s.domain && b.watch[j] == s.watch && b.events[j] == s.set
}

func (r *run) add(j int, inner []byte) {
	n := r.n & (mbuf.MaxBurst - 1)
	r.inner[n], r.hash[n] = inner, uint8(j)
	r.n++
}
