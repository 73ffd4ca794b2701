// Budget and Bucket: decides whether a report of some priority may be sent now, by a rate that
// workers share (GCRA).

package reporting

import (
	"math"
	"sync/atomic"

	"intsink/engine/event"
)

// Budget bounds how much one collector is sent; a rate of 0 is no limit.
type Budget struct {
	Packets, Bits uint64 // per second; bits are those of whole frames
	Reports       uint64 // per second, however many share a packet
	Burst         int64  // nanoseconds of each rate that may be spent at once
	Headers       int    // bytes of Ethernet, IP and UDP headers of a report packet
}

// Bucket keeps how much of one collector's budget is spent. All workers share it: flows are
// spread evenly over workers, events are not, and a budget of ten packets a second is too
// small to be cut into shares. A worker reads and writes it once per report, and only if there
// is a budget.
//
// A rate is kept as the time until which it is spent (generic cell rate algorithm,
// ITU-T I.371): one word that needs no refill and stays right when the rate
// changes.
type Bucket struct {
	_             [64]byte // a cache line of its own
	packets, bits atomic.Int64
	reports       atomic.Int64
	silent        [event.NumPriorities]atomic.Int64 // until this time no report of the priority is sent
	_             [64]byte
}

// NewBucket returns a bucket that is full.
func NewBucket() *Bucket {
	b := &Bucket{}
	b.packets.Store(math.MinInt64)
	b.bits.Store(math.MinInt64)
	b.reports.Store(math.MinInt64)
	return b
}

// Two rules make priorities strict. Every priority leaves a share of the burst to those before
// it, so that their reports find something when they come. And after a report was shed, no
// report of a lower priority is sent for a second: the budget of that second belongs to the
// priority that went without. The second rule matters if the burst is too short to be shared.
const (
	silence      = 1e9
	silenceSlack = 1e6 // nanoseconds: the word is written at most once in this time, not per report shed
)

// shed keeps every priority below p from sending for a second.
func (b *Bucket) shed(p event.Priority, now int64) {
	for q := int(p) + 1; q < len(b.silent); q++ {
		if until := &b.silent[q]; until.Load() < now+silence {
			until.Store(now + silence + silenceSlack)
		}
	}
}

// limit is one worker's part in keeping to a collector's budget.
type limit struct {
	on            bool
	packets, bits meter
	reports       meter
	headers       int
	bucket        *Bucket
	opener        event.Priority // priority of the report for which the open packet was opened
}

func (l *limit) configure(b Budget) {
	l.on = b.Packets != 0 || b.Bits != 0 || b.Reports != 0
	l.reports = meter{rate: b.Reports, burst: b.Burst}
	l.packets, l.bits = meter{rate: b.Packets, burst: b.Burst}, meter{rate: b.Bits, burst: b.Burst}
	l.headers = b.Headers
}

// take spends bits, and a packet if the report opens one. It returns false, and spends nothing,
// if the report is to be shed.
func (l *limit) take(p event.Priority, opens bool, bits int, now int64) bool {
	if now < l.bucket.silent[p].Load() || !l.spend(p, opens, bits, now) {
		l.bucket.shed(p, now)
		return false
	}
	if opens {
		l.opener = p
	}
	return true
}

func (l *limit) spend(p event.Priority, opens bool, bits int, now int64) bool {
	packet, credit := int64(0), l.packets.credit
	switch {
	case opens:
		var ok bool
		if packet, ok = l.packets.take(&l.bucket.packets, p, 1, now); !ok {
			return false
		}
	case p > l.opener && l.packets.scarce(&l.bucket.packets, p, now):
		return false // the report would fill a packet that higher priorities need
	}
	one, before := int64(0), l.reports.credit
	ok := true
	if one, ok = l.reports.take(&l.bucket.reports, p, 1, now); ok {
		_, ok = l.bits.take(&l.bucket.bits, p, uint64(bits), now)
	}
	if !ok {
		l.packets.giveBack(&l.bucket.packets, packet, credit)
		l.reports.giveBack(&l.bucket.reports, one, before)
	}
	return ok
}

// refusedUntil returns the time before which take returns false for a report of any size, unless a packet
// is opened or closed meanwhile. opens says that there is no open report packet, so that the report
// would open one.
func (l *limit) refusedUntil(p event.Priority, opens bool) int64 {
	until := max(l.bucket.silent[p].Load(), l.reports.from(&l.bucket.reports, p, 1))
	if opens {
		return max(until, l.packets.from(&l.bucket.packets, p, 1))
	} else if p > l.opener {
		return max(until, l.packets.ampleFrom(&l.bucket.packets, p))
	}
	return until
}

// meter converts amounts (packets or bits) into the time that they take at one rate.
type meter struct {
	rate   uint64 // per second; 0: no limit
	burst  int64
	credit uint64 // by how much rounding up has charged too much, in 1/1e9 of the unit
}

// reserve returns the part of the burst, as time, that p leaves to the priorities before it.
func (m *meter) reserve(p event.Priority) int64 {
	return m.burst / int64(event.NumPriorities) * int64(p)
}

// take spends amount and returns the time that it takes. An amount larger than p may spend at
// once passes when the whole burst is unspent; the next one waits until the debt is paid.
func (m *meter) take(spent *atomic.Int64, p event.Priority, amount uint64, now int64) (int64, bool) {
	if m.rate == 0 {
		return 0, true
	}
	cost, credit := m.cost(amount)
	latest := m.latest(p, cost, now)
	for {
		old := spent.Load()
		from := max(old, now-m.burst)
		if from > latest {
			return 0, false
		}
		if spent.CompareAndSwap(old, from+cost) {
			m.credit = credit
			return cost, true
		}
	}
}

// giveBack undoes a take that spent cost; credit is that of before.
func (m *meter) giveBack(spent *atomic.Int64, cost int64, credit uint64) {
	if cost > 0 {
		spent.Add(-cost)
		m.credit = credit
	}
}

// latest returns the latest spent time at which a report of priority p can still spend cost at
// now.
func (m *meter) latest(p event.Priority, cost, now int64) int64 {
	return now - m.reserve(p) - min(cost, m.burst-m.reserve(p))
}

// from returns the time from which on take succeeds for amount, if nothing is spent meanwhile.
func (m *meter) from(spent *atomic.Int64, p event.Priority, amount uint64) int64 {
	if m.rate == 0 {
		return math.MinInt64
	}
	cost, _ := m.cost(amount)
	return spent.Load() - m.latest(p, cost, 0)
}

// cost returns the time that amount takes, rounded up, and the credit after it. By the credit a
// sum of costs is exact to a nanosecond, and never too low.
func (m *meter) cost(amount uint64) (ns int64, credit uint64) {
	n := amount * 1e9
	if n <= m.credit {
		return 0, m.credit - n
	}
	n -= m.credit
	t := (n + m.rate - 1) / m.rate
	return int64(t), t*m.rate - n
}

// scarce reports whether the rest of the budget is less than the share that p must leave to
// the priorities before it.
func (m *meter) scarce(spent *atomic.Int64, p event.Priority, now int64) bool {
	return now < m.ampleFrom(spent, p)
}

// ampleFrom returns the time from which on the rest of the budget is not scarce, if nothing is spent
// meanwhile.
func (m *meter) ampleFrom(spent *atomic.Int64, p event.Priority) int64 {
	if m.rate == 0 {
		return math.MinInt64
	}
	return spent.Load() + m.reserve(p)
}
