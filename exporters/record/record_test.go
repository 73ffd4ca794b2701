package record

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"intsink/engine/aside/inspect"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
)

var update = flag.Bool("update", false, "write the golden files")

// whole returns a record whose fields are all known.
func whole() *Record {
	const everyHop = HopCongestion<<1 - 1
	return &Record{
		Known:    KnownVNI<<1 - 1,
		Time:     1763776800_123456789,
		Received: 1763776801_000000000,
		Exporter: netip.MustParseAddr("192.0.2.7"),
		Version:  Version20, NodeID: 1, HwID: 2, Start: 1763776000_000000000, Sequence: 1<<22 + 5, Index: 1,
		RepType: report.INT, InType: report.TLV, Intermediate: true, Domain: 0x5453, DSMdBits: 0x8000, DSMdStatus: 2, Problem: decode.ProblemMDLength,
		DSMetadata: []byte{0xca, 0xfe, 0xba, 0xbe}, Data: bytes.Repeat([]byte{1, 2}, 100),
		TLVs:   []TLV{{Type: report.TLVDSExtension, Template: 66, Data: bytes.Repeat([]byte{0xde}, 9000)}, {Type: report.TLVIPv4, Data: []byte{0x45, 0}}, {Type: 9}},
		Events: 1<<len(report.EventNames) - 1, Dropped: true, Congested: true, Tracked: true, DropReason: 51,
		Suppressed: 3, Lost: 4, Drops: 5, FlowPackets: 6, FlowBytes: 1 << 40, EventNode: 11, Reference: 100, EventValue: 200,
		Source: netip.MustParseAddr("10.0.0.1"), Destination: netip.MustParseAddr("10.1.0.1"), SourcePort: 1024, DestinationPort: 80,
		Protocol: 6, DSCP: 10, ECN: 3, TCPFlags: 0x18, VLANs: []uint16{7, 100}, Length: 1500,
		SourceMAC: [6]byte{2, 0, 0, 0, 0, 1}, DestinationMAC: [6]byte{2, 0, 0, 0, 0, 0xfe}, DeviceID: []byte{0, 0, 0, 0, 1, 1, 0, 0},
		VNI:   123,
		Outer: Headers{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8:1111:2222:3333:4444:5555:6666"), true, 49152, 4789, 17, 46},
		Inner: Headers{Source: netip.MustParseAddr("10.9.0.1"), Destination: netip.MustParseAddr("10.9.0.2"), Protocol: 6},
		Path:  0x570a954f16dea0e0, HopCount: 3,
		Hops: []Hop{
			{Known: everyHop, NodeID: 10, Ingress: 1, Egress: 2, Ingress2: 3, Egress2: 1<<32 - 1, LatencyNs: 1500, Queue: 7, Occupancy: 1<<24 - 1,
				IngressTime: 1763776800_000000001, EgressTime: 1<<63 - 1, TxUtilization: 55,
				Buffer: 255, BufferOccupancy: 17, Congestion: 1<<31 - 2, DSMetadata: bytes.Repeat([]byte{0xab}, 96)},
			{Known: HopNode | HopLatency, NodeID: 11, LatencyNs: 0},
			{},
		},
		Links:     []Link{{10, 11, 900}, {11, 12, 0}},
		LatencyNs: 1500, MaxHop: 10, Flags: HopLimit | MTUExceeded | Malformed | Truncated,
		Episodes:       []Episode{*episode(1), *episode(3)},
		SourceMetadata: []byte{1, 2, 3, 4}, INTType: inthdr.IFA, INTProblem: inthdr.ReasonHopML,
		Sink: Sink{Known: everyHop &^ (HopNode | HopCongestion), Ingress: 1, Egress: 2, LatencyNs: 300, Queue: 0, Occupancy: 64, Ingress2: 3, Egress2: 4,
			IngressTime: 1763776800_000000001, EgressTime: 1763776800_000000301, TxUtilization: 50, Buffer: 1, BufferOccupancy: 2},
	}
}

func bare() *Record {
	r := new(Record)
	r.Reset(Report)
	return r
}

func stream(t Type) *Record {
	r := bare()
	r.Reset(t)
	r.Known, r.NodeID, r.HwID, r.Version = KnownNode, 1, 2, Version20
	r.Start, r.Time, r.Received = 1763776000_000000000, 1763776801_000000000, 1763776801_000000000
	r.Exporter = netip.MustParseAddr("2001:db8::7")
	r.First, r.Last, r.Count = 1<<22+1, 1<<22+4, 4
	r.Stats = StreamStats{1000, 4, 1, 0}
	return r
}

// episode returns an episode of a queue that all is known of, as that many sinks saw it.
func episode(sinks int) *Episode {
	e := &Episode{report.Episode{
		ID: 17, Node: 302, Egress: 15, Queue: 2, Begin: 1763776800_000000001, End: 1763776812_500000000, Packets: 1 << 33, Bytes: 1 << 43,
		Peak:         report.EpisodePeak{At: 1763776806_000000000, Latency: 1_780_000, Occupancy: 9120, Window: 640_000_000, Packets: 70_000, Bytes: 100_000_000},
		UsualLatency: 1700, UsualOccupancy: 12, OtherPackets: 1 << 32, OtherBytes: 1 << 41, NumCulprits: 2, NumVictims: 1, Doubt: report.OneSource,
	}, sinks}
	e.Culprits[0] = report.EpisodeFlow{Source: netip.MustParseAddr("10.0.0.1"), Destination: netip.MustParseAddr("10.1.0.1"), SourcePort: 1024, DestinationPort: 80, Protocol: 6, Sum: 1 << 42, Over: 77}
	e.Culprits[1] = report.EpisodeFlow{Source: netip.MustParseAddr("2001:db8::1"), Destination: netip.MustParseAddr("2001:db8::2"), Protocol: 47, Sum: 1 << 41}
	e.Victims[0] = report.EpisodeFlow{Source: netip.MustParseAddr("10.0.0.2"), Destination: netip.MustParseAddr("10.1.0.1"), SourcePort: 1, DestinationPort: 2, Protocol: 17, Sum: 5e9, Over: 1}
	return e
}

// anEpisode is a record of one, whose queue has no known interface and whose values are not known.
func anEpisode() *Record {
	r := stream(EpisodeType)
	r.Episodes = []Episode{{report.Episode{ID: 18, Node: 7, Egress: 1<<16 - 1, Queue: 255, Begin: 1763776800_000000001, End: 1763776800_000000002}, 2}}
	return r
}

var goldens = []struct {
	name   string
	record func() *Record
}{
	{"whole", whole},
	{"bare", bare},
	{"gap", func() *Record { return stream(Gap) }},
	{"stats", func() *Record { return stream(Stats) }},
	{"episode", anEpisode},
}

// TestGolden compares the JSON, and the message as protoc decodes it, with files.
func TestGolden(t *testing.T) {
	for _, c := range goldens {
		t.Run(c.name, func(t *testing.T) {
			b := append(AppendJSON(nil, c.record()), '\n')
			golden(t, c.name+".json", b)
			if !json.Valid(b) {
				t.Error("not JSON")
			}
			golden(t, c.name+".txtpb", protoc(t, AppendProto(nil, c.record())))
		})
	}
}

// golden compares b with the file testdata/name, or writes the file if the test is run with
// -update.
func golden(t *testing.T, name string, b []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(b)); d != "" {
		t.Errorf("%s (-want +got), -update writes it:\n%s", path, d)
	}
}

// protoc returns message b as text, decoded by the reference implementation. A field that the
// schema does not have shows up there as a bare number.
func protoc(t *testing.T, b []byte) []byte {
	t.Helper()
	cmd := exec.Command("protoc", "--decode=intsink.v1.Report", "--proto_path=../../deploy/collect", "intsink.proto")
	cmd.Stdin = bytes.NewReader(b)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("protoc: %v\n%s", err, stderr.String())
	}
	return out
}

// TestFieldsAreDocumented: docs/records.md names every field.
func TestFieldsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/records.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range goldens {
		var fields map[string]any
		if err := json.Unmarshal(AppendJSON(nil, c.record()), &fields); err != nil {
			t.Fatal(err)
		}
		for name, v := range fields {
			names := []string{name}
			for _, inner := range [...]string{"hops", "links", "tlvs"} {
				if list, ok := v.([]any); ok && name == inner {
					v = list[0]
				}
			}
			if inner, ok := v.(map[string]any); ok {
				for name := range inner {
					names = append(names, name)
				}
			}
			for _, name := range names {
				if !bytes.Contains(doc, []byte("`"+name+"`")) {
					t.Errorf("docs/records.md does not name the field %s", name)
				}
			}
		}
	}
	for _, name := range append(slices.Clone(flagNames[:]), typeNames[:]...) {
		if !bytes.Contains(doc, []byte("`"+name+"`")) {
			t.Errorf("docs/records.md does not name %s", name)
		}
	}
}

func TestEncodersAllocateNothing(t *testing.T) {
	r := whole()
	b := make([]byte, 0, 1<<14)
	for name, encode := range map[string]func([]byte, *Record) []byte{"JSON": AppendJSON, "protobuf": AppendProto} {
		if n := testing.AllocsPerRun(100, func() { b = encode(b[:0], r) }); n != 0 {
			t.Errorf("%s: %v allocations a record", name, n)
		}
	}
}

// TestFlowIDs: records name flows as the API does.
func TestFlowIDs(t *testing.T) {
	for _, id := range []string{
		"tcp:10.0.0.1:1024-10.1.0.1:80", "udp:[2001:db8::1]:1024-[2001:db8::2]:53", "icmp:10.0.0.1-10.1.0.1", "icmpv6:[fe80::1]-[fe80::2]",
		"gre:10.0.0.1-10.1.0.1", "sctp:10.0.0.1:0-10.1.0.1:65535", "89:10.0.0.1-224.0.0.5", "136:10.0.0.1:7-10.1.0.1:8",
		"33:[::ffff:10.0.0.1]:1-[::1]:2", "esp:10.0.0.1-10.0.0.2", "ah:10.0.0.1-10.0.0.2",
	} {
		k, err := inspect.ParseFlowID(id)
		if err != nil {
			t.Fatal(err)
		}
		r := Record{Known: KnownAddresses | KnownPorts, Source: k.SrcAddr(), Destination: k.DstAddr(), Protocol: k.Proto(), SourcePort: k.SrcPort(), DestinationPort: k.DstPort()}
		if got := string(r.AppendFlow(nil)); got != id {
			t.Errorf("%s is written as %s", id, got)
		}
	}
	cut := Record{Known: KnownAddresses, Protocol: 6, Source: netip.MustParseAddr("10.0.0.1"), Destination: netip.MustParseAddr("10.0.0.2")}
	if got := cut.AppendFlow(nil); len(got) > 0 {
		t.Errorf("TCP whose ports are not known has the flow %s", got)
	}
}

// TestTimes compares appendTime with package time.
func TestTimes(t *testing.T) {
	const format = "2006-01-02T15:04:05.000000000Z"
	for day := range uint64(213503) { // to 2554, where 64 bits of nanoseconds end
		ns := day*86400e9 + day*997%86400*1e9 + day*7919%1e9
		if got, want := string(appendTime(nil, ns)), time.Unix(int64(ns/1e9), int64(ns%1e9)).UTC().Format(format); got != want {
			t.Fatalf("%d: %s, want %s", ns, got, want)
		}
	}
	if got := string(appendTime(nil, 1<<64-1)); got != "2554-07-21T23:34:33.709551615Z" {
		t.Error(got)
	}
}

func TestResetKeepsRoom(t *testing.T) {
	r := whole()
	r.Reset(Gap)
	want := Record{Type: Gap, VLANs: []uint16{}, DeviceID: []byte{}, Hops: []Hop{}, Links: []Link{}, TLVs: []TLV{}, Episodes: []Episode{}}
	if d := cmp.Diff(&want, r, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if cap(r.Hops) != 3 || cap(r.Links) != 2 {
		t.Errorf("room for %d hops, %d links", cap(r.Hops), cap(r.Links))
	}
}

func BenchmarkAppendJSON(b *testing.B) { benchmark(b, AppendJSON) }

func BenchmarkAppendProto(b *testing.B) { benchmark(b, AppendProto) }

func benchmark(b *testing.B, encode func([]byte, *Record) []byte) {
	r, buf := usual(), make([]byte, 0, 1<<14)
	b.ReportAllocs()
	for b.Loop() {
		buf = encode(buf[:0], r)
	}
	b.SetBytes(int64(len(buf)))
}
