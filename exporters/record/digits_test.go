package record

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"testing"
)

// TestDigits compares the digits of numbers and addresses with those of packages strconv and netip.
func TestDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(got []byte, want string) {
		t.Helper()
		if string(got) != "x"+want {
			t.Fatalf("%s, want x%s", got, want)
		}
	}
	var numbers []uint64
	for v := range uint64(2_000_000) { // all that appendDecimal writes itself, and some more
		numbers = append(numbers, v)
	}
	for bit := range 64 {
		numbers = append(numbers, 1<<bit-1, 1<<bit, math.MaxUint64>>bit, r.Uint64()>>bit)
	}
	x := []byte("x")
	for _, v := range numbers {
		check(appendDecimal(x, v), strconv.FormatUint(v, 10))
		check(appendHexNumber(x, v), strconv.FormatUint(v, 16))
	}
	check(appendHex64(x, 0x0123456789abcdef), "0123456789abcdef")
	for range 100_000 {
		v := r.Uint32()
		a := netip.AddrFrom4([4]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
		check(appendAddr(x, a), a.String())
	}
	for _, a := range []string{"0.0.0.0", "255.255.255.255", "9.10.99.100", "::", "2001:db8::1", "::ffff:192.0.2.1"} {
		check(appendAddr(x, netip.MustParseAddr(a)), a)
	}
	check(appendAddr(x, netip.MustParseAddr("fe80::1%eth0")), "fe80::1")
}
