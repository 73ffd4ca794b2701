// Package detect completes what is known of each deferred packet, asks the event detector which
// events fired, takes samples, counts malformed contents.
package detect

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside/inspect"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// Rules are what a reload changes of the stage.
type Rules struct {
	Watches  *watch.Watches // compiled
	Events   []event.Set    // of each watch
	Policies []event.Policy // of each watch
	Models   *event.CompiledModels
}

// Stage is the stage of one worker.
type Stage struct {
	rules       Rules
	detector    *event.Detector
	paths       *inspect.Paths
	facts       *watch.Facts       // of the packet at hand
	observation *event.Observation // detectOne
	sample      int                // which INT packet of the burst is the next sample, or the first one behind it
	marked      everySo            // draws the marked packets that are counted in queues
	blind       blind
	odd         OddValues
	taken       [watch.None + 1]uint64 // new flows, by the watch that took them
}

// New makes the stage of a worker; Adopt gives it its rules. Paths learns each path that a flow
// takes; seed keys the hash of facts.
func New(detector *event.Detector, paths *inspect.Paths, seed uint64) *Stage {
	return &Stage{detector: detector, paths: paths, facts: watch.NewFacts(seed), observation: detector.Observation()}
}

// OddValues are the nodes that wrote values that cannot be. Safe from any goroutine.
func (s *Stage) OddValues() *OddValues { return &s.odd }

// Adopt makes r the rules of the stage.
func (s *Stage) Adopt(r Rules) { s.rules = r }

// Taken are the new flows so far, by the watch that took them; those that none took are the last.
func (s *Stage) Taken() *[watch.None + 1]uint64 { return &s.taken }

// Begin makes b one of the next generation of rules, which are suspended or not: each flow is matched
// against the new watches when its next packet comes.
func (s *Stage) Begin(b *burst.Burst, suspended bool) {
	b.Generation++
	if s.blind.adopt(suspended, b.Generation) {
		b.Generation++ // what is matched by these rules is never taken for matched before them
	}
}

// Do asks of every INT packet that package fast has deferred whether it is worth a
// report. All others gave no event, and have lost their INT; but for samples, and those in an episode.
func (s *Stage) Do(b *burst.Burst) {
	others, taken, marked := 0, uint64(0), uint64(0)
	f := b.Fast
	s.detector.EndBusy()
	if n := f.Len(); n > 0 {
		s.sample = int(s.detector.Samples.From()-1) % n
	}
	if f.Tallied != 0 {
		s.tallied(b)
	}
	for _, j := range f.Deferred() {
		if before := f.Samples & (1<<j - 1) &^ taken; before != 0 { // those in front of packet j come first
			taken |= before
			s.passed(b, before)
		}
		if flow := f.Flows[j]; flow != nil {
			flow.Release()
		}
		b.Keeps |= 1 << j
		b.Complete(j)
		info := &b.Info[f.At[j]]
		if s.rules.Watches.Asks() {
			s.factsChanged(b, int(j))
		}
		if info.Type != inthdr.MD {
			b.Link.Counters.INT[info.Type]++
			others++
		}
		marked |= countOfLink(b, j)
		if s.detectOne(b, int(j)) {
			b.Reportable |= 1 << j
		}
		if int(j) >= s.sample && f.Flows[j] != nil {
			s.detector.Samples.Skip() // packet j was to be the next sample: none behind it is, as package fast has it
		}
	}
	if rest := f.Samples &^ taken; rest != 0 {
		s.passed(b, rest)
	}
	b.Keeps |= f.Kept
	if f.Types.Marked() != 0 {
		marked |= f.Kept
	}
	if marked != 0 {
		s.countMarked(b, marked)
	}
	b.CountINT(others)
	b.Link.Counters.Malformed[0] = 0 // no reason
	if len(f.Deferred()) > 0 {
		s.detector.Samples.Skip()
		s.detector.EndRun(b.Now)
	} else if f.Samples|f.Tallied != 0 {
		s.detector.EndRun(b.Now)
	}
	s.detector.Samples.Count(b.Now, f.Len())
}

// tallied takes up the packets that package fast has added to what it knows of full queues.
//
//go:noinline
func (s *Stage) tallied(b *burst.Burst) {
	f, which := b.Fast, b.Fast.TalliedFlows()
	s.detector.Tallied(f.Drawn(), &f.Flows, &f.Keys, which, &f.Records)
	if s.detector.View().Records == 0 {
		return // they are gone
	}
	b.Keeps |= which
	for ; which != 0; which &= which - 1 {
		j := bits.TrailingZeros64(which) & (mbuf.MaxBurst - 1)
		b.Cause[j] = burst.CauseOf(0, f.Flows[j].Watch, false)
	}
}

// passed does what is left to do for packets that package fast has passed, but kept: in order.
//
//go:noinline
func (s *Stage) passed(b *burst.Burst, which uint64) {
	b.Keeps |= which
	s.observation.Info = nil
	if b.Doomed != 0 {
		which &^= b.DoomedOf(which) &^ b.Fast.Met
	}
	for which != 0 {
		met := which & b.Fast.Met
		samples := which &^ met
		if first := samples & (met&-met - 1); first != 0 {
			s.takeSamples(b, first)
			which &^= first
			continue
		}
		for met &= samples&-samples - 1; met != 0; met &= met - 1 {
			j := bits.TrailingZeros64(met) & (mbuf.MaxBurst - 1)
			s.meet(b, j)
			which &^= 1 << j
		}
	}
}

// meet counts packet j, which gives no other event, in the episodes of the queues that it has crossed.
func (s *Stage) meet(b *burst.Burst, j int) {
	m, info, flow := b.Vec[b.Fast.At[j]], b.Fast.Info(b.Fast.Template[j]), b.Fast.Flows[j]
	o := s.observation
	if o.Number = uint8(j); o.Info == info { // as the one before, in all but its bytes
		o.Frame = m.Bytes()
	} else {
		s.observe(b, m.Bytes(), info)
	}
	set := s.detector.Meet(b.Now, flow, m.PktLen()-int(info.Removed), o, event.FullHops(b.Fast.FullHops[j]))
	b.Cause[j], b.Trigger[j] = burst.CauseOf(set, flow.Watch, s.detector.Edge), s.detector.Trigger
	if set != 0 {
		b.Reportable |= 1 << j
	}
}

// takeSamples makes samples reportable: packets that give no event else.
//
//go:noinline
func (s *Stage) takeSamples(b *burst.Burst, which uint64) {
	for left := which; left != 0; {
		watch, of := s.detector.ReportedSamples(b.Now, &b.Fast.Flows, &b.Fast.Hashes, left)
		left &^= of
		for c := burst.CauseOf(event.Sample.Set(), watch, false); of != 0; of &= of - 1 {
			b.Cause[bits.TrailingZeros64(of)&(mbuf.MaxBurst-1)] = c
		}
	}
	b.Reportable |= which
}

// detectOne handles a packet that is not like the one before it, and reports whether it has
// events.
//
//go:noinline
func (s *Stage) detectOne(b *burst.Burst, j int) bool {
	i := b.Fast.At[j]
	info, flow := &b.Info[i], b.Fast.Flows[j]
	b.Link.Counters.CountReason(info)
	b.Link.Counters.CountFlags(info)
	f := b.Vec[i].Bytes()
	if flow == nil { // no room, in a flood or in a burst
		if s.detector.AsksOthers() {
			s.observe(b, f, info)
			s.detector.CountOther(&b.Fast.Keys[j], s.observation)
		}
		return false
	}
	if !info.Copy {
		flow.Count(info.Size)
	}
	fresh := b.Fresh>>j&1 != 0
	if fresh || flow.Generation != b.Generation {
		if !fresh && s.blind.missed(flow.Generation) {
			flow.MissedPackets()
		}
		flow.Generation = b.Generation
		if flow.Watch = s.matchWatch(b, j); fresh {
			s.taken[flow.Watch]++
		} else {
			s.detector.Rematch(b.Now, flow)
		}
	}
	if flow.Watch == watch.None {
		return false
	}
	o := s.observation
	s.observe(b, f, info)
	o.FlowHash, o.Common, o.Early, o.Number = b.Fast.Hashes[j], info.Common, j < s.sample, uint8(j)
	o.Doomed = b.Doomed>>i&1 != 0
	o.Sequence, o.SequenceBits = b.Link.Locator.Sequence(f, info)
	if burst.TCPFlags(f, &b.Layers[i], info)&(packet.TCPFIN|packet.TCPRST) != 0 && !info.Copy {
		flow.Close()
	}
	path, stored := flow.PathHash, event.IsStored(flow)
	set := s.detector.Packet(b.Now, flow, fresh, int(flow.Watch), o)
	if moved := flow.PathHash != path; moved || !stored && event.IsStored(flow) {
		keep := !fresh || !event.IsStored(flow) || s.paths.Len() < inspect.Crowded
		if !keep {
			event.Unstore(flow) // the second packet comes here, too
		}
		s.learnPath(b, int(i), flow.PathHash, moved, keep)
	}
	if info.Reason != inthdr.ReasonNone {
		if e := s.malformedContents(b, info.Reason, s.rules.Events[flow.Watch]); e != 0 {
			set |= e
			s.detector.Reported(b.Now, flow, set)
		}
	}
	b.Cause[j] = burst.CauseOf(set, flow.Watch, set.Has(event.Congestion) && s.detector.Edge)
	if set&event.Triggered != 0 {
		b.Trigger[j] = s.detector.Trigger
	}
	return set != 0
}

// learnPath keeps the path of packet i of the burst, which is s.observation, and which of its hops bear no INT; these count where the
// flow has moved there.
func (s *Stage) learnPath(b *burst.Burst, i int, hash uint64, moved, keep bool) {
	o := s.observation
	var p inspect.Path
	kept := &p
	if p.Hops = o.Info.Hops; keep {
		kept = inspect.Learn(s.paths, b.Now, hash, o)
	}
	if o.Info.HopExceeded {
		return // later hops had to leave theirs out
	}
	hops, told := b.Link.Locator.IPHops(b.Vec[i].Bytes(), int(b.Layers[i].L3), o.Info)
	if !told {
		return
	}
	kept.IPHops, kept.IPHopsTold = hops, true
	if without, _ := kept.WithoutINT(); moved {
		s.detector.Counters.IPHops[0] += uint64(without)
		s.detector.Counters.IPHops[1] += uint64(int(hops) - without)
	}
}

// malformedContents returns event malformed for a packet with INT that can be removed but has
// senseless contents: at most one per port and second. Where the flow's watch does not have the
// event, it does not use up that second.
func (s *Stage) malformedContents(b *burst.Burst, reason inthdr.Reason, wanted event.Set) event.Set {
	e := event.Malformed
	if reason == inthdr.ReasonUnknownDomain {
		e = event.UnknownDomain
	}
	if !wanted.Has(e) {
		s.detector.Counters.Fired[e]++
		return 0
	}
	return s.detector.Limited(b.Now, e, b.Link.Limits.LastReported(e))
}
