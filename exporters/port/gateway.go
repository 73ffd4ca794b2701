// gateway: keeps a gateway's MAC address, decides when to ask for it again and when it is
// no longer known.

package port

import "sync/atomic"

// How often the gateway is asked for its MAC address, in nanoseconds: at most
// once a second (RFC 1122, section 2.3.2.1; RetransTimer of RFC 4861), twice as
// long after each time without an answer.
const (
	firstWait    = int64(1e9)
	longestWait  = int64(8e9)
	refreshEvery = int64(30e9) // an address that is known is asked for again
	patience     = 3           // times asked without an answer, and it is not known any more
)

// gateway keeps a gateway's MAC address. The worker that asks writes mac, and any worker that
// hears an answer writes offer: none waits for another.
type gateway struct {
	mac   atomic.Uint64 // packed; 0: unknown
	offer atomic.Uint64 // the latest answer, until the asking worker takes it

	due   int64 // when to ask next
	tries int   // times asked since the last answer
}

const known = 1 << 48

func pack(m MAC) uint64 {
	return known | uint64(m[0])<<40 | uint64(m[1])<<32 | uint64(m[2])<<24 | uint64(m[3])<<16 | uint64(m[4])<<8 | uint64(m[5])
}

func unpack(x uint64) MAC {
	return MAC{byte(x >> 40), byte(x >> 32), byte(x >> 24), byte(x >> 16), byte(x >> 8), byte(x)}
}

// tick takes the latest answer and tells whether the gateway is to be asked now.
func (g *gateway) tick(now int64) (ask bool) {
	if g.offer.Load() != 0 {
		g.mac.Store(g.offer.Swap(0))
		g.tries, g.due = 0, now+refreshEvery
	}
	if now < g.due {
		return false
	}
	if g.tries >= patience {
		g.mac.Store(0)
	}
	g.due = now + min(firstWait<<min(g.tries, 8), longestWait)
	g.tries++
	return true
}
