package truth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Slack is how far off a limit the engine's coarse times may be. Within it the model leaves the
// decision open.
const (
	refreshSlack  = time.Millisecond
	intervalSlack = 2 * time.Microsecond
	memorySlack   = 5 * time.Millisecond
)

// Expect holds the events that the report of a packet must have and, where the specification leaves
// it open, may have. If Must is empty no report is expected.
type Expect struct {
	Must, May []string
	Why       []string // why the model expects each
	Drops     uint32   // how many packets a report of drop counts
}

func (e *Expect) must(event, why string, args ...any) {
	e.Must = append(e.Must, event)
	e.note(event+": "+why, args...)
}

func (e *Expect) may(event, why string, args ...any) {
	e.May = append(e.May, event)
	e.note(event+", perhaps: "+why, args...)
}

func (e *Expect) note(why string, args ...any) { e.Why = append(e.Why, fmt.Sprintf(why, args...)) }

// Model decides, packet by packet, what must be reported.
type Model struct {
	policies []Policy
	enabled  map[string]bool

	flows    map[string]*flowState
	newFlows bucket // rate of new_flow, shared with flow_end
	emptyTo  int64  // until when newFlows was last empty
	links    map[linkID]*deadband
	queues   map[queueID]*queueState
	ports    map[portID]*portState
	samples  []sampler
	newsAt   int64 // when a flow was last reported for something that changed
	due      dueList
	told     map[string]int64     // when events of no flow were last reported
	drops    map[string]dropState // drops of packets without a flow, by reason

	DropUnsound bool // malformed = "drop"

	open func(got []string) // is called with the reported events, to settle what the last packet left open
}

// flowState is the model's state of one flow.
type flowState struct {
	*Flow
	first      int64
	last       int64
	closing    bool
	reported   int64         // time of the last report, or of the first packet if there was none
	told       bool          // it was reported for something else than that it is new
	moved      bool          // that was a change of path
	wait       time.Duration // from it to the next refresh; 0: RefreshEvery
	packets    int
	paths      []pathState
	spray      sprayState
	pathRate   bucket
	hops       map[uint32]*deadband
	endToEnd   deadband
	mtu, limit flagState
	loss       lossState
	drops      dropState
	sampling   int // by flow: 0 not known, 1 yes, -1 no
	history    []string
}

// NewModel makes a model of the events that enabled names.
func NewModel(policies []Policy, enabled []string) *Model {
	m := &Model{
		policies: policies, enabled: map[string]bool{}, flows: map[string]*flowState{},
		links: map[linkID]*deadband{}, queues: map[queueID]*queueState{}, ports: map[portID]*portState{},
		samples: make([]sampler, len(policies)), told: map[string]int64{}, drops: map[string]dropState{},
	}
	for _, e := range enabled {
		m.enabled[e] = true
	}
	return m
}

// wants reports whether a watch asks for an event.
func (m *Model) wants(p *Policy, event string) bool {
	return m.enabled[event] && slices.Contains(p.Events, event)
}

// Packet returns the reports to expect of the next packet. Decide must be called after it.
func (m *Model) Packet(k *Packet) *Expect {
	e := &Expect{}
	m.open = func([]string) {}
	if k.Index%sweepEvery == 0 {
		m.sweep(k.Time)
	}
	if k.NoINT || k.FromHost || k.Unsound {
		m.noFlow(e, k)
		return e
	}
	whole := k
	if k.Foreign {
		k = k.ignored()
	}
	p := &m.policies[k.Flow.Watch]
	f, fresh := m.flow(e, p, k)

	// Each function decides on one class of events. A first packet is reported for none of these but flags.
	seen := e
	if fresh {
		seen = &Expect{}
	}
	open := []func([]string){
		m.path(seen, p, f, k), m.hopLatencies(seen, p, f, k), m.endToEnd(seen, p, f, k), m.linkLatencies(seen, p, k),
		m.flags(e, p, f, k),
	}
	m.congestion(seen, p, k, fresh)
	m.txUtilization(seen, p, k, fresh)
	m.sequence(p, f, k)
	if !fresh {
		m.refresh(e, p, f, k)
	}
	m.sample(e, p, f, k)
	if whole.Foreign && m.wants(p, UnknownDomain) {
		m.limited(e, UnknownDomain, k.Time)
	}
	if k.Refused && m.wants(p, Drop) {
		m.drop(e, &f.drops, p, k.Time)
	}
	settle := all(open)
	m.open = func(got []string) {
		settle(got)
		if len(got) > 0 {
			m.wasReported(f, p, k.Time, got)
		}
		m.decideSample(p, f, k, slices.Contains(got, Sample))
		f.remember(k, e, got)
	}
	return e
}

// flow finds or makes the flow of k.
func (m *Model) flow(e *Expect, p *Policy, k *Packet) (f *flowState, fresh bool) {
	key := k.Flow.Key()
	if f = m.flows[key]; f == nil {
		fresh = true
		f = &flowState{Flow: k.Flow, first: k.Time, reported: k.Time, hops: map[uint32]*deadband{}}
		m.flows[key] = f
		m.due.add(k.Time+int64(IdleTimeout), key)
		m.newFlow(e, p, k)
	}
	f.last = k.Time
	f.packets++
	if k.Closing || k.Reset {
		f.closing = true
		m.due.add(k.Time+int64(closingSilence), key)
	}
	return f, fresh
}

// Decide tells the model which events the sink reported for the last packet. The model learns
// from them what the specification leaves open, such as the phase of a sample.
func (m *Model) Decide(got []string) { m.open(got) }

// remember keeps the last few packets, to be printed with a fault.
func (f *flowState) remember(k *Packet, e *Expect, got []string) {
	if len(f.history) == 6 {
		f.history = slices.Delete(f.history, 0, 1)
	}
	line := ""
	if len(e.Why) > 0 || len(got) > 0 {
		line = fmt.Sprintf("at %.6f s: expected %v, perhaps %v, reported %v; %s",
			float64(k.Time-Epoch)/1e9, e.Must, e.May, got, strings.Join(e.Why, "; "))
	}
	f.history = append(f.history, line)
}

// State describes a flow as the model sees it now, with its last packets.
func (m *Model) State(key string) string {
	f := m.flows[key]
	if f == nil {
		return "the flow is not known\n"
	}
	var b strings.Builder
	at := func(t int64) float64 { return float64(t-Epoch) / 1e9 }
	fmt.Fprintf(&b, "since %.6f s, last packet %.6f s, reported %.6f s, closing %v, watch %s\n",
		at(f.first), at(f.last), at(f.reported), f.closing, m.policies[f.Watch].Name)
	for node, d := range f.hops {
		fmt.Fprintf(&b, "  node %d: %v\n", node, d)
	}
	fmt.Fprintf(&b, "  end to end: %v\n", &f.endToEnd)
	for _, p := range f.paths {
		fmt.Fprintf(&b, "  path %x, last seen %.6f s\n", p.words, at(p.seen))
	}
	for _, h := range f.history {
		if h != "" {
			fmt.Fprintf(&b, "  %s\n", h)
		}
	}
	return b.String()
}

// newFlow decides on new_flow, for the first INT packet of a key.
func (m *Model) newFlow(e *Expect, p *Policy, k *Packet) {
	if !m.wants(p, NewFlow) {
		return
	}
	if !m.newFlows.take(k.Time, p.NewFlowRate) {
		e.note("new_flow: withheld, %.3f tokens", m.newFlows.tokens())
		m.emptied(p)
		return
	}
	m.emptied(p)
	e.must(NewFlow, "first packet")
}

// emptied notes until when the bucket may have been empty.
func (m *Model) emptied(p *Policy) {
	if m.newFlows.nano < 1e9 {
		m.emptyTo = m.newFlows.at + (1e9-m.newFlows.nano)/p.NewFlowRate + 1
	}
}

// refresh decides on refresh: the last report is older than RefreshEvery, give or take the jitter.
func (m *Model) refresh(e *Expect, p *Policy, f *flowState, k *Packet) {
	if !m.wants(p, Refresh) {
		return
	}
	age, every := time.Duration(k.Time-f.reported), float64(cmp.Or(f.wait, p.RefreshEvery))
	low := time.Duration(every*(1-p.RefreshJitter)) - refreshSlack
	high := time.Duration(every*(1+p.RefreshJitter)) + refreshSlack
	if p.RefreshMost > p.RefreshEvery { // never before its time; some are made of two times in whole milliseconds
		low, high = time.Duration(every)-5*refreshSlack, high+5*refreshSlack
	}
	switch {
	case age <= low:
	case age <= high || len(e.Must) > 0 || m.waits(p, f, k.Time, age): // a report for another event need not name refresh
		e.may(Refresh, "last report %v ago", age)
	default:
		e.must(Refresh, "last report %v ago", age)
	}
}

// wasReported notes a report. A refresh makes the next one wait twice as long as it did; what is news has those of other flows wait.
func (m *Model) wasReported(f *flowState, p *Policy, now int64, events []string) {
	only := func(event string) bool { return len(events) == 1 && events[0] == event }
	switch {
	case only(Sample):
		f.wait = 0
	case only(Refresh) && p.RefreshMost > p.RefreshEvery:
		f.wait = min(2*cmp.Or(f.wait, p.RefreshEvery), p.RefreshMost)
	}
	for _, e := range events {
		if e != NewFlow && e != FlowEnd && e != Refresh && e != Sample {
			m.newsAt = now
		}
	}
	if !only(NewFlow) {
		f.moved = slices.Contains(events, PathChange)
	}
	f.told, f.reported = f.told || !only(NewFlow), now
}

// waits reports whether a refresh may wait for other flows' news: for twice RefreshEvery after the last, but not much longer than
// RefreshMost.
func (m *Model) waits(p *Policy, f *flowState, now int64, age time.Duration) bool {
	const slack = 5 * refreshSlack
	return p.RefreshMost > p.RefreshEvery && f.told && m.newsAt != 0 && time.Duration(now-m.newsAt) <= 2*p.RefreshEvery+slack &&
		age <= p.RefreshMost+2*p.RefreshEvery+slack
}

// bucket is a token bucket one second deep, full at start.
type bucket struct {
	nano int64 // billionths of a token
	at   int64
	used bool
}

// tokens returns the tokens left, for messages.
func (b *bucket) tokens() float64 { return float64(b.nano) / 1e9 }

func (b *bucket) take(now int64, rate int64) bool {
	if rate == 0 {
		return true
	}
	if !b.used {
		b.used, b.nano, b.at = true, rate*1e9, now
	}
	b.nano = min(rate*1e9, b.nano+min(now-b.at, 1e9)*rate) // it fills in a second
	b.at = now
	if b.nano < 1e9 {
		return false
	}
	b.nano -= 1e9
	return true
}
