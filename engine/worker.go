// Worker: Poll, toHost, afterReceive and Tick, the order of the stages of a burst; scratch.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/mitigate"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/quote"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// linkState is one link as this worker serves it.
type linkState struct {
	link     *Link
	number   int // in WorkerConfig.Links
	reading  *reading
	counters *LinkCounters
	limits   *linkLimits
}

// Worker polls its queues and takes every burst through the stages. All its
// methods but Snapshot, Usual, Episodes, Reload, ReloadCollectors, Adopted, Ask, Beat and Stop belong to the goroutine that polls.
type Worker struct {
	links    []linkState
	pool     Pool
	clock    func() int64
	number   uint8 // among all workers
	stations []Station

	table    *flows.Table
	detector *event.Detector
	facts    *watch.Facts // of the packet at hand
	burst    *burst
	byLink
	loop     *fast.Loop // nil: C cannot poll
	scratch  scratch
	reporter *reporting.Reporter
	queries  queries

	activeRules
	occasional

	counters Counters
	pace     pace
	polled   int64 // when the last poll received its first burst; 0: none
	last     int64 // when the poll before it did, or found nothing
	empty    int   // polls in a row, up to the last, that found nothing
	nextTick int64

	control
}

// byLink is how INT of links is read.
type byLink struct {
	readings []*reading   // those that links have, and others that are kept; the first is that of links without rules of their own
	paths    []*fast.Path // of those that links have

	reading *reading // of the link that the burst at hand came by, and what it has; turnTo sets these
	locator *inthdr.Locator
	quoter  *quote.Quoter
	fast    *fast.Path
}

// activeRules is what the worker made of the rules that it follows: a reload replaces it.
type activeRules struct {
	rules           *Rules
	watches         *watch.Watches    // those of rules; setWatches sets these three
	askedFacts      fast.Facts        // what they ask of a packet beside its flow's key
	keepAll         bool              // they ask for more than package fast knows: no packet is passed
	eventCollectors []eventCollectors // by watch.IngressOf
	devices         watch.Devices     // of rules, for mitigation
	generation      uint16            // of rules; a flow with another one is matched again
	blind           blind
	passing         bool // packets pass as they are
}

// occasional is what the long way does with the bursts that are due (turns).
type occasional struct {
	turns      turns
	picks      picks
	capture    *capturing      // nil: none runs
	mitigation *mitigate.Table // nil: there are no rules
	selects    selects
}

// scratch is room for one packet or burst at hand, kept by the worker so that nothing of it
// escapes. Each field belongs to the function named.
type scratch struct {
	observation *event.Observation                     // detectOne
	truncated   [truncatedLen]byte                     // truncatedINT
	copied      []byte                                 // strippedCopy: a packet that is tried as a template
	outers      inthdr.Outers                          // strippedCopy, holdsINT
	run         reporting.Run                          // report
	headers     [flows.MaxHeaders]byte                 // reportFlow
	fragment    [fragmentRoom]byte                     // bytesOf: of a packet whose first buffer has less
	episodes    [reporting.MostEpisodes]report.Episode // reportEpisodes
}

// ParseAll has every packet parsed until rules are reloaded: for tests and benchmarks.
func (w *Worker) ParseAll() {
	for _, p := range w.paths {
		p.ParseAll()
	}
}

// Poll takes one burst from every queue and returns how many packets it found.
// Nothing stays with the worker: what a queue delivered has left, or is dropped.
func (w *Worker) Poll() int {
	total := 0
	w.polled = 0
	for i := range w.links {
		p := &w.links[i]
		w.turnTo(p)
		total += w.receive(p, w.burst)
		if p.link.Host == nil {
			w.discardTapped(p, w.burst)
		} else {
			total += w.exchange(p, w.burst)
		}
	}
	w.queries.busy = total > 0
	return total
}

// receive takes a burst from the INT domain through all stages but transmit; it returns its length.
func (w *Worker) receive(p *linkState, b *burst) int {
	if b.n = p.link.Network.RxBurst(b.vec); b.n > 0 {
		b.now = w.received(b.n)
		w.toHost(p, b)
	}
	return b.n
}

// received counts the burst of n packets that was just received, and is its time.
func (w *Worker) received(n int) int64 {
	w.pace.burst(n)
	now := w.clock()
	if w.polled == 0 {
		w.polled = now
	}
	return now
}

// exchange transmits the burst to the host, and takes the burst that comes from there to the
// network; it returns the length of the latter. On the host port both are one call, so that a
// poll with a quiet host costs two calls. On the network port they are not: packets received
// with a transmission would have to be held over ticks, reloads and Stop.
func (w *Worker) exchange(p *linkState, b *burst) int {
	v, n := w.toTransmit(b)
	sent, received := p.link.Host.Exchange(v, n, b.back)
	now := b.now
	if received > 0 {
		now = w.received(received) // before anything is tried again
	}
	w.exchanged(p, b, v, n, sent, received, now)
	return received
}

// exchanged goes on where the host port has taken the first sent of v[:n], and so many packets
// have been received from it, at now.
func (w *Worker) exchanged(p *linkState, b *burst, v *mbuf.Vec, n, sent, received int, now int64) {
	w.countSent(p, ToHost, p.link.Host, b, v, n, sent)
	if received > 0 {
		b.vec, b.back = b.back, b.vec
		b.n, b.now = received, now
		w.toNetwork(p, b)
	}
}

// toHost takes a burst from the INT domain through all stages. Package fast does what needs no
// parser, for most packets everything; the others go through the stages in Go.
func (w *Worker) toHost(p *linkState, b *burst) {
	aside := false
	if w.turns.due(b.now) {
		if w.passing {
			w.passOn(p, b)
			return
		}
		aside = w.aside(p, b)
	}
	w.begin(p, b)
	w.detector.Sync(b.now)
	in := w.fastBurst(b, p.link.Host != nil && !aside)
	in.Link = p.number
	w.fast.Receive(in)
	w.afterReceive(p, b, aside)
}

// begin counts a burst from the network, and makes it one that nothing is known of.
func (w *Worker) begin(p *linkState, b *burst) {
	p.counters.Direction[ToHost].Received += uint64(b.n)
	b.clear()
	b.ingress = p.ingress(ToHost)
}

// fastBurst is what package fast has to know of the burst. strip: packets leave by another port.
func (w *Worker) fastBurst(b *burst, strip bool) *fast.Burst {
	return &fast.Burst{
		Vec: b.vec, N: b.n, Now: b.now, Wall: w.detector.Wall, Generation: w.generation, Watched: len(w.rules.Watches) > 0,
		Strip: strip, Look: w.detector.FabricSampleDue(), Keep: w.keepAll, Facts: w.askedFacts,
	}
}

// afterReceive takes a burst through the stages behind fast.Path.Receive.
func (w *Worker) afterReceive(p *linkState, b *burst, aside bool) {
	watched, parsed := len(w.rules.Watches) > 0, false
	if w.fast.Unknown != 0 {
		w.parse(p, b)
		parsed = true
	}
	if aside {
		w.longWay(p, b, parsed)
		return
	}
	if w.fast.Len() == 0 {
		return
	}
	w.turns.count(w.fast.Len())
	if !watched {
		if parsed || len(w.fast.Deferred()) > 0 {
			w.stripUnwatched(p, b)
		} else {
			p.countINT(w.fast, 0)
		}
		w.fast.Clear() // no packet has a flow
		return
	}
	w.watch(p, b, parsed)
	if p.link.Host != nil {
		w.strip(p, b)
	}
}

// watch looks up flows, detects events and reports them. parsed: some packets were parsed.
func (w *Worker) watch(p *linkState, b *burst, parsed bool) {
	if parsed || w.fast.Missing != 0 {
		w.lookup(b, parsed)
		w.fast.Pass()
	}
	w.detect(p, b)
	if b.reportable != 0 {
		w.report(p, b)
	}
}

// Tick does what is due between bursts: age flows, send report packets that
// waited long enough, answer questions, take a new configuration, publish counters.
func (w *Worker) Tick(now int64) {
	w.reporter.Expire(now)
	if w.queries.serving != nil {
		w.serveQuery(now)
	}
	if now < w.nextTick {
		return
	}
	w.nextTick = now + tickNs
	w.beat.Store(now)
	w.age(now)
	w.detector.Saturate(now)
	w.detector.Sync(now)
	w.detector.Wall = w.reporter.Wall()
	w.queries.paths.Saturate(now)
	for _, s := range w.stations {
		s.Tick(now)
	}
	w.losses(now)
	w.detector.Sweep(now)
	w.detector.Stretch = w.reporter.Stretch(w.detector.Stretch, now)
	if w.changed.Load() {
		w.change()
	}
	w.nextQuery()
	if w.mu.TryLock() {
		w.publish()
		w.mu.Unlock()
	}
}

// tickNs is how often a worker looks after everything that is not a packet.
const tickNs = 1e6
