// Testimony: whether what is known of an episode is evidence enough to say who fills the queue.

package episode

import (
	"net/netip"
	"slices"

	"intsink/engine/wire/report"
)

// What an accusation needs, beside several sources: whoever sends packets writes their INT and their senders. enoughBytes are some
// ten full packets; fewer fill no queue.
const (
	enoughSources = 2
	enoughBytes   = 16 << 10
)

// Doubt says why r accuses nobody of filling the queue; "" where its flows with the most bytes do. Packets of several sources have
// to tell of it, with bytes that can fill a queue. And it has to last about as long as its longest packet waited: a queue does not
// drain sooner. A packet of somebody else that did not wait ends the burst, so a made-up one is short.
func (r *Record) Doubt() string { return r.doubt().String() }

func (r *Record) doubt() report.Doubt {
	who, least := &r.Victims, uint64(r.PeakLatency)/2
	if r.PeakLatency == 0 {
		who = &r.Culprits // nobody tells how long packets wait
	}
	switch {
	case r.Bytes-r.OtherBytes < enoughBytes:
		return report.FewBytes
	case who.sources(enoughSources, least) < enoughSources:
		return report.OneSource
	case r.Over() < r.leastOver():
		return report.TooShort
	}
	return report.NoDoubt
}

// leastOver is how long the queue has to have been over its threshold: half the time of the longest wait, or, of several bursts, an
// eighth of it each.
func (r *Record) leastOver() int64 {
	if r.Bursts > 1 {
		return int64(r.PeakLatency) / 8 * int64(r.Bursts)
	}
	return int64(r.PeakLatency) / 2
}

// sources is how many addresses the flows with such a sum or more come from, up to most of them.
func (t *Top) sources(most int, least uint64) int {
	seen := make([]netip.Addr, 0, 4)
	for i := 0; i < t.used && len(seen) < most; i++ {
		a := t.counters[i].Flow.SrcAddr()
		if t.sum(i) >= least && !slices.Contains(seen, a) {
			seen = append(seen, a)
		}
	}
	return len(seen)
}
