package simulate

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"intsink/conf"
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
)

// TestUnmarked: INT that nobody looks for is found by the marking that it has, among other packets.
func TestUnmarked(t *testing.T) {
	for want, s := range map[string]intgen.Source{
		"int { udp_port = 6000 } # 50 of the first 100 packets":                  {Marking: intgen.ByPort, UDPPort: 6000},
		"int { dscp = { value = 11, mask = 63 } } # 50 of the first 100 packets": {Marking: intgen.ByDSCP, DSCP: 11, Mask: 63},
		"": {},
	} {
		s.Type, s.Bitmap, s.MaxHops = intgen.TypeMD, intgen.DefaultBitmap, 8
		u := NewUnmarked()
		for n := range 50 {
			frame := intgen.NthFlow(n, false, n%3 == 0).Frame(200, uint32(n))
			u.Packet(frame)
			if want == "" {
				u.Packet(noise(frame, uint64(n)))
				continue
			}
			marked, err := s.Insert(frame, []intgen.Hop{{NodeID: 1, LatencyNs: 5}, {NodeID: 2, LatencyNs: 5}})
			if err != nil {
				t.Fatal(err)
			}
			u.Packet(marked)
		}
		if got := strings.Join(u.Lines(), "\n"); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

// noise is a frame with a payload of random bytes.
func noise(frame []byte, seed uint64) []byte {
	r, b := rand.New(rand.NewPCG(seed, 0)), append([]byte{}, frame...)
	for i := len(b) - 100; i < len(b); i++ {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestUnmarkedIsBounded: a capture with every port there is takes no more room than so many.
func TestUnmarkedIsBounded(t *testing.T) {
	u, f := NewUnmarked(), intgen.NthFlow(1, false, false)
	for n := range 2 * mostTries {
		f.DstPort = uint16(n + 1)
		u.Packet(f.Frame(100, 0))
	}
	if len(u.tries) != mostTries || len(u.Lines()) != 0 {
		t.Errorf("%d lines are tried, found %q", len(u.tries), u.Lines())
	}
}

// TestFlowsOfCopies: plan counts the flows that sent copies and no live packet, and those that sent live packets and no copy.
func TestFlowsOfCopies(t *testing.T) {
	u := NewUnmarked()
	s := intgen.Source{Marking: intgen.ByIFA, Formats: intgen.Formats{IFA: intgen.IFA{Copy: true}}}
	for n := range 100 {
		f := intgen.NthFlow(n%20, n%20%2 == 0, n%20%3 == 0)
		frame := f.Frame(200, uint32(n))
		marked, err := s.Insert(frame, []intgen.Hop{{NodeID: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if n%20 >= 4 { // of the first four flows there are copies alone
			u.Packet(frame)
		}
		if n%20 < 17 { // of the last three packets alone
			u.Packet(marked)
		}
	}
	const want = "85 packets with I = 0, and 65 of these without IFA, too: copies (copies without a packet came of 4 flows, packets without a copy of 3 flows)"
	if got := u.Seen().IFA; len(got) != 1 || got[0].counts() != want {
		t.Errorf("%+v, want %s", got, want)
	}
}

// TestUnmarkedIFA: IFA is found by whatever protocol it has; packets with I = 0 are copies where the packets are there, too.
func TestUnmarkedIFA(t *testing.T) {
	for _, c := range []struct {
		copied, plain bool
		counts, under string
	}{
		{false, false, "50 packets with I = 1, live", ""},
		{false, true, "50 packets with I = 1, live", ""},
		{true, true, "50 packets with I = 0, and 50 of these without IFA, too: copies", ""},
		{true, false, "50 packets with I = 0, and 0 of these without IFA, too: live packets, unless these take another way", `; copies = "drop" would lose them`},
	} {
		u := NewUnmarked()
		for n := range 50 {
			frame := intgen.NthFlow(n, n%2 == 0, n%3 == 0).Frame(200, uint32(n))
			s := intgen.Source{Marking: intgen.ByIFA, Formats: intgen.Formats{IFA: intgen.IFA{Copy: c.copied, HopLen: 32}}}
			marked, err := s.Insert(frame, []intgen.Hop{{NodeID: 1, LatencyNs: 5}, {NodeID: 2, LatencyNs: 5}})
			if err != nil {
				t.Fatal(err)
			}
			if u.Packet(marked); c.plain {
				u.Packet(frame)
			} else {
				u.Packet(noise(frame, uint64(n)))
			}
		}
		got := u.Seen().IFA
		if len(got) != 1 {
			t.Fatalf("%+v: found %+v", c, got)
		}
		under := got[0].Under(&conf.IFA{Protocol: []uint8{253}, Copies: conf.DropCopies})
		if want := "IFA by IP protocol 253: " + c.counts; under != want+c.under || !strings.HasSuffix(u.Lines()[0], c.counts) {
			t.Errorf("%q and %q, want %q", under, u.Lines(), want+c.under)
		}
		if other := got[0].Under(nil); !strings.HasSuffix(other, "so it stays in") {
			t.Error(other)
		}
	}
}

// TestUnmarkedIFA1: copies with IFA 1.0 are found by H3C's marker, and are no packets that others are copies of.
func TestUnmarkedIFA1(t *testing.T) {
	frame := intgen.NthFlow(1, false, false).Frame(200, 1)
	copied := slices.Insert(frame, 14+20+8, 0xaa, 0xaa, 0xaa, 0xaa, 0xbb, 0xbb, 0xbb, 0xbb, 1, 1, 0, 0, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	binary.BigEndian.PutUint16(copied[16:], uint16(len(copied)-14))
	u := NewUnmarked()
	for range 2 {
		u.Packet(copied)
	}
	marker := uint64(ifa.MarkerOfH3C)
	const want = "IFA 1.0: 2 packets with the marker 0xaaaaaaaabbbbbbbb: copies"
	if n := u.Seen().IFA1; IFA1Line(n, &conf.IFA{Marker: &marker}) != want || IFA1Line(n, nil) != want+"; no block ifa looks for it, so they reach the host" || IFA1Line(0, nil) != "" {
		t.Errorf("%d: %s", n, IFA1Line(n, nil))
	}
	if got := u.Lines(); len(got) != 1 || !strings.Contains(got[0], `marker   = "0xaaaaaaaabbbbbbbb"`) || !strings.HasSuffix(got[0], "# 2 packets with IFA 1.0") {
		t.Errorf("%q", got)
	}
}

// TestUnmarkedIOAM: IOAM is found by its namespace, a second one in the same packet, too, with the clock of its nodes.
func TestUnmarkedIOAM(t *testing.T) {
	for want, fraction := range map[conf.IOAMClock]uint32{conf.POSIXClock: 999_999, conf.TruncatedPTPClock: 999_999_999, conf.NTPClock: 4_000_000_000, "": 1<<32 - 1} {
		u := NewUnmarked()
		for n := range 50 {
			frame := intgen.NthFlow(n, n%3 == 0, true).Frame(200, uint32(n))
			u.Packet(noise(frame, uint64(n)))
			node := []byte{62, 0, 0, 1}
			node = binary.BigEndian.AppendUint32(node, 4_000_000_000)
			node = binary.BigEndian.AppendUint32(node, fraction)
			frame = withIOAM(t, frame, intgen.IOAM{Namespace: 7, Type: 0xb00000, Raw: node, Active: n%5 == 0})
			if n%2 == 0 {
				frame = withIOAM(t, frame, intgen.IOAM{Namespace: 9, Type: 0x800000, Destination: true})
			}
			u.Packet(frame)
		}
		diff := cmp.Diff([]IOAMSeen{{Namespace: 7, Packets: 50, Probes: 10, Clock: want}, {Namespace: 9, Packets: 25}}, u.Seen().IOAM)
		if diff != "" {
			t.Errorf("clock %q: %s", want, diff)
			continue
		}
		clock := ""
		if want == conf.TruncatedPTPClock || want == conf.NTPClock {
			clock = fmt.Sprintf("\n      clock     = %q", want)
		}
		lines := []string{"int {\n    ioam {\n      namespace = 7" + clock + "\n    }\n  } # 50 packets, of which 10 are probes", "int {\n    ioam {\n      namespace = 9\n    }\n  } # 25 packets"}
		if diff := cmp.Diff(lines, u.Lines()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestUnmarkedTunnelsOfIOAM: where they go is told, and what the configuration leaves of them.
func TestUnmarkedTunnelsOfIOAM(t *testing.T) {
	u := NewUnmarked()
	end := netip.MustParseAddr("2001:db8::e")
	for n := range 50 {
		s := intgen.Source{Marking: intgen.ByIOAM, Formats: intgen.Formats{IOAM: intgen.IOAM{Namespace: 7, Type: 0x800000, Tunnel: true}}, OuterSrc: end, OuterDst: end}
		frame, err := s.Insert(intgen.NthFlow(n, n%3 == 0, n%2 == 0).Frame(200, uint32(n)), []intgen.Hop{{NodeID: 1}})
		if err != nil {
			t.Fatal(err)
		}
		u.Packet(frame)
	}
	all := u.Seen().IOAM
	if diff := cmp.Diff([]IOAMSeen{{Namespace: 7, Packets: 50, Tunnels: []netip.Addr{end}}}, all, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Fatal(diff)
	}
	const want = "int {\n    ioam {\n      namespace = 7\n      # decapsulate = [\"2001:db8::e\"] # if hosts do not end these tunnels\n    }\n  } # 50 packets"
	if got := u.Lines(); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	for want, c := range map[string]*conf.IOAM{
		`; tunnels to "2001:db8::e" stay, which hosts have to end (else: decapsulate)`: {Namespace: []uint16{7}, Clock: conf.POSIXClock},
		"": {Namespace: []uint16{7}, Clock: conf.POSIXClock, Decapsulate: []netip.Addr{end}},
	} {
		if got := all[0].Under(c); got != "IOAM of namespace 7: 50 packets"+want {
			t.Errorf("%q", got)
		}
	}
}

// withIOAM is a frame with an option more.
func withIOAM(t *testing.T, frame []byte, x intgen.IOAM) []byte {
	s := intgen.Source{Marking: intgen.ByIOAM, Formats: intgen.Formats{IOAM: x}}
	frame, err := s.Insert(frame, []intgen.Hop{{NodeID: 1}, {NodeID: 2}})
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// TestIOAMUnderAConfiguration: plan says what the block ioam makes of packets.
func TestIOAMUnderAConfiguration(t *testing.T) {
	s := IOAMSeen{Namespace: 7, Packets: 1, Clock: conf.NTPClock}
	for want, c := range map[string]*conf.IOAM{
		"": {Namespace: []uint16{6, 7}, Clock: conf.NTPClock},
		`; its times are those of clock = "ntp", and the block ioam says "posix"`: {Namespace: []uint16{7}, Clock: conf.POSIXClock},
		"; no block ioam takes this namespace, so it stays in":                    {Namespace: []uint16{8}},
	} {
		if got := s.Under(c); got != "IOAM of namespace 7: 1 packet"+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := s.Under(nil); !strings.HasSuffix(got, "so it stays in") {
		t.Error(got)
	}
}
