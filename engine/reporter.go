package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
	"intsink/flows"
)

// reporter builds the reports of one worker and puts them into the open report packet of
// each of its collectors. It reads neither the burst nor the worker: a subject describes the
// packet, the arguments of measure describe the sink.
//
//	measure, then report for each packet that is reported in all parts, or
//	measure, then together for a run of packets that are reported alike
type reporter struct {
	rules     *ReportRules
	outboxes  []outbox // one per collector
	kind      outboxKind
	perReport uint64 // collectors whose reports the template does not serve
	counters  *Counters
	queueID   uint8
	wallClock func() int64 // by how much the wall clock has stepped; nil: it has not
	refreshes stretch

	metadata report.Metadata // of the sink, as measure found it
	provided uint16          // RepMdBits that metadata holds
	template report.Template // of the run's reports
	domain   uint16          // that the template is for

	// Scratch of one report, kept here so that nothing escapes: each method fills what it
	// hands to the next, and nothing is read by a later report.
	individual  report.Individual
	mdBytes     [48 + inthdr.MaxSourceLen]byte
	explanation report.Explanation
	headers     [flows.MaxHeaders]byte
	tlvs        [tlvRoom]byte
}

// tlvRoom is what an Explanation and the longest packet in a TLV take.
const tlvRoom = 4 + report.ExplanationLen + 4 + report.MaxTLVData

// subject is what one report is about.
type subject struct {
	set        event.Set
	priority   event.Priority
	collectors uint64      // bit i: collector i hears of it
	flow       *flows.Flow // nil: the packet belongs to none
	entropy    uint16      // spreads report packets over paths: the same for all of a flow

	info       *inthdr.Info // what the packet's INT says; nil: nothing is known, or there is no packet
	source     []byte       // INT-MX: what its source inserted for sourceBits of its domain
	sourceBits uint16
	inType     report.InType
	inner      []byte // as much of the packet as the report carries

	trigger event.Trigger // of set & event.Triggered
	drops   uint32        // packets since the last report of a drop
	reason  uint8         // of a drop: one of report.DropReasons
}

// outboxKind is what all outboxes of a worker have in common.
type outboxKind struct {
	pool  Pool
	group report.GroupHeader
}

// outboxOf makes the outbox of a collector. Safe from any goroutine.
func (k *outboxKind) outboxOf(to *Outlet) outbox {
	o := outbox{ring: to.Ring, sender: to.Sender, pool: k.pool, group: k.group, stash: mbuf.NewVec(), limit: limit{bucket: to.Bucket}}
	if to.Bucket == nil {
		o.limit.bucket = NewBucket()
	}
	if to.Sender != nil {
		o.batch = mbuf.NewVec()
	}
	return o
}

func newReporter(c *WorkerConfig, counters *Counters) reporter {
	r := reporter{
		outboxes: make([]outbox, len(c.Outlets)), counters: counters, queueID: c.QueueID, wallClock: c.WallClock,
		kind: outboxKind{c.ReportPool, report.GroupHeader{HwID: c.HwID, NodeID: c.NodeID}},
	}
	for i := range r.outboxes {
		r.outboxes[i] = r.kind.outboxOf(&c.Outlets[i])
		r.outboxes[i].counters = &counters.Collectors[i]
		counters.Collectors[i].Name = c.Rules.Collectors[i].Name
	}
	r.configure(c.Rules)
	return r
}

// adopt makes a's the rules and the outboxes; what is open is sealed by the old ones.
func (x *reporter) adopt(a *adoption, now int64) {
	for i := range x.outboxes {
		if o := &x.outboxes[i]; o.open.IsOpen() {
			o.seal(now)
		}
	}
	if a.outboxes != nil {
		x.exchange(a, now)
	}
	x.configure(a.rules)
}

// exchange takes the outboxes of a in place of those that there are. What both have goes
// on as it is; the others are closed.
func (x *reporter) exchange(a *adoption, now int64) {
	kept := uint64(0)
	for i := range a.outboxes {
		for j := range x.outboxes {
			if old := &x.outboxes[j]; kept>>j&1 == 0 && old.ring == a.outboxes[i].ring && old.sender == a.outboxes[i].sender {
				kept |= 1 << j
				name := a.counters[i].Name
				a.counters[i], a.outboxes[i] = *old.counters, *old
				a.counters[i].Name = name
				break
			}
		}
		a.outboxes[i].counters = &a.counters[i]
	}
	for j := range x.outboxes {
		if kept>>j&1 == 0 {
			x.outboxes[j].close(now)
		}
	}
	x.outboxes, x.counters.Collectors = a.outboxes, a.counters
}

func (x *reporter) configure(r *Rules) {
	x.rules, x.perReport = &r.Report, 0
	for i := range x.outboxes {
		o := &x.outboxes[i]
		o.configure(&r.Collectors[i], &r.Report)
		if o.limit.on || r.Report.Explain || r.Report.Format != report.Format20 { // each looks at every report
			x.perReport |= 1 << i
		}
	}
}

// expire hands over report packets that waited long enough.
func (x *reporter) expire(now int64) {
	for i := range x.outboxes {
		x.outboxes[i].expire(now)
		x.outboxes[i].flush()
	}
}

// close hands over what is open and frees what the outboxes hold.
func (x *reporter) close(now int64) {
	for i := range x.outboxes {
		x.outboxes[i].close(now)
	}
}

// wall is what times of the worker's clock lack to be those of the wall clock.
func (x *reporter) wall() int64 {
	if x.wallClock == nil {
		return 0
	}
	return x.wallClock()
}

// measure reads the sink's own metadata for packets that were received at now on one
// interface and leave by another.
func (x *reporter) measure(now, egress int64, from, to uint16, g *Gauges, found int) {
	md := &x.metadata
	md.IngressPort, md.EgressPort = from, to
	md.IngressTimestamp, md.EgressTimestamp = uint64(now+x.wall()), uint64(egress+x.wall())
	md.HopLatencyNs = uint32(min(egress-now, 0xfffffffe))
	md.QueueID = x.queueID
	x.provided = g.read(md, found)
}

// noPacket is measure where there is no packet: what f was last seen at is all that is
// known.
func (x *reporter) noPacket(f *flows.Flow) {
	md := &x.metadata
	md.IngressPort, md.EgressPort = 0xffff, 0xffff // unknown
	seen := uint64(f.LastSeen() + x.wall())
	md.IngressTimestamp, md.EgressTimestamp = seen, seen
	md.HopLatencyNs = 0xffffffff
	x.provided = alwaysProvided
}
