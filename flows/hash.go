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
	seed uint64
	keys [3]uint64 // made of seed, the last one odd
}

func newHasher(seed uint64) hasher {
	h := hasher{seed: seed}
	for i := range h.keys {
		b := binary.LittleEndian.AppendUint64([]byte{byte(i)}, seed)
		h.keys[i] = xxhash.Sum64(b)
	}
	h.keys[2] |= 1
	return h
}

// hash is, for IPv4, a product folded, its upper half xor its lower half: of the
// addresses and of ports and protocol, each xor a secret word; and that again with a
// third, without which ports in a row do not spread. These are two multiplications
// instead of the six of XXH64, which each packet had to wait for. For IPv6 it is
// xxhash.Sum64 over seed, ports and addresses.
func (s *hasher) hash(k *Key) uint64 {
	if uint8(k.rest) == 4 {
		hi, lo := bits.Mul64((k.Src[1]<<32|k.Dst[1])^s.keys[0], k.rest^s.keys[1])
		hi, lo = bits.Mul64(hi^lo, s.keys[2])
		return hi ^ lo
	}
	return s.hashIPv6(k)
}

//go:noinline
func (s *hasher) hashIPv6(k *Key) uint64 {
	var b [48]byte
	binary.LittleEndian.PutUint64(b[:], s.seed)
	binary.LittleEndian.PutUint64(b[8:], k.rest)
	binary.LittleEndian.PutUint64(b[16:], k.Src[0])
	binary.LittleEndian.PutUint64(b[24:], k.Src[1])
	binary.LittleEndian.PutUint64(b[32:], k.Dst[0])
	binary.LittleEndian.PutUint64(b[40:], k.Dst[1])
	return xxhash.Sum64(b[:])
}
