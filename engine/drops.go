// DropReason: the closed list of why a packet was not forwarded; reports and counts packets
// that a port refused, or that cannot carry a congestion mark.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/flows"
)

// DropReason says why a packet was not forwarded. The list is closed: it
// generates the metric label and the table in docs/metrics.md.
type DropReason uint8

const (
	DropTxFull DropReason = iota
	DropTxTooLong
	DropTxDown
	DropTxRefused
	DropDiscard
	DropMalformed
	DropTap
	DropCongested
	DropMitigation
	DropLeak
	DropMark
	NumDropReasons
)

var dropReasons = [NumDropReasons]struct {
	label, doc string
	inReport   uint8 // one of report.DropReasons
}{
	DropTxFull:     {"tx_full", "the output port took no more packets, after bounded retries", 51},
	DropTxTooLong:  {"tx_too_long", "longer than the MTU of the output port's interface", 50},
	DropTxDown:     {"tx_down", "the output port's link was down, or its interface gone", 0},
	DropTxRefused:  {"tx_refused", "the kernel did not take the frame: shorter than an Ethernet header", 0},
	DropDiscard:    {"int_discard", "the INT header asked for it (D flag); reported first", 0},
	DropMalformed:  {"malformed", `marked as INT but unsound, or too deep to tell, and the configuration says malformed = "drop"`, 60},
	DropCongested:  {"congested", "the GRE tunnel that its INT source made was marked by a queue (CE), and the packet inside cannot carry the mark (RFC 6040, section 4.2)", 51},
	DropMitigation: {"mitigation", "a rule of mitigation asked for it (`POST /api/v1/mitigations`), on a link with `mitigation = true`", 60},
	DropLeak:       {"leak", `a host sent it with INT, and the configuration says leak = "drop"`, 60},
	DropMark:       {"mark", `a host sent it without INT but with the mark of INT, and the configuration says leak_mark = "drop"`, 60},
	DropTap:        {"tap", "received on a tap, which only watches", 0},
}

// code is the drop reason in a drop report: traffic_manager, mtu_check_fail, acl_deny,
// unknown.
func (r DropReason) code() uint8 { return dropReasons[r].inReport }

// String is the value of the reason label.
func (r DropReason) String() string { return dropReasons[r].label }

// Doc is one line for the documentation.
func (r DropReason) Doc() string { return dropReasons[r].doc }

// noFlowDrop is a dropped packet that belongs to no flow, as its report has it. Without collectors there is none.
type noFlowDrop struct {
	why        DropReason
	count      uint32 // packets since the last report
	collectors uint64 // bit i: collector i gets it
}

// dropped is the event of a packet that was dropped and belongs to no flow: of the watch that selects it, if
// that has the event.
func (w *Worker) dropped(p *linkState, from Direction, frame *mbuf.Mbuf, reason DropReason, now int64) noFlowDrop {
	w.detector.Counters.Fired[event.Drop]++
	d := noFlowDrop{why: reason}
	if w.eventCollectors[p.ingress(from)][event.Drop] == 0 {
		return d
	}
	at := w.watchOfFrame(frame, p.ingress(from))
	if at == watch.None || !w.rules.Watches[at].Policy.Events.Has(event.Drop) {
		return d
	}
	n, ok := p.limits.drops[from][reason].due(now, w.rules.DropInterval)
	if !ok {
		w.detector.Counters.Suppressed[event.Drop][event.SuppressInterval]++
		return d
	}
	d.count, d.collectors = n, w.rules.Watches[at].Collectors
	return d
}

// refused reports the packets of the burst that the port did not take. They are in
// b.drop, as they would have left.
func (w *Worker) refused(p *linkState, from Direction, b *burst, l *lost) {
	var flowOf [mbuf.MaxBurst]*flows.Flow
	if from == ToHost && len(w.rules.Watches) > 0 { // else flows are those of an earlier burst
		for j := range b.fast.Len() {
			flowOf[b.fast.At[j]] = b.fast.Flows[j]
		}
	}
	place, next := 0, 0
	for i := 0; i < b.n && next < l.n; i++ {
		if b.verdict[i] == consumed {
			continue
		}
		if place == int(l.place[next]) {
			w.refusedOne(p, from, b, flowOf[i], b.drop[next], l.why[next])
			next++
		}
		place++
	}
}

// refusedOne counts and reports a packet of flow f, nil where it belongs to none.
func (w *Worker) refusedOne(p *linkState, from Direction, b *burst, f *flows.Flow, frame *mbuf.Mbuf, why DropReason) {
	switch {
	case f == nil:
		w.reportFrame(p, from, b, 0, frame, w.dropped(p, from, frame, why, b.now))
	case f.Watch != watch.None:
		if set, count := w.detector.Dropped(b.now, f, uint8(why)); set != 0 {
			w.reportDrop(p, b, f, set, frame, why, count)
		}
	}
}

// congested drops INT packet j, which came in a tunnel that a queue had marked and
// cannot carry the mark itself. The report shows it as it came, but for tunnels that are gone already.
//
//go:noinline
func (w *Worker) congested(p *linkState, b *burst, j int) {
	i := b.fast.At[j]
	b.dropPacket(int(i), DropCongested, &p.counters.Direction[ToHost])
	var f *flows.Flow
	if len(w.rules.Watches) > 0 { // else no packet has a flow
		f = b.fast.Flows[j]
	}
	w.refusedOne(p, ToHost, b, f, b.vec[i], DropCongested)
}
