// outbox: the open report packet of one collector: opened, filled, sealed, handed over,
// expired.

package reporting

import (
	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/report"
)

// reportHeadroom is kept free in front of a report packet for the Ethernet,
// VLAN, IPv6 and UDP headers that an exporter may add.
const reportHeadroom = 128

// stashSize mbufs are taken from the report pool at once, so that opening a
// report packet does not cross into C each time.
const stashSize = 16

// outbox is one worker's side of one collector: the report packet that is
// open, and what takes sealed ones: the ring to the exporter, or a sender.
type outbox struct {
	ring     *ring.Ring
	sender   Sender    // nil: ring takes them
	batch    *mbuf.Vec // batch[:nBatch] are for sender, at the next flush
	nBatch   int
	pool     Pool
	counters *CollectorCounters

	group      report.GroupHeader // Sequence is the next packet's
	maxPayload int
	maxReports int
	maxDelay   int64

	open     report.Packet
	m        *mbuf.Mbuf // holds the open packet
	deadline int64      // when the open packet must leave
	entropy  uint16     // of the open packet's first report
	limit    limit

	stash  *mbuf.Vec // stash[:nStash] are free mbufs
	nStash int
}

// configure takes the sizes of collector c.
func (o *outbox) configure(c *Collector, r *Rules) {
	o.maxPayload = c.MaxPayload
	if o.maxReports = r.MaxReports; r.Format != report.Format20 {
		o.maxReports = 1
	}
	o.maxDelay = int64(r.MaxDelay)
	o.limit.configure(c.Budget)
	o.open = report.Packet{}
}

// add puts r into the open report packet, sealing and opening packets as it
// must; f is the format of those that it opens. What INT-MX asks for may take more
// room than the configuration reckons with: the fragment is then shorter. False: the
// report is lost, counted by reason.
func (o *outbox) add(f report.Format, r *report.Individual, entropy uint16, now int64) bool {
	if o.open.IsOpen() {
		if o.open.Append(r) {
			o.counters.Reports++
			o.sealIfFull(now)
			return true
		}
		o.seal(now)
	}
	return o.addNew(f, r, entropy, now)
}

// addNew is add to a new packet.
func (o *outbox) addNew(f report.Format, r *report.Individual, entropy uint16, now int64) bool {
	if !o.openPacket(f, entropy, now) {
		o.counters.Dropped[DropNoMbuf]++
		return false
	}
	return o.addToNew(r, now)
}

// addToNew is addNew where the packet is open already.
func (o *outbox) addToNew(r *report.Individual, now int64) bool {
	if !o.open.AppendCut(r) {
		o.counters.Dropped[DropTooBig]++
		return false
	}
	o.counters.Reports++
	o.sealIfFull(now)
	return true
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

func (o *outbox) sealIfFull(now int64) {
	if o.open.Full() || o.maxReports > 0 && o.open.Reports() >= o.maxReports {
		o.seal(now)
	}
}

// mayHold is how many reports the open packet may still get.
func (o *outbox) mayHold() int {
	if o.maxReports > 0 {
		return o.maxReports - o.open.Reports()
	}
	return mbuf.MaxBurst
}

// seal closes the open packet and hands it over. A full ring never slows the
// worker: the packet is dropped, and its sequence number stays missing at the
// collector, as Telemetry Report intends.
func (o *outbox) seal(now int64) {
	if o.open.Reports() == 0 {
		return // begun for a report that did not fit; the mbuf serves the next
	}
	n := o.open.Reports()
	payload := o.open.Seal(o.group)
	o.group.Sequence++
	report.Handoff{Time: now, Entropy: o.entropy, Reports: uint16(n), Waited: report.WaitedFor(now - o.deadline + o.maxDelay)}.Put(o.m.SetLen(report.HandoffLen + len(payload)))
	o.counters.Packets++
	m := o.m
	if o.handOver(m) {
		o.m = nil
		return
	}
	o.counters.Dropped[DropRingFull]++
}

// handOver gives a sealed packet to the ring, or puts it into the batch.
func (o *outbox) handOver(m *mbuf.Mbuf) bool {
	if o.sender == nil {
		return o.ring.Push(m)
	}
	o.batch[o.nBatch] = m
	o.nBatch++
	if o.nBatch == mbuf.MaxBurst {
		o.flush()
	}
	return true
}

// flush sends the batch: after every poll, so that a burst's report packets
// share a call into C.
func (o *outbox) flush() {
	if o.nBatch > 0 {
		o.sender.Send(o.batch, o.nBatch)
		o.nBatch = 0
	}
}

// expire seals the open packet when it has waited long enough. Its time is the
// deadline: now is later by a poll, or in replay by a gap in the capture.
func (o *outbox) expire(now int64) {
	if o.open.IsOpen() && now >= o.deadline {
		o.seal(o.deadline)
	}
}

// close seals what is open and gives all mbufs back.
func (o *outbox) close(now int64) {
	if o.open.IsOpen() {
		o.seal(now)
	}
	o.flush()
	if o.m != nil {
		o.stash[o.nStash] = o.m
		o.nStash++
		o.m = nil
	}
	if o.nStash > 0 {
		o.pool.FreeBulk(o.stash, o.nStash)
		o.nStash = 0
	}
}
