// Seals the open report packet of an outbox when it is full or its time is up, and hands it over
// to the ring or the sender; flush, expire and close.

package reporting

import (
	"math"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/report"
)

func (o *outbox) sealIfFull(now int64) {
	if o.open.Full() || o.maxReports > 0 && o.open.Reports() >= o.maxReports {
		o.seal(now)
	}
}

// seal closes the open packet and hands it over. If the ring is full the worker does not wait:
// the packet is dropped and its sequence number is missing at the collector, as Telemetry
// Report intends.
func (o *outbox) seal(now int64) {
	n := o.open.Reports()
	payload := o.open.Seal(o.group)
	if o.group.Sequence++; o.group.Sequence == 0 {
		o.group.Rounds++
	}
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

// flush gives the batch to the sender. It is called after every poll, so that the report
// packets of a burst share a call into C.
func (o *outbox) flush() {
	if o.nBatch > 0 {
		o.sender.Send(o.batch, o.nBatch)
		o.nBatch = 0
	}
}

// expire seals the open packet if its deadline has passed, with the deadline as its time: now
// is later by a poll, or in replay by a gap in the capture.
func (o *outbox) expire(now int64) {
	if o.open.IsOpen() && now >= o.deadline {
		o.seal(o.deadline)
	}
}

// due is when expire seals the open packet.
func (o *outbox) due() int64 {
	if !o.open.IsOpen() || o.open.Reports() == 0 {
		return math.MaxInt64
	}
	return o.deadline
}

// close seals the open packet and gives all free mbufs back.
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
