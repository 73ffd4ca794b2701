// Types: counts packets of INT-MX, with IFA and marked by queues, all in one number that C adds up.

package fast

// Types counts packets of a burst, or of all bursts of one call into C, which are fewer than 2^21.
type Types uint64

// one of each.
const (
	oneMX     Types = 1
	oneIFA    Types = 1 << 21
	oneMarked Types = 1 << 42
	ofOne           = oneIFA - 1 // bits of each
)

// MX returns how many are of INT-MX.
func (t Types) MX() uint64 { return uint64(t & ofOne) }

// IFA returns how many have IFA.
func (t Types) IFA() uint64 { return uint64(t / oneIFA & ofOne) }

// Marked returns how many a queue had marked.
func (t Types) Marked() uint64 { return uint64(t / oneMarked) }
