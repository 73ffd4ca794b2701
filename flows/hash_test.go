package flows

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// TestHashIsXXH64: the written out form for IPv4 equals the library's, over the
// bytes in the order that hash documents.
func TestHashIsXXH64(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 10_000 {
		seed := r.Uint64()
		h := newHasher(seed)
		k := Key{Src: [2]uint64{1: uint64(r.Uint32())}, Dst: [2]uint64{1: uint64(r.Uint32())}}
		k.SetPorts(4, uint8(r.Uint32()), uint16(r.Uint32()), uint16(r.Uint32()))
		b := binary.LittleEndian.AppendUint64(nil, seed)
		b = binary.LittleEndian.AppendUint64(b, k.rest)
		b = binary.LittleEndian.AppendUint64(b, k.Src[1]<<32|k.Dst[1])
		if got, want := h.hash(&k), xxhash.Sum64(b); got != want {
			t.Fatalf("seed %x, key %+v: %x, want %x", seed, k, got, want)
		}
		k.SetPorts(6, 17, 1, 2)
		k.Src[0], k.Dst[0] = r.Uint64(), r.Uint64()
		b = binary.LittleEndian.AppendUint64(nil, seed)
		for _, w := range []uint64{k.rest, k.Src[0], k.Src[1], k.Dst[0], k.Dst[1]} {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		if got, want := h.hash(&k), xxhash.Sum64(b); got != want {
			t.Fatalf("seed %x, key %+v: %x, want %x", seed, k, got, want)
		}
	}
}
