// outbox: opens and fills the open report packet of one collector; seal.go closes it.

package reporting

import (
	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/wire/report"
)

// reportHeadroom is how many bytes are kept free in front of a report packet for the Ethernet,
// VLAN, IPv6 and UDP headers that an exporter may add.
const reportHeadroom = 128

// stashSize is how many mbufs are taken from the report pool at once, so that opening a report
// packet does not call into C each time.
const stashSize = 16

// outbox is one worker's connection to one collector: the open report packet, and where sealed
// ones go: the ring to the exporter, or a sender.
type outbox struct {
	ring     *ring.Ring
	sender   Sender    // takes sealed packets; nil: the ring does
	batch    *mbuf.Vec // batch[:nBatch] go to sender at the next flush
	nBatch   int
	pool     Pool
	counters *CollectorCounters

	group      report.GroupHeader // of the next packet, with its Sequence
	instance   uint64             // Config.Instance
	began      int64              // when the outbox was made, and with it the sequence, Unix nanoseconds
	head       int                // bytes of the Identity in front of the reports of a packet; 0: it has none
	maxPayload int
	maxReports int
	maxDelay   int64

	open     report.Packet
	m        *mbuf.Mbuf // holds the open packet
	deadline int64      // when the open packet must leave
	entropy  uint16     // entropy of the first report in the open packet
	limit    limit

	stash  *mbuf.Vec // stash[:nStash] are free mbufs
	nStash int
}

// configure sets sizes, delay and budget as collector c and the rules say.
func (o *outbox) configure(c *Collector, r *Rules) {
	o.maxPayload = c.MaxPayload
	if o.maxReports = r.MaxReports; r.Format != report.Format20 {
		o.maxReports = 1
	}
	o.head = 0
	if r.Explain && r.Format == report.Format20 && o.instance != 0 {
		o.head = report.IdentityReportLen
	}
	o.maxDelay = int64(r.MaxDelay)
	o.limit.configure(c.Budget)
}

// add puts r into the open report packet; it seals and opens packets as needed, in format f.
// The metadata that INT-MX asks for may take more room than the configuration reckons with:
// then the fragment becomes shorter. It returns false if the report is lost, which it counts by
// reason.
func (o *outbox) add(f report.Format, r *report.Individual, entropy uint16, now int64) bool {
	if o.open.IsOpen() {
		cuts := r.INTEnd > 0 && o.open.CutsINT(r)
		if o.open.Append(r) {
			o.counted(cuts)
			o.sealIfFull(now)
			return true
		}
		o.seal(now)
	}
	return o.addNew(f, r, entropy, now)
}

// addNew opens a new packet and adds r to it.
func (o *outbox) addNew(f report.Format, r *report.Individual, entropy uint16, now int64) bool {
	if !o.openPacket(f, entropy, now) {
		o.counters.Dropped[DropNoMbuf]++
		return false
	}
	return o.addToNew(r, now)
}

// addToNew adds r to the new packet that was just opened, with a shorter fragment if needed. If r
// does not fit even so, the packet is closed again, and the next report uses the mbuf: an open
// packet has a report, whose entropy and time it leaves with.
func (o *outbox) addToNew(r *report.Individual, now int64) bool {
	cuts := r.INTEnd > 0 && o.open.CutsINT(r)
	if !o.open.AppendCut(r) {
		o.open = report.Packet{}
		o.counters.Dropped[DropTooBig]++
		return false
	}
	o.counted(cuts)
	o.sealIfFull(now)
	return true
}

// counted counts a report; cuts: it ends inside of INT.
func (o *outbox) counted(cuts bool) {
	o.counters.Reports++
	if cuts {
		o.counters.Cut++
	}
}

func (o *outbox) openPacket(f report.Format, entropy uint16, now int64) bool {
	if o.m == nil && !o.takeMbuf() {
		return false
	}
	o.m.Reset(reportHeadroom)
	b := o.m.SetLen(report.HandoffLen + o.maxPayload)
	if b == nil {
		return false
	}
	o.open.OpenAs(f, b[report.HandoffLen:])
	if o.head > 0 {
		o.open.Identify(o.instance, o.began)
	}
	o.entropy = entropy
	o.deadline = now + o.maxDelay
	return true
}

func (o *outbox) takeMbuf() bool {
	if o.nStash == 0 {
		if !o.pool.AllocBulk(o.stash, stashSize) {
			return false
		}
		o.nStash = stashSize
	}
	o.nStash--
	o.m = o.stash[o.nStash]
	return true
}

// mayHold returns how many more reports the open packet may hold by Rules.MaxReports.
func (o *outbox) mayHold() int {
	if o.maxReports > 0 {
		return o.maxReports - o.open.Reports()
	}
	return mbuf.MaxBurst
}
