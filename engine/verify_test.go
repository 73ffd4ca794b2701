package engine

import (
	"bytes"
	"net/netip"
	"testing"

	"intsink/engine/aside/verify"
	"intsink/engine/burst/bursttest"
	"intsink/engine/wire/intgen"
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

// TestVerificationTellsWhoseFaultItIs: the sink's alone is bad.
func TestVerificationTellsWhoseFaultItIs(t *testing.T) {
	tcp := tcpPacket()
	adapted := withINT(t, bytes.Clone(tcp), byDSCP)
	wrong := bytes.Clone(adapted)
	wrong[len(wrong)-1]++
	header := bytes.Clone(adapted)
	header[24]++ // the checksum of IPv4
	wrongBehind := bytes.Clone(tcp)
	wrongBehind[len(wrongBehind)-1]++
	c, keep := adaptingAndKeeping()
	tunnel := &intgen.Tunnel{Encap: intgen.VXLAN, Src: netip.MustParseAddr("10.9.0.1"), Dst: netip.MustParseAddr("10.9.0.2")}
	inTunnel, err := tunnel.Wrap(bytes.Clone(adapted))
	if err != nil {
		t.Fatal(err)
	}
	wrongInTunnel := bytes.Clone(inTunnel)
	wrongInTunnel[len(wrongInTunnel)-1]++
	newUDP := func(s *intgen.Source, _ []intgen.Hop) { s.Marking = intgen.ByNewUDP }
	six := intgen.Flow{Proto: intgen.UDP, SrcPort: 1, DstPort: 2, Src: netip.MustParseAddr("2001:db8::1"), Dst: netip.MustParseAddr("2001:db8::2")}
	greProtocol := uint16(0x88b6)
	gre, inGRE := inthdr.Config{GREProtocol: &greProtocol, Version2: true}, bursttest.Like(bursttest.GRESource())
	for _, x := range []struct {
		name  string
		c     inthdr.Config
		frame []byte
		want  verify.Result
	}{
		{"right", c, adapted, verify.Good},
		{"UDP over IPv6", c, withINT(t, six.Frame(33, 1), nil), verify.Good},
		{"wrong as it came", c, wrong, verify.Unverifiable},
		{"its header wrong as it came", c, header, verify.Unverifiable},
		{"made wrong by the sink: it keeps checksums that the source adapted", keep, adapted, verify.Bad},
		{"an IPv4 tunnel made for INT around IPv6", gre, withINT(t, six.Frame(33, 1), inGRE), verify.Unverifiable},
		{"a header made for INT", c, withINT(t, bytes.Clone(tcp), newUDP), verify.Good},
		{"a header made for INT, wrong behind it", c, withINT(t, wrongBehind, newUDP), verify.Unverifiable},
		{"in a tunnel", c, inTunnel, verify.Good},
		{"in a tunnel, wrong as it came", c, wrongInTunnel, verify.Unverifiable},
		{"in a tunnel, made wrong by the sink", keep, inTunnel, verify.Bad},
	} {
		t.Run(x.name, func(t *testing.T) {
			var want [verify.NumResults]uint64
			want[x.want] = 1
			if got := verifiedOf(t, 1, 1, x.c, x.frame); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestLastBadPacketIsKept for the log.
func TestLastBadPacketIsKept(t *testing.T) {
	b := newBed(t, func(r *Rules) {
		r.INT, r.Verify = inthdr.Config{DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}, Version2: true, KeepChecksum: true}, 1
	})
	if got := b.Verification.LastBad(); got.Time != 0 {
		t.Errorf("%+v before there was one", got)
	}
	b.network.RX = [][]byte{withINT(t, plain(7), byDSCP)}
	b.now += 5
	b.Poll()
	if got := b.Verification.LastBad(); got.Time != b.now || got.Link != 0 || got.Flow.Src()[1] != 0x0a000007 {
		t.Errorf("%+v, want flow 7 at %d", got, b.now)
	}
	b.balance()
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
