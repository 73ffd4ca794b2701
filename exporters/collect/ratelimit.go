// Limits what an exporter's address may send: packets a second, allowed prefixes.

package collect

import (
	"net/netip"
	"slices"
)

// exporters bounds how many packets each source address may send. It is not safe for
// concurrent use.
type exporters struct {
	rate    float64 // report packets a second; 0: no limit
	max     int     // most exporters that are kept
	buckets map[netip.Addr]*bucket
}

// bucket holds the packets that an exporter may still send at once: at most one second's.
type bucket struct {
	tokens float64
	at     int64 // monotonic nanoseconds
}

func newExporters(rate, most int) *exporters {
	return &exporters{rate: float64(rate), max: most, buckets: map[netip.Addr]*bucket{}}
}

// take reports whether the exporter may send a packet that counts as n, and counts it. One that counts as more
// than a second's packets needs a full bucket.
func (e *exporters) take(a netip.Addr, now int64, n float64) bool {
	if e.rate == 0 {
		return true
	}
	b := e.buckets[a]
	if b == nil {
		if len(e.buckets) >= e.max {
			clear(e.buckets) // forgets exporters that are gone; the others begin with a full bucket
		}
		b = &bucket{e.rate, now}
		e.buckets[a] = b
	}
	b.tokens = min(e.rate, b.tokens+float64(now-b.at)*e.rate/1e9)
	b.at = now
	if b.tokens < min(n, e.rate) {
		return false
	}
	b.tokens -= n
	return true
}

// allows reports whether a is in one of the prefixes. No prefixes allow every address.
func allows(prefixes []netip.Prefix, a netip.Addr) bool {
	return len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}
