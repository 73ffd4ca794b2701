// Reporter: one worker's outboxes and scratch of reports; Expire, Stretch, Close.

package reporting

import (
	"intsink/engine/inthdr"
	"intsink/engine/report"
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

	metadata  report.Metadata // of the sink, as Measure found it
	provided  uint16          // RepMdBits that metadata holds
	templates templates       // of the burst's reports

	// Scratch of one report, kept here so that nothing escapes: each method fills what it
	// hands to the next, and nothing is read by a later report.
	individual  report.Individual
	mdBytes     [48 + inthdr.MaxSourceLen]byte
	explanation report.Explanation
	tlvs        [tlvRoom]byte
}

// tlvRoom is what an Explanation and the longest packet in a TLV take.
const tlvRoom = 4 + report.ExplanationLen + 4 + report.MaxTLVData

// Config is what a Reporter is made with.
type Config struct {
	Outlets   []Outlet // one per collector
	Pool      Pool     // report packets are born here
	NodeID    uint32
	HwID      uint8
	QueueID   uint8        // in the sink's own metadata
	WallClock func() int64 // by how much the wall clock has stepped; nil: it has not
	Counters  *Counters    // to count in, with an entry per collector
}

// New makes a Reporter to collectors by rules.
func New(c *Config, rules *Rules, collectors []Collector) *Reporter {
	x := &Reporter{
		outboxes: make([]outbox, len(c.Outlets)), counters: c.Counters, queueID: c.QueueID, wallClock: c.WallClock,
		kind: outboxKind{c.Pool, report.GroupHeader{HwID: c.HwID, NodeID: c.NodeID}},
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

// WithoutTemplates makes x build each report in all parts, until it adopts other rules: what
// tests compare reports by a template with.
func (x *Reporter) WithoutTemplates() { x.whole = true }

// ByTemplate tells whether Together may report a Run; else each packet is to be a Report.
func (x *Reporter) ByTemplate() bool { return !x.whole }

// Expire hands over report packets that waited long enough.
func (x *Reporter) Expire(now int64) {
	for i := range x.outboxes {
		x.outboxes[i].expire(now)
		x.outboxes[i].flush()
	}
}

// Stretch returns by how much refreshes are to be stretched after factor, in percent.
func (x *Reporter) Stretch(factor uint32, now int64) uint32 { return x.refreshes.step(factor, now) }

// Close hands over what is open and frees what the outboxes hold.
func (x *Reporter) Close(now int64) {
	for i := range x.outboxes {
		x.outboxes[i].close(now)
	}
}
