package checksum

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// plainSum is RFC 1071 as written down there: 16 bits at a time.
func plainSum(b []byte) uint16 {
	var s uint32
	for i := range b {
		s += uint32(b[i]) << (8 * (1 - i%2))
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32() | rng.Uint32()) // many ones: many carries
		}
		if got, want := Sum(b), plainSum(b); got != want && got%0xffff != want%0xffff {
			t.Errorf("%d bytes: %04x, want %04x", n, got, want)
		}
	}
	ones := bytes.Repeat([]byte{0xff}, 64)
	if got := AddOnes(0xffff, Sum(ones)); got != 0xffff {
		t.Errorf("ones: %04x", got)
	}
}
