package verify_test

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"intsink/engine/aside/verify"
	"intsink/engine/burst/bursttest"
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// TestVerificationTellsWhoseFaultItIs: the sink's alone is bad.
func TestVerificationTellsWhoseFaultItIs(t *testing.T) {
	tcp := bursttest.TCP()
	adapted := bursttest.WithINT(t, bytes.Clone(tcp), bursttest.ByDSCP)
	wrong := bytes.Clone(adapted)
	wrong[len(wrong)-1]++
	header := bytes.Clone(adapted)
	header[24]++ // the checksum of IPv4
	wrongBehind := bytes.Clone(tcp)
	wrongBehind[len(wrongBehind)-1]++
	c, keep := bursttest.Adapting(), bursttest.Keeping()
	inTunnel := bursttest.Wrap(t, bursttest.Tunnel(intgen.VXLAN, true, func(w *intgen.Tunnel) { w.Checksum = false }), adapted)
	wrongInTunnel := bytes.Clone(inTunnel)
	wrongInTunnel[len(wrongInTunnel)-1]++
	newUDP := func(s *intgen.Source, _ []intgen.Hop) { s.Marking = intgen.ByNewUDP }
	six := intgen.Flow{Proto: intgen.UDP, SrcPort: 1, DstPort: 2, Src: netip.MustParseAddr("2001:db8::1"), Dst: netip.MustParseAddr("2001:db8::2")}
	for _, x := range []struct {
		name  string
		c     inthdr.Config
		frame []byte
		want  verify.Result
	}{
		{"right", c, adapted, verify.Good},
		{"UDP over IPv6", c, bursttest.WithINT(t, six.Frame(33, 1), nil), verify.Good},
		{"wrong as it came", c, wrong, verify.Unverifiable},
		{"its header wrong as it came", c, header, verify.Unverifiable},
		{"made wrong by the sink: it keeps checksums that the source adapted", keep, adapted, verify.Bad},
		{"an IPv4 tunnel made for INT around IPv6", c, bursttest.WithINT(t, six.Frame(33, 1), bursttest.Like(bursttest.GRESource())), verify.Unverifiable},
		{"a header made for INT", c, bursttest.WithINT(t, bytes.Clone(tcp), newUDP), verify.Good},
		{"a header made for INT, wrong behind it", c, bursttest.WithINT(t, wrongBehind, newUDP), verify.Unverifiable},
		{"in a tunnel", c, inTunnel, verify.Good},
		{"in a tunnel, wrong as it came", c, wrongInTunnel, verify.Unverifiable},
		{"in a tunnel, made wrong by the sink", keep, inTunnel, verify.Bad},
	} {
		t.Run(x.name, func(t *testing.T) {
			var want [verify.NumResults]uint64
			want[x.want] = 1
			b, counters := bursttest.New(t, x.c), new(verify.Counters)
			a := verify.New([]*verify.Counters{counters}, false)
			a.Adopt(1)
			b.Parse(x.frame)
			if !a.Due(b.Burst, 0) || a.LastBad().Time != 0 {
				t.Fatal("no packet is due, or one was bad before")
			}
			a.Arrived(b.Burst)
			b.Strip()
			if a.Leaving(b.Burst); counters.Verified != want {
				t.Errorf("%v, want %v", counters.Verified, want)
			}
			if bad := a.LastBad(); x.want == verify.Bad && (bad.Time != b.Now || bad.Link != 0 || bad.Flow != b.Fast.Keys[0]) || x.want != verify.Bad && bad.Time != 0 {
				t.Errorf("the last bad packet is %+v", bad)
			}
		})
	}
}

// TestIFAIsVerified: the checksum behind IFA's header counts no IFA. One that was wrong as it came is no fault of the sink;
// what is damaged on the way is.
func TestIFAIsVerified(t *testing.T) {
	six := intgen.Flow{Proto: intgen.TCP, SrcPort: 1, DstPort: 2, Src: netip.MustParseAddr("2001:db8::1"), Dst: netip.MustParseAddr("2001:db8::2")}
	padded := append(bursttest.TCP(), 0, 0, 0)
	for i, orig := range [][]byte{bursttest.Plain(1), bursttest.TCP(), six.Frame(33, 1), padded} {
		last := len(orig) - 4
		wrong := bytes.Clone(orig)
		wrong[last]++
		for name, x := range map[string]intgen.IFA{"live": {}, "checksum": {Checksum: true}, "tail": {Tail: true}, "unknown hops": {Raw: make([]byte, 8)}} {
			with := func(b []byte) []byte {
				return bursttest.WithINT(t, bytes.Clone(b), func(s *intgen.Source, _ []intgen.Hop) {
					*s = intgen.Source{Marking: intgen.ByIFA, Formats: intgen.Formats{IFA: x}}
				})
			}
			for at, want := range map[int]verify.Result{0: verify.Good, 14 + 8: verify.Bad, last: verify.Bad} {
				if got := verified(t, with(orig), at); got != want {
					t.Errorf("packet %d, %s, byte %d damaged: %v, want %v", i, name, at, got, want)
				}
			}
			if got := verified(t, with(wrong), 0); got != verify.Unverifiable {
				t.Errorf("packet %d, %s, wrong as it came: %v", i, name, got)
			}
		}
	}
}

// verified is what comes out where byte at of what leaves is damaged; byte 0 is in no checksum.
func verified(t *testing.T, frame []byte, at int) verify.Result {
	t.Helper()
	b, counters := bursttest.New(t, inthdr.Config{Version2: true, Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}}}), new(verify.Counters)
	a := verify.New([]*verify.Counters{counters}, false)
	a.Adopt(1)
	b.Parse(frame)
	if !a.Due(b.Burst, 0) {
		t.Fatal("no packet is due")
	}
	a.Arrived(b.Burst)
	b.Strip()
	b.Vec[0].Bytes()[at]++
	a.Leaving(b.Burst)
	return verify.Result(slices.Index(counters.Verified[:], 1))
}
