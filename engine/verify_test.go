package engine

import (
	"bytes"
	"testing"

	"intsink/engine/aside/verify"
	"intsink/engine/wire/inthdr"
)

// verifiedOf is what a sink that verifies one INT packet in n counts of these frames, so
// many a burst.
func verifiedOf(t *testing.T, n, burst int, c inthdr.Config, frames ...[]byte) [verify.NumResults]uint64 {
	t.Helper()
	b := newBed(t, func(r *Rules) { r.INT, r.Verify = c, n })
	for len(frames) > 0 {
		k := min(burst, len(frames))
		for _, f := range frames[:k] {
			b.network.RX = append(b.network.RX, bytes.Clone(f))
		}
		frames = frames[k:]
		b.Poll()
		b.host.TX = b.host.TX[:0]
		b.step(1000)
	}
	b.step(2e6)
	v := b.Snapshot().Links[0].Verify.Verified
	b.balance()
	return v
}

// repeated is n times f.
func repeated(f []byte, n int) (all [][]byte) {
	for range n {
		all = append(all, f)
	}
	return all
}

// TestVerifiedPacketsAreOneInN of the INT packets, however they come.
func TestVerifiedPacketsAreOneInN(t *testing.T) {
	f := withINT(t, plain(1), nil)
	port := uint16(5000)
	c := inthdr.Config{UDPPort: &port, Version2: true}
	for _, x := range []struct {
		name     string
		n, burst int
		want     uint64
	}{
		{"none", 0, 32, 0},
		{"all", 1, 32, 3201 - 31}, // the first burst takes the first only
		{"all, alone", 1, 1, 3201},
		{"one in 3", 3, 1, 1067},
		{"one in 100", 100, 32, 33},
		{"one in 100, alone", 100, 1, 33},
		{"one in a million", 1e6, 32, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			want := [verify.NumResults]uint64{verify.Good: x.want}
			if got := verifiedOf(t, x.n, x.burst, c, repeated(f, 3201)...); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestVerifyByReload begins and ends verification.
func TestVerifyByReload(t *testing.T) {
	b := newBed(t, nil)
	f := withINT(t, plain(1), nil)
	pass := func() uint64 {
		for range 10 {
			b.network.RX = [][]byte{bytes.Clone(f)}
			b.Poll()
		}
		b.step(tickNs)
		return b.Snapshot().Links[0].Verify.Verified[verify.Good]
	}
	if n := pass(); n != 0 {
		t.Errorf("%d are verified without being asked for", n)
	}
	on, off := *b.rules, *b.rules
	on.Verify = 1
	b.Reload(&on)
	b.step(tickNs)
	if n := pass(); n != 10 {
		t.Errorf("%d of 10 are verified", n)
	}
	b.Reload(&off)
	b.step(tickNs)
	if n := pass(); n != 10 {
		t.Errorf("%d are verified after the end", n-10)
	}
	b.balance()
}
