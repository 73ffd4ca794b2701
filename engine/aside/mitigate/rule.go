// Rule: action and counters of one mitigation rule; Table, all of them; police: its rate, which
// workers share.

package mitigate

import (
	"sync/atomic"

	"intsink/engine/selector"
)

// MaxRules bounds the rules of a Table.
const MaxRules = selector.MaxRules

// Action is what happens to a packet that a rule selects.
type Action uint8

const (
	Count  Action = iota // it passes
	Drop                 // it is dropped
	Police               // it is dropped where the rule's rate is exceeded
	NumActions
)

// String returns the name of the action in the API and in labels.
func (a Action) String() string { return [NumActions]string{"count", "drop", "police"}[a] }

// ActionOf returns the Action of a name; false: there is none of that name.
func ActionOf(name string) (Action, bool) {
	for a := range NumActions {
		if a.String() == name {
			return a, true
		}
	}
	return 0, false
}

// Rule is one rule. Workers count in it, each in its own cache line; nothing else of it
// changes.
type Rule struct {
	selector.Rule // changes when it ends
	ID            uint64
	Action        Action

	police   police
	counters []counters // by worker
}

// NewRule makes a rule that so many workers count in. It ends at expires; bits is the rate
// per second of a rule that polices, which begins to count at now.
func NewRule(id uint64, m selector.Match, a Action, bits uint64, now, expires int64, workers int) *Rule {
	r := &Rule{ID: id, Action: a, counters: make([]counters, workers)}
	r.Match = m
	r.police.init(bits, now)
	r.Extend(expires)
	return r
}

// Table is rules, compiled. Nothing changes it: workers share it.
type Table struct {
	*selector.Table
	rules []*Rule
}

// At is the rule that has place i.
func (t *Table) At(i int) *Rule { return t.rules[i] }

// New compiles rules, at most MaxRules: the first that selects a packet wins. Without
// any there is no Table: nil.
func New(rules []*Rule) *Table {
	if len(rules) == 0 {
		return nil
	}
	selecting := make([]*selector.Rule, len(rules))
	for i, r := range rules {
		selecting[i] = &r.Rule
	}
	return &Table{selector.New(selecting), rules}
}

// counters are the counters of one worker, which alone writes them.
type counters struct {
	packets, bytes, droppedPackets, droppedBytes atomic.Uint64

	_ [32]byte // to a cache line
}

// Counters counts the packets and bytes that a rule has selected, and those of them that it
// dropped.
type Counters struct{ Packets, Bytes, DroppedPackets, DroppedBytes uint64 }

// Counters returns the sums over all workers. Any goroutine may call it.
func (r *Rule) Counters() (sum Counters) {
	for i := range r.counters {
		c := &r.counters[i]
		sum.DroppedPackets += c.droppedPackets.Load()
		sum.DroppedBytes += c.droppedBytes.Load()
		sum.Packets += c.packets.Load()
		sum.Bytes += c.bytes.Load()
	}
	return sum
}

// Count counts packets that r selects, for a worker.
func (r *Rule) Count(worker int, packets, bytes uint64) {
	c := &r.counters[worker%len(r.counters)]
	add(&c.packets, packets)
	add(&c.bytes, bytes)
}

// Wants tells whether a packet of so many bytes that r selects is to be dropped.
func (r *Rule) Wants(now int64, bytes int) (drop bool) {
	switch r.Action {
	case Drop:
		return true
	case Police:
		return !r.police.take(now, bytes)
	}
	return false
}

// Dropped counts packets that r wanted dropped, and were.
func (r *Rule) Dropped(worker int, packets, bytes uint64) {
	c := &r.counters[worker%len(r.counters)]
	add(&c.droppedPackets, packets)
	add(&c.droppedBytes, bytes)
}

// add needs no locked instruction: there is one writer.
func add(c *atomic.Uint64, n uint64) { c.Store(c.Load() + n) }

// Bounds of a rate in bits per second, and of the life of a rule in nanoseconds: within
// them no time of police overflows.
const (
	MinRate = 1000
	MaxRate = 400e9
	MaxLife = 30 * 24 * 3600 * 1e9
)

// policeBurst is how far a rule's traffic may be ahead of its rate.
const policeBurst = 100e6

// fraction is the unit of police's times: 1/fraction ns. A bit at 400 Gbit/s takes 2.5.
const fraction = 1024

// police is a rate that all workers share. It is kept as the time until which it is spent
// (generic cell rate algorithm, ITU-T I.371): one word, which needs no refill.
type police struct {
	bits  uint64 // per second
	since int64  // where the times of spent begin

	_     [40]byte // spent has a cache line of its own
	spent atomic.Int64
	_     [56]byte
}

func (p *police) init(bits uint64, now int64) { p.bits, p.since = bits, now }

// take spends a packet. False: it exceeds the rate, and nothing is spent. A packet that
// comes when nothing is owed passes, however long it is.
func (p *police) take(now int64, bytes int) bool {
	if p.bits == 0 {
		return false
	}
	at := min(max(now-p.since, 0), MaxLife) * fraction
	cost := int64(uint64(bytes) * 8 * 1e9 * fraction / p.bits) // of 64 KB: less than 1<<59 / MinRate
	for {
		spent := p.spent.Load()
		if spent-at > policeBurst*fraction {
			return false
		}
		if p.spent.CompareAndSwap(spent, max(spent, at)+cost) {
			return true
		}
	}
}
