package flows

import (
	"encoding/binary"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// BenchmarkHash: the hash of the flow table beside XXH64 of the same words under a secret, each result needed for the
// next key, as a packet waits for its bucket.
func BenchmarkHash(b *testing.B) {
	k := keyOf(7)
	b.Run("table", func(b *testing.B) {
		h := newHasher(7)
		for range b.N {
			k.portsProto = k.portsProto&^0xffff | h.hash(&k)&0xffff
		}
	})
	b.Run("xxh64", func(b *testing.B) {
		var words [32]byte // secret, addresses, ports and protocol
		binary.LittleEndian.PutUint64(words[8:], k.addrs[0])
		for range b.N {
			binary.LittleEndian.PutUint16(words[16:], uint16(xxhash.Sum64(words[:24])))
		}
	})
}
