// Package report makes a reporting.Subject of packets, flows, losses and drops that an event fired
// for, and puts them into the feed of /api/v1/events, while somebody reads.
//
//	report.go    packets of a burst with events; flows that end or lose packets
//	left.go      what other stages left in the burst: drops, unsound INT, leaks
//	gather.go    packets that are reported alike
//	fragment.go  which of a packet's bytes a report shows
package report

import (
	"math/bits"

	"intsink/engine/aside/inspect"
	"intsink/engine/aside/recorder"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// Rules are what a reload changes of the stage.
type Rules struct {
	Report       *reporting.Rules
	Watches      *watch.Watches // compiled
	Policies     []Policy       // of each watch
	DropInterval int64          // nanoseconds between two drop reports of packets that belong to no flow
	InnerKeys    bool           // flows inside of tunnels are told apart
}

// Policy is what the stage knows of a watch.
type Policy struct {
	Match      *watch.Match
	Events     event.Set
	Collectors uint64 // bit i: reports go to collector i
}

// Config is what the stage shares with others.
type Config struct {
	Reporter *reporting.Reporter
	Detector *event.Detector
	Table    *flows.Table
	Paths    *inspect.Paths
	Feed     *inspect.Feed
	Recorder *recorder.Recorder
	Clock    func() int64
	Seed     uint64 // keys the hash of facts
	Links    int    // of the worker
}

// Stage is the stage of one worker.
type Stage struct {
	Config
	rules    Rules
	byEvent  []eventCollectors // by watch.IngressOf
	facts    *watch.Facts
	episodes [reporting.MostEpisodes]report.Episode // reportEpisodes
	run      reporting.Run                          // Do
	headers  [flows.MaxHeaders]byte                 // Flow
	fragment [fragmentRoom]byte                     // bytesOf: of a packet whose first buffer has less
	frame    frame                                  // watchOfFrame, holdsINT
}

// frame is room for a packet that belongs to no flow.
type frame struct {
	key    flows.Key
	layers packet.Layers
	info   inthdr.Info
	outers inthdr.Outers
}

// New makes the stage of a worker; Adopt gives it its rules.
func New(c Config) *Stage {
	return &Stage{Config: c, facts: watch.NewFacts(c.Seed)}
}

// Adopt makes r the rules of the stage.
func (s *Stage) Adopt(r Rules) { s.rules, s.byEvent = r, eventCollectorsOf(r.Policies, s.Links) }

// Do reports every packet whose events ask for it, before its headers are touched. It
// runs only where an event fired.
//
//go:noinline
func (s *Stage) Do(b *burst.Burst) {
	s.measure(b)
	if s.Feed.On() {
		s.feedBurst(b)
	}
	left := b.Reportable
	if s.rules.Report.Explain && s.Detector.Episodes().Untold() {
		left = s.reportEpisodes(b, left)
	}
	s.reportAll(b, left)
}

// reportEpisodes reports the packets of left up to one whose report sums up episodes that have ended, and returns the
// others. It is the packet that ended one, if there is such a packet, else the first.
//
//go:noinline
func (s *Stage) reportEpisodes(b *burst.Burst, left uint64) (rest uint64) {
	at := bits.TrailingZeros64(left)
	for other := left; other != 0; other &= other - 1 {
		j := bits.TrailingZeros64(other)
		if c := b.Cause[j]; c.Set().Has(event.Congestion) && c.Priority() <= event.PriorityCongestion {
			at = j
		}
	}
	s.reportAll(b, left&(1<<at-1))
	x := s.subject(b, at, s.rules.Policies[b.Cause[at].Watch()].Collectors)
	x.Episodes = s.episodes[:s.Detector.Episodes().Tell(s.episodes[:])]
	s.Reporter.Report(&x, b.Now)
	return left &^ (1<<(at+1) - 1)
}

// reportAll reports packets in their order: those that a rule drops are reported as dropped.
func (s *Stage) reportAll(b *burst.Burst, left uint64) {
	for doomed := b.DoomedOf(left); doomed != 0; doomed &= doomed - 1 {
		j := bits.TrailingZeros64(doomed)
		s.reportForwarded(b, left&(1<<j-1))
		s.reportOne(b, j, s.rules.Policies[b.Cause[j].Watch()].Collectors)
		left &^= 1<<(j+1) - 1
	}
	s.reportForwarded(b, left)
}

// reportForwarded reports packets, several at once where their reports are alike.
func (s *Stage) reportForwarded(b *burst.Burst, left uint64) {
	for left != 0 {
		if s.Reporter.ByTemplate() {
			if rest := s.shed(b, left); rest != left {
				left = rest
				continue
			}
			if rest := s.gather(b, left); s.run.N > 0 && s.Reporter.Together(&s.run, b.Now) {
				left = rest
				continue
			}
		}
		j := bits.TrailingZeros64(left)
		s.reportOne(b, j, s.rules.Policies[b.Cause[j].Watch()].Collectors)
		left &= left - 1
	}
}

// reportOne reports INT packet j in all parts.
//
//go:noinline
func (s *Stage) reportOne(b *burst.Burst, j int, collectors uint64) {
	x := s.subject(b, j, collectors)
	s.Reporter.Report(&x, b.Now)
}

// subject is INT packet j as its report is to have it.
func (s *Stage) subject(b *burst.Burst, j int, collectors uint64) reporting.Subject {
	set, info := b.Cause[j].Set(), b.Header(uint8(j))
	x := reporting.Subject{
		Set: set, Priority: b.Cause[j].Priority(), Collectors: collectors,
		Flow: b.Fast.Flows[j], Entropy: uint16(b.Fast.Hashes[j]), Info: info, Trigger: b.Trigger[j],
	}
	if info.Type == inthdr.MX {
		x.Source, x.SourceBits = b.Vec[b.Fast.At[j]].Bytes()[info.Stack:][:info.SourceLen], b.Link.Locator.SourceBits(info)
	}
	if b.DoomedOf(1<<j) != 0 {
		x.Dropped, x.Reason = true, burst.DropRule.Code()
	}
	s.showPacket(&x, b, uint8(j))
	return x
}

// measure reads the sink's own metadata for packets of b.
func (s *Stage) measure(b *burst.Burst) {
	l := b.Link
	in, out := l.NetworkID, l.HostID
	if b.Direction == burst.ToNetwork {
		in, out = out, in
	}
	s.Reporter.Measure(b.Now, s.Clock(), in, out, l.Gauges, b.N)
}

// Flow reports flow f for something that no packet shows: its end, or a loss.
// The report carries headers made from the flow's key.
//
//go:noinline
func (s *Stage) Flow(set event.Set, f *flows.Flow, now int64) {
	s.Reporter.NoPacket(f)
	x := s.ofFlow(f, set)
	if s.rules.Report.Fragment > 0 {
		key := f.Key
		x.InType, x.Inner = report.IPv4, key.Headers(s.headers[:0])
		if key.Version() == 6 {
			x.InType = report.IPv6
		}
	}
	s.feedReport(set, f, now)
	s.Reporter.Report(&x, now)
}

// ofFlow is what a report about f begins with.
func (s *Stage) ofFlow(f *flows.Flow, set event.Set) reporting.Subject {
	return reporting.Subject{
		Set: set, Priority: set.Priority(false), Collectors: s.rules.Policies[f.Watch].Collectors,
		Flow: f, Entropy: uint16(s.Table.Hash(&f.Key)), InType: report.None,
	}
}

// feedBurst puts every packet of b that is reported into the feed.
//
//go:noinline
func (s *Stage) feedBurst(b *burst.Burst) {
	for left := b.Reportable; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left)
		s.Feed.Put(b.Now, b.Cause[j].Set(), b.Fast.Flows[j], s.Paths)
	}
}

// feedReport puts a report that no packet of the burst shows into the feed, where
// somebody reads it.
func (s *Stage) feedReport(set event.Set, f *flows.Flow, now int64) {
	if s.Feed.On() {
		s.Feed.Put(now, set, f, s.Paths)
	}
}
