package decode

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
)

// text returns what decode prints of one report as text.
func text(t *testing.T, r *report.Individual) string {
	t.Helper()
	var p report.Packet
	p.Open(make([]byte, 1400))
	p.Append(r)
	stdout, _, err := runDecode(t, "--format", "text", writeFrames(t, layers.LinkTypeEthernet, false, frame(p.Seal(report.GroupHeader{NodeID: 3}), collectorAddr)))
	if err != nil {
		t.Fatal(err)
	}
	return stdout
}

// TestTextOfIFA: a reported packet with IFA, whatever its flags, and one whose hops have no layout.
func TestTextOfIFA(t *testing.T) {
	hops := []intgen.Hop{{NodeID: 8, Ingress: 3, Egress: 4, LatencyNs: 700, QueueID: 5}, {NodeID: 7, Ingress: 1, Egress: 2, LatencyNs: 900}}
	const way = "ifa [node_id=7 ingress=1 egress=2 latency_ns=900 queue=0 congestion=0] [node_id=8 ingress=3 egress=4 latency_ns=700 queue=5 congestion=0]\n"
	for name, c := range map[string]struct {
		ifa  intgen.IFA
		want string
	}{
		"live":    {intgen.IFA{}, way},
		"copy":    {intgen.IFA{Copy: true, HopLen: 20}, way},
		"tail":    {intgen.IFA{Tail: true}, way},
		"strange": {intgen.IFA{Raw: []byte{1, 2, 3, 4}}, "ifa source_metadata=01020304 PROBLEM: ifa_layout: "},
	} {
		s := intgen.Source{Marking: intgen.ByIFA, Formats: intgen.Formats{IFA: c.ifa}}
		f, err := s.Insert(intgen.NthFlow(1, false, true).Frame(60, 1), hops)
		if err != nil {
			t.Fatal(err)
		}
		got := text(t, &report.Individual{RepType: report.INT, InType: report.Ethernet, Inner: f})
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestTextOfIOAM: a reported packet with IOAM, and a probe.
func TestTextOfIOAM(t *testing.T) {
	hops := []intgen.Hop{{NodeID: 8, Ingress: 3, Egress: 4, QueueOccupancy: 70, IngressTimestamp: 2e9}, {NodeID: 7, Ingress: 1, Egress: 2, IngressTimestamp: 1e9}}
	for _, active := range []bool{false, true} {
		s := intgen.Source{Marking: intgen.ByIOAM, Formats: intgen.Formats{IOAM: intgen.IOAM{Active: active, Type: 0xc20000}}}
		f, err := s.Insert(intgen.NthFlow(1, false, true).Frame(60, 1), hops)
		if err != nil {
			t.Fatal(err)
		}
		got := text(t, &report.Individual{RepType: report.INT, InType: report.Ethernet, Inner: f})
		if !strings.Contains(got, "[node_id=7 ingress=1 egress=2 queue=0 occupancy=0] [node_id=8 ingress=3 egress=4 queue=0 occupancy=70]\n") {
			t.Errorf("active %v: %s", active, got)
		}
	}
}

// TestTextNamesDropReasons: where JSON has drop_reason_name, so has text.
func TestTextNamesDropReasons(t *testing.T) {
	for code, want := range map[byte]string{60: "\n  drop_reason 60 acl_deny\n", 255: "\n  drop_reason 255 \n"} {
		got := text(t, &report.Individual{RepType: report.INT, InType: report.None, Dropped: true, RepMdBits: report.MdDropReason, Metadata: []byte{0, code, 0, 0}})
		if !strings.Contains(got, want) {
			t.Errorf("%s", got)
		}
	}
}

func TestTextSaysWhy(t *testing.T) {
	for _, c := range []struct {
		name string
		of   report.Explanation
		want string
	}{
		{"values", report.Explanation{Events: 1<<3 | 1<<4, Packets: 9, Bytes: 900, Suppressed: 1, Trigger: report.Trigger{NodeID: 102, Value: 500_000, Reference: 10_000}},
			"\n  events hop_latency,end_to_end: node 102 500000 against 10000 (9 packets, 900 bytes, 1 suppressed, 0 lost, 0 dropped)\n"},
		{"none", report.Explanation{Events: 1 << 10, Packets: 2, Bytes: 120, Trigger: report.NoTrigger}, "\n  events flow_end (2 packets, 120 bytes, 0 suppressed, 0 lost, 0 dropped)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r report.Individual
			r.Explain(&c.of, make([]byte, 200))
			if got := text(t, &r); !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q in it", got, c.want)
			}
		})
	}
}

// TestTextSumsUpEpisodes: what the report says of an episode that ended is one line.
func TestTextSumsUpEpisodes(t *testing.T) {
	e := report.Episode{
		ID: 7, Node: 302, Egress: 15, Queue: 2, Begin: 1763776800_000000000, End: 1763776812_500000000, Packets: 81, Bytes: 5022,
		Peak: report.EpisodePeak{Latency: 1_780_000, Occupancy: 9120}, UsualLatency: 1700, NumCulprits: 1, NumVictims: 1,
	}
	e.Culprits[0] = report.EpisodeFlow{Source: netip.MustParseAddr("10.0.0.1"), Destination: netip.MustParseAddr("10.1.0.1"), SourcePort: 1, DestinationPort: 2, Protocol: 17, Sum: 4000}
	e.Victims[0] = report.EpisodeFlow{Source: netip.MustParseAddr("fd00::1"), Destination: netip.MustParseAddr("fd00::2"), Protocol: 58, Sum: 3e9}
	var r report.Individual
	r.Explain(&report.Explanation{Events: 1 << 6, Trigger: report.NoTrigger}, make([]byte, 400), e)
	want := "\n  episode 7: node 302 egress 15 queue 2, 2025-11-22T02:00:00Z for 12.5s, 81 packets, 5022 bytes, peak 1.78ms against 1.7µs, occupancy 9120, " +
		"culprit udp:10.0.0.1:1-10.1.0.1:2 4000 bytes, victim icmpv6:[fd00::1]-[fd00::2] 3s\n"
	if got := text(t, &r); !strings.Contains(got, want) {
		t.Errorf("%q, want %q in it", got, want)
	}
}
