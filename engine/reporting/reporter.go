// Reporter: one worker's outboxes and scratch of reports; Expire, Stretch, Close; Rules and
// Collector, and their exchange at a reload without loss of sequence numbers.

package reporting

import (
	"math"
	"net/netip"
	"time"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
)

// Reporter builds the reports of one worker and puts them into the open report packet of
// each of its collectors. All its methods but Prepare belong to the goroutine that polls.
type Reporter struct {
	rules     *Rules
	outboxes  []outbox // one per collector
	kind      outboxKind
	whole     bool // each report is built in all parts
	counters  *Counters
	queueID   uint8
	wallClock func() int64 // by how much the wall clock has stepped; nil: it has not
	refreshes stretch

	metadata  report.Metadata // the sink's own, set by Measure
	provided  uint16          // RepMdBits that metadata holds
	templates templates       // of the burst's reports

	// Scratch of one report, kept here so that nothing is allocated: each method fills the
	// fields that the next one reads, and no later report reads them.
	individual  report.Individual
	mdBytes     [48 + inthdr.MaxSourceLen]byte
	explanation report.Explanation
	tlvs        [tlvRoom]byte
}

// MostEpisodes is how many episodes a report sums up.
const MostEpisodes = 2

// tlvRoom is how many bytes an Explanation, episodes and the longest packet in a TLV take.
const tlvRoom = 4 + report.ExplanationLen + MostEpisodes*(4+report.MaxEpisodeLen) + 4 + report.MaxTLVData

// Config holds the arguments of New.
type Config struct {
	Outlets   []Outlet // one per collector
	Pool      Pool     // gives the mbufs of report packets
	NodeID    uint32
	HwID      uint8
	Instance  uint64       // of the Identity in explained report packets; 0: they have none
	QueueID   uint8        // in the sink's own metadata
	WallClock func() int64 // returns by how much the wall clock has stepped; nil: it never does
	Counters  *Counters    // to count in, with an entry per collector
}

// New makes a Reporter that reports to collectors by rules.
func New(c *Config, rules *Rules, collectors []Collector) *Reporter {
	x := &Reporter{
		outboxes: make([]outbox, len(c.Outlets)), counters: c.Counters, queueID: c.QueueID, wallClock: c.WallClock,
		kind: outboxKind{c.Pool, report.GroupHeader{HwID: c.HwID, NodeID: c.NodeID}, c.Instance},
	}
	for i := range x.outboxes {
		x.outboxes[i] = x.kind.outboxOf(&c.Outlets[i])
		x.outboxes[i].counters = &c.Counters.Collectors[i]
		c.Counters.Collectors[i].Name = collectors[i].Name
	}
	x.configure(rules, collectors)
	return x
}

func (x *Reporter) configure(rules *Rules, collectors []Collector) {
	x.rules, x.whole = rules, false
	x.templates.forget()
	for i := range x.outboxes {
		x.outboxes[i].configure(&collectors[i], rules)
	}
}

// WithoutTemplates makes x build each report field by field, until it adopts other rules. Tests
// compare reports by a template with these.
func (x *Reporter) WithoutTemplates() { x.whole = true }

// ByTemplate reports whether Together may be called; else Report is called for each packet.
func (x *Reporter) ByTemplate() bool { return !x.whole }

// Expire hands over report packets that waited long enough.
func (x *Reporter) Expire(now int64) {
	for i := range x.outboxes {
		x.outboxes[i].expire(now)
		x.outboxes[i].flush()
	}
}

// Due is the earliest time at which Expire has something to hand over.
func (x *Reporter) Due() int64 {
	due := int64(math.MaxInt64)
	for i := range x.outboxes {
		due = min(due, x.outboxes[i].due())
	}
	return due
}

// Stretch returns the new factor, in percent, for the time between refreshes; factor is the
// present one.
func (x *Reporter) Stretch(factor uint32, now int64) uint32 { return x.refreshes.step(factor, now) }

// Close hands over open report packets and frees the mbufs that the outboxes hold.
func (x *Reporter) Close(now int64) {
	for i := range x.outboxes {
		x.outboxes[i].close(now)
	}
}

// Rules says which fields an individual report has and how reports share a packet.
type Rules struct {
	Format    report.Format
	Domain    uint16 // Domain Specific ID of all reports, which then are of RepType 1; 0: the packet's
	MdBits    uint16 // RepMdBits of the sink's own metadata; 0: RepType 0, inner only
	Fragment  int    // bytes of the packet, INT included; 0: InType 0
	Fragment6 int    // the same of IPv6 packets; 0: as of others
	WholeINT  bool   // the fragment ends no earlier than the headers behind INT do
	Explain   bool   // an Explanation goes with the fragment, as TLVs, and an Identity with each packet; with Format20 only
	Ethernet  bool   // the fragment starts with the Ethernet header (InType 3), else with IP (4, 5)

	MaxReports int // most reports in a packet; 0: as many as fit; older formats have one
	MaxDelay   time.Duration
}

// Collector is a receiver of reports. Reporters know it by its index among all.
type Collector struct {
	Name       string
	Address    netip.AddrPort
	MaxPayload int    // UDP payload of one report packet in bytes
	Budget     Budget // what it may be sent; zero: no limit
}

// Exchange holds the outboxes that replace those of a Reporter. They are made ahead, since that
// takes longer than a worker may pause.
type Exchange struct {
	outboxes []outbox
	counters []CollectorCounters
}

// Prepare makes an Exchange for collectors with these outlets. Any goroutine may call it.
func (x *Reporter) Prepare(outlets []Outlet, collectors []Collector) *Exchange {
	e := &Exchange{make([]outbox, len(outlets)), make([]CollectorCounters, len(outlets))}
	for i := range outlets {
		e.outboxes[i] = x.kind.outboxOf(&outlets[i])
		e.counters[i].Name = collectors[i].Name
	}
	return e
}

// Adopt replaces the rules of x, after it has sealed open packets by the old ones. e is nil if
// the collectors keep their outlets.
func (x *Reporter) Adopt(rules *Rules, collectors []Collector, e *Exchange, now int64) {
	for i := range x.outboxes {
		if o := &x.outboxes[i]; o.open.IsOpen() {
			o.seal(now)
		}
	}
	if e != nil {
		x.exchange(e, now)
	}
	x.configure(rules, collectors)
}

// exchange replaces the outboxes by those of e. An outbox whose outlet e has, too, is kept with
// its open packet; the others are closed.
func (x *Reporter) exchange(e *Exchange, now int64) {
	kept := uint64(0)
	for i := range e.outboxes {
		for j := range x.outboxes {
			if old := &x.outboxes[j]; kept>>j&1 == 0 && old.ring == e.outboxes[i].ring && old.sender == e.outboxes[i].sender {
				kept |= 1 << j
				name := e.counters[i].Name
				e.counters[i], e.outboxes[i] = *old.counters, *old
				e.counters[i].Name = name
				break
			}
		}
		e.outboxes[i].counters = &e.counters[i]
	}
	for j := range x.outboxes {
		if kept>>j&1 == 0 {
			x.outboxes[j].close(now)
		}
	}
	x.outboxes, x.counters.Collectors = e.outboxes, e.counters
}
