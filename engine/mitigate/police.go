// police: the rate of a rule, shared by workers in one word (GCRA).

package mitigate

import "sync/atomic"

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
