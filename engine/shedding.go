// Shedding: samples that no collector takes are shed where package fast takes them, without a look at
// them here; how many there were.

package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/fast"
)

// shedding are the watches some of whose samples were refused when they were last reported.
type shedding struct {
	any     bool
	watches [event.MaxPolicies / 64]uint64
	opened  [event.MaxPolicies]uint64 // Reporter.Opened at that time
}

func (s *shedding) add(watch uint8) {
	s.any = true
	s.watches[watch/64] |= 1 << (watch % 64)
}

// each calls f with each of the watches, and takes those out for which it returns false.
func (s *shedding) each(f func(watch int) bool) {
	s.any = false
	for i := range s.watches {
		for left := s.watches[i]; left != 0; left &= left - 1 {
			if f(i*64 + bits.TrailingZeros64(left)) {
				s.any = true
			} else {
				s.watches[i] &^= left & -left
			}
		}
	}
}

// shedAhead tells package fast until when samples of a watch are refused. It is asked again before each
// burst, or call that polls, since whatever is reported in between may change that. A sample is let through now and then for
// sampleLatencies, and all are while somebody reads the feed.
//
//go:noinline
func (w *Worker) shedAhead(now int64) {
	w.shedding.each(func(watch int) bool {
		collectors, s := w.rules.Watches[watch].Collectors, w.detector.Shed(watch)
		until := w.reporter.RefusedUntil(collectors, event.PrioritySample)
		if s.Any = now < until; !s.Any {
			if w.shedding.opened[watch] != w.reporter.Opened(collectors) {
				s.Templates = 0
			}
			until = w.reporter.NoneOpensUntil(collectors, event.PrioritySample)
		}
		refused := w.detector.Stretch == event.NoStretch && now < until && (s.Any || s.Templates != 0)
		if s.Until = min(until, w.nextLatencies); !refused || w.queries.feed.On() {
			s.Until = 0
		}
		return refused
	})
}

// learnRefused has samples shed ahead that are like those of the run that found no room: of the same header
// templates, and as long, as far as a report shows it.
//
//go:noinline
func (w *Worker) learnRefused(b *burst) {
	r, watch := &w.scratch.run, b.cause[w.scratch.run.Number[0]&(mbuf.MaxBurst-1)].watch()
	s, opened := w.detector.Shed(int(watch)), w.reporter.Opened(r.Collectors)
	if w.shedding.opened[watch] != opened || s.Templates == 0 {
		w.shedding.opened[watch], s.Templates, s.Length = opened, 0, 0
	}
	for left := r.Refused; left != 0; left &= left - 1 {
		j := r.Number[bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)] & (mbuf.MaxBurst - 1)
		if at := b.fast.Template[j]; at != fast.None {
			shape := w.shapeOf(b, j)
			s.Templates |= 1 << at
			s.Length = max(s.Length, uint32(min(b.vec[b.fast.At[j]&(mbuf.MaxBurst-1)].PktLen(), shape.most)))
		}
	}
	w.shedding.add(watch)
}

// countShed counts the samples that package fast has shed in a call.
//
//go:noinline
func (w *Worker) countShed() {
	w.shedding.each(func(watch int) bool {
		if n := w.detector.TakeShed(watch); n > 0 {
			w.reporter.ShedSamples(w.rules.Watches[watch].Collectors, int(n))
		}
		return true
	})
}
