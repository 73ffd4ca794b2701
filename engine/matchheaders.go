package engine

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/flows"
)

// matchState is what matchHeaders needs to know besides the burst.
type matchState struct {
	cache *inthdr.HeaderCache
	table *flows.Table
	index flows.Index // of table
}

// matchHeadersGo handles b.vec[from:b.n] as long as HeaderCache.Lookup tells what they are: of
// those with INT it fills header, places, keys and hashes. It returns the place of the first
// of which it does not.
//
// matchHeaders is the same, written in assembly where there is such.
func matchHeadersGo(q *matchState, b *burst, from int) (next int) {
	for i := from; i < b.n; i++ {
		m := b.vec[i]
		f := m.Bytes()
		known, r := q.cache.Lookup(f, m.PktLen())
		switch r {
		case inthdr.CacheUnknown:
			return i
		case inthdr.CacheMatch:
			j := b.nINT
			b.header[j] = known
			udpv4Key(&b.keys[j], f)
			b.hashes[j] = q.table.Hash(&b.keys[j])
			q.table.Touch(b.hashes[j])
			b.places[j] = uint8(i)
			b.nINT++
		}
	}
	return b.n
}

// Where the addresses stand, and behind them the source port, and the original
// destination port in a frame of inthdr.Info.UDPv4.
const (
	udpv4Addrs = 26
	udpv4Orig  = 44
)

// udpv4Key is the key of such a frame.
func udpv4Key(k *flows.Key, f []byte) {
	orig := binary.LittleEndian.Uint16(f[udpv4Orig:])
	f = f[udpv4Addrs : udpv4Addrs+10 : udpv4Addrs+10]
	k.SetUDP(binary.LittleEndian.Uint64(f), binary.LittleEndian.Uint16(f[8:]), orig)
}
