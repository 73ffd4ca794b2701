// Worker, and the order in which its stages take a burst.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/aside"
	"intsink/engine/aside/capture"
	"intsink/engine/aside/inspect"
	"intsink/engine/aside/passall"
	"intsink/engine/aside/recorder"
	"intsink/engine/aside/verify"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/reporting"
	"intsink/engine/stage/detect"
	"intsink/engine/stage/lookup"
	"intsink/engine/stage/match"
	"intsink/engine/stage/parse"
	"intsink/engine/stage/report"
	"intsink/engine/stage/strip"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/stage/transmit"
	"intsink/flows"
)

// Worker polls its queues and takes every burst through the stages. All its
// methods but Snapshot, Usual, Episodes, Reload, ReloadCollectors, Adopted, OddValues, PassAll, Beat and Stop belong to the goroutine that polls.
type Worker struct {
	Captures     *capture.Aside     // other goroutines hand captures to it,
	Questions    *inspect.Aside     // and questions;
	Verification *verify.Aside      // here is what it found last;
	Recorder     *recorder.Recorder // they read its packets

	links    []burst.Served
	clock    func() int64
	burst    *burst.Burst
	loop     *fast.Loop // nil: C cannot poll
	readings readings
	stages   stages
	table    *flows.Table
	detector *event.Detector
	reporter *reporting.Reporter
	stations []burst.Station
	rules    *Rules
	counters Counters
	pace     pace
	nextTick int64
	control  control
}

// stages take bursts, in the order in which toHost and toNetwork call them.
type stages struct {
	match    *match.Stage
	parse    *parse.Stage
	lookup   *lookup.Stage
	detect   *detect.Stage
	report   *report.Stage
	strip    *strip.Stage
	transmit *transmit.Stage
	fromHost *tonetwork.Stage
	passAll  *passall.Aside
	turns    aside.Turns
	captures *capture.Aside
	recorder *recorder.Recorder
	detector *event.Detector
	dropper  *aside.Dropper
	marks    *aside.Marks
}

// toHost takes a burst that l has received from the INT domain through all stages but transmit.
// Package fast does what needs no parser, for most packets everything; the others go through the
// stages behind match.
func (s *stages) toHost(l *burst.Served, b *burst.Burst) {
	b.Arrive(l, burst.ToHost)
	if s.turns.Due(b.Now) && s.due(b) {
		return
	}
	s.match.Do(b)
	s.afterMatch(b)
}

// afterMatch takes a burst through the stages behind match.
func (s *stages) afterMatch(b *burst.Burst) {
	if s.dropper.On {
		s.dropper.Select(b)
	}
	if s.captures.On() && s.captures.Select(b) {
		b.Aside = true
		s.turns.Join(s.captures)
	}
	if b.Fast.Unknown != 0 {
		s.parse.Do(b)
		s.tell(b)
	}
	n := b.Fast.Len()
	switch {
	case b.Aside:
		s.aside(b)
	case n > 0 && b.Watched:
		s.watch(b)
		s.strip.Do(b)
		s.tell(b)
	case n > 0:
		s.strip.Unwatched(b)
		s.tell(b)
		b.Fast.Clear() // no packet has a flow
	}
	s.turns.Count(n)
}

// watch looks up flows, detects events, records and reports them.
func (s *stages) watch(b *burst.Burst) {
	s.lookup.Do(b)
	s.detect.Do(b)
	if b.Reportable != 0 {
		s.recorder.Burst(b)
		s.report.Do(b)
	} else if s.detector.HasMet() {
		s.recorder.Burst(b)
	}
}

// tell reports what stages have left in the burst.
func (s *stages) tell(b *burst.Burst) {
	if b.HasLeft() {
		s.report.Left(b)
	}
}

// aside takes a burst through the stages behind parse that asides look at before its INT is
// taken out and after. All packets still have their INT. The detector sees them before rules drop
// them: the sink's own drops are no loss of the network.
//
//go:noinline
func (s *stages) aside(b *burst.Burst) {
	n := b.Fast.Len()
	if n > 0 && b.Watched {
		s.watch(b)
	}
	s.dropper.Drop(b)
	s.turns.Arrived(b)
	s.tell(b)
	switch {
	case n == 0:
	case b.Watched:
		s.strip.Do(b)
	default:
		s.strip.Unwatched(b)
	}
	s.tell(b)
	s.turns.Leaving(b)
}

// due does what is due for the burst at hand; true: it passes as it came.
//
//go:noinline
func (s *stages) due(b *burst.Burst) (passes bool) {
	if !s.passAll.On {
		b.Aside = s.turns.Want(b)
		return false
	}
	s.passAll.Do(b)
	if s.captures.Due(b, 0) {
		s.captures.Arrived(b)
		s.captures.Leaving(b)
	}
	return true
}

// sent counts v[:n] as forwarded; out has taken the first sent of them, and is offered the rest again.
func (s *stages) sent(b *burst.Burst, out burst.Queue, v *mbuf.Vec, n, sent int) {
	if sent < n {
		sent = s.retry(b, out, v, n, sent)
	}
	b.Link.Counters.Direction[b.Direction].Forwarded += uint64(sent)
}

// retry is sent for a burst that out has not taken whole. It returns how many have left.
//
//go:noinline
func (s *stages) retry(b *burst.Burst, out burst.Queue, v *mbuf.Vec, n, sent int) int {
	sent = s.transmit.Retry(b, out, v, n, sent)
	s.captures.Lost(b)
	s.tell(b)
	s.transmit.Free(b)
	return sent
}

// toNetwork takes a burst that l has received from its host through all stages.
func (s *stages) toNetwork(l *burst.Served, b *burst.Burst) {
	b.Arrive(l, burst.ToNetwork)
	captured := s.captures.Due(b, 0)
	if s.passAll.On {
		s.passAll.Do(b)
	} else {
		s.fromHost.Do(b)
	}
	if captured {
		s.captures.Arrived(b)
	}
	s.tell(b)
	if b.Change != 0 {
		s.fromHost.Change(b)
		s.tell(b)
	}
	if captured {
		s.captures.Leaving(b)
	}
	v, n := s.transmit.Gather(b)
	s.sent(b, l.Network, v, n, l.Network.TxBurst(v, n))
}
