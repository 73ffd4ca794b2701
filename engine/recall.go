package engine

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/flows"
)

// recallState is what recallRun needs to know besides the burst.
type recallState struct {
	memory *inthdr.HeaderCache
	table  *flows.Table
	index  flows.Index // of table
}

// recallGo handles b.vec[from:b.n] as long as HeaderCache.Lookup tells what they are: of
// those with INT it fills known, int, key and hash. It returns the place of the first
// of which it does not.
//
// recallRun is the same, written in assembly where there is such.
func recallGo(q *recallState, b *burst, from int) (next int) {
	for i := from; i < b.n; i++ {
		m := b.vec[i]
		f := m.Bytes()
		known, r := q.memory.Lookup(f, m.PktLen())
		switch r {
		case inthdr.CacheUnknown:
			return i
		case inthdr.CacheMatch:
			j := b.nINT
			b.known[j] = known
			plainKey(&b.keys[j], f)
			b.hashes[j] = q.table.Hash(&b.keys[j])
			q.table.Touch(b.hashes[j])
			b.int[j] = uint8(i)
			b.nINT++
		}
	}
	return b.n
}

// Where the addresses stand, and behind them the source port, and the original
// destination port in a frame of inthdr.Info.UDPv4.
const (
	plainAddrs = 26
	plainOrig  = 44
)

// plainKey is the key of such a frame.
func plainKey(k *flows.Key, f []byte) {
	orig := binary.LittleEndian.Uint16(f[plainOrig:])
	f = f[plainAddrs : plainAddrs+10 : plainAddrs+10]
	k.SetUDP(binary.LittleEndian.Uint64(f), binary.LittleEndian.Uint16(f[8:]), orig)
}
