// Hashes a key under a secret: two folded multiplications with primes of XXH64.

package flows

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// Primes of XXH64 (xxHash specification, section "XXH64 Algorithm Description"), to
// multiply with.
const (
	prime1 = 0x9e3779b185ebca87
	prime2 = 0xc2b2ae3d27d4eb4f
	prime3 = 0x165667b19e3779f9
)

// hasher hashes keys under a secret, so that nobody outside can aim at a bucket.
type hasher struct {
	keys [3]uint64 // made of the seed, the last one odd
	more [3]uint64 // for IPv6
}

func newHasher(seed uint64) (h hasher) {
	secret := func(i int) uint64 { return xxhash.Sum64(binary.LittleEndian.AppendUint64([]byte{byte(i)}, seed)) }
	for i := range h.keys {
		h.keys[i], h.more[i] = secret(i), secret(3+i)
	}
	h.keys[2] |= 1
	return h
}

// hash is, for IPv4, a product folded: of the addresses and of ports and protocol, each
// xor a secret word; and that again with a third, without which ports in a row do not
// spread. These are two multiplications instead of the six of XXH64, which each packet
// had to wait for. For IPv6 each address is folded before, and of two products one
// does not wait for the other.
func (s *hasher) hash(k *Key) uint64 {
	a, b := k.addrs[0], k.portsProto&^tombstone // the hash of a flow outlives it
	if k.portsProto&sixBit != 0 {
		a = fold(k.addrs[0]^s.more[0], k.addrs[1]^s.more[1])
		b ^= fold(k.addrs[2]^s.more[1], k.addrs[3]^s.more[2])
	}
	return fold(fold(a^s.keys[0], b^s.keys[1]), s.keys[2])
}

// fold returns the upper half of a product xor its lower half.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
