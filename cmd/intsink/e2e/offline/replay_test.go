package offline_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/internal/pcapfile"
	"intsink/cmd/intsink/e2e/sinktest"
)

// block is a pcapng block.
func block(kind uint32, parts ...any) []byte {
	var body []byte
	for _, p := range parts {
		body, _ = binary.Append(body, binary.LittleEndian, p) // fixed sizes only
	}
	body = append(body, make([]byte, -len(body)&3)...)
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(12+len(body)))
	return binary.LittleEndian.AppendUint32(append(b, body...), uint32(12+len(body)))
}

func section() []byte { return block(0x0a0d0d0a, uint32(0x1a2b3c4d), uint16(1), uint16(0), int64(-1)) }

func iface(link layers.LinkType) []byte { return block(1, uint16(link), uint16(0), uint32(0)) }

// enhanced is a packet of an interface, at so many microseconds.
func enhanced(i int, at uint64, frame []byte) []byte {
	return block(6, uint32(i), uint32(at>>32), uint32(at), uint32(len(frame)), uint32(len(frame)), frame)
}

// simple is a packet without a time.
func simple(frame []byte) []byte { return block(3, uint32(len(frame)), frame) }

func timesOf(all []pcapfile.Packet) (times []int64) {
	for _, p := range all {
		times = append(times, p.At)
	}
	return times
}

// TestWhatACaptureLacksIsSaid: nothing of a capture is left out without a word.
func TestWhatACaptureLacksIsSaid(t *testing.T) {
	dir := t.TempDir()
	f := sinktest.IntFrame(t, 1)
	const at = sinktest.CaptureStart / 1000
	ng := slices.Concat(section(), iface(layers.LinkTypeEthernet), enhanced(0, at, f), enhanced(0, at, f))
	whole := sinktest.Classic(t, filepath.Join(dir, "whole"), 65535, []int64{0, 1, 2}, f, f, f)
	pcap, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	record := 16 + len(f)
	partly := slices.Clone(pcap)
	binary.LittleEndian.PutUint32(partly[24+12:], uint32(len(f)+1)) // the length on the wire
	for _, c := range []struct {
		name     string
		capture  []byte
		received int
		want     string // on stderr
	}{
		{"pcap", pcap, 3, ""},
		{"pcap cut in a packet", pcap[:len(pcap)-1], 2, fmt.Sprintf("after packet 2: the last %d bytes of the file", record-1)},
		{"pcap cut in a header", pcap[:len(pcap)-len(f)-1], 2, "after packet 2: the last 15 bytes of the file"},
		{"pcap cut behind a header", pcap[:len(pcap)-len(f)], 2, "after packet 2: the last 16 bytes of the file"},
		{"pcap with a packet captured in part", partly, 3, "1 of 3 packets were captured only in part"},
		{"pcapng", ng, 2, ""},
		{"pcapng cut in a packet", ng[:len(ng)-30], 1, "after packet 1: the last "},
		{"pcapng cut in a header", ng[:len(ng)-len(enhanced(0, at, f))+3], 1, "after packet 1: the last 3 bytes of the file"},
		{"pcapng with garbage", slices.Concat(ng, slices.Repeat([]byte{0xff}, 64), enhanced(0, at, f)), 2, "cut short or damaged after packet 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := sinktest.Write(t, filepath.Join(dir, c.name), string(c.capture))
			r := sinktest.ReplayFile(t, path, "")
			if r.Code != 0 || int(r.Summary.Received) != c.received || !strings.Contains(r.Stderr, c.want) || (c.want == "") != (r.Stderr == "") {
				t.Errorf("%s: exit code %d, received %d, %q; want %d and %q", c.name, r.Code, r.Summary.Received, r.Stderr, c.received, c.want)
			}
			if _, stderr, _ := sinktest.Run(t, "decode", path); !strings.Contains(stderr, c.want) || c.want == "" && strings.Contains(stderr, "warning") {
				t.Errorf("%s: decode says %q, want %q", c.name, stderr, c.want)
			}
		})
	}
}

// TestReportsAtTheEnd: flows that end, and losses that are told, at the very end of a capture cost nobody the answer.
func TestReportsAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	for _, count := range []string{"480", "500", "520", "1000"} {
		sinktest.Must(t, "gen", "--out", in, "--count", count, "--flows", "60", "--pps", "1")
		r := sinktest.ReplayFile(t, in, "")
		if r.Code != 0 || fmt.Sprint(len(r.Out)) != count || len(r.Reports) == 0 || r.Summary.Reports["flow_end"] == 0 || r.Stderr != "" {
			t.Errorf("%s packets: exit code %d, %d in OUT, %+v, %q", count, r.Code, len(r.Out), r.Summary, r.Stderr)
		}
	}
}

// TestACaptureThatIsRefusedInTheMiddle: what was found in front of that place is told and stays, and it is said where it ends.
func TestACaptureThatIsRefusedInTheMiddle(t *testing.T) {
	dir, f := t.TempDir(), sinktest.IntFrame(t, 1)
	path := sinktest.Classic(t, filepath.Join(dir, "in"), 65535, []int64{0, 1, 2, 3}, f, f, f, f)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(b[24+2*(16+len(f))+8:], 1<<27) // the third packet's length
	conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), sinktest.Offline("udp_port = 5000"))
	out, reports := filepath.Join(dir, "out"), filepath.Join(dir, "reports")
	stdout, stderr, code := sinktest.Run(t, "replay", "--config", conf, "--in", sinktest.Write(t, path, string(b)), "--out", out, "--reports", reports)
	if want := "packet 3: a record of 134217728 bytes: the file is damaged: what is told, " + out + " and " + reports + " end in front of it"; code != 1 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, %s; want %s", code, stderr, want)
	}
	if s := sinktest.LastLine(t, stdout); s.Received != 2 || len(sinktest.PacketsOf(t, out)) != 2 || len(sinktest.PacketsOf(t, reports)) == 0 {
		t.Errorf("%+v", s)
	}
}

// TestFramesThatDPDKCannotCarry: they are left out and counted, never cut. A frame that it can carry is read
// whole, and plan says the same, though it is longer than the snap length in the capture's header.
func TestFramesThatDPDKCannotCarry(t *testing.T) {
	f := sinktest.IntFrame(t, 1)
	long := func(n int) []byte { return append(slices.Clone(f), make([]byte, n-len(f))...) }
	path := sinktest.Classic(t, filepath.Join(t.TempDir(), "in"), 262144, []int64{0, 1, 2, 3, 4}, f, long(65535), long(65536), long(131072), f)
	r := sinktest.ReplayFile(t, path, "")
	if r.Code != 0 || r.Summary.Received != 3 || len(r.Out) != 3 || len(r.Out[1].Data) < 65000 || r.Out[2].At != 4 {
		t.Errorf("exit code %d, %+v, %d frames forwarded", r.Code, r.Summary, len(r.Out))
	}
	if !strings.Contains(r.Stderr, "2 of 5 packets are longer than 65535 bytes") {
		t.Errorf("stderr %q", r.Stderr)
	}
	path = sinktest.Classic(t, filepath.Join(t.TempDir(), "in"), 65535, []int64{0, 1e6}, f, f)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(b[16:], 64) // libpcap reads no more of a packet
	asPlanned(t, sinktest.Write(t, path, string(b)), 2)
}

// asPlanned replays the capture at path, which is so many times intFrame 1, and compares what came of it with plan.
func asPlanned(t *testing.T, path string, packets int) {
	t.Helper()
	r := sinktest.ReplayFile(t, path, "")
	p, stderr := planned(t, path, "")
	if r.Code != 0 || r.Stderr != "" || int(r.Summary.Received) != packets || len(r.Out) != packets {
		t.Errorf("replay: exit code %d, %+v, %d frames forwarded, %q", r.Code, r.Summary, len(r.Out), r.Stderr)
	}
	for i := range r.Out {
		if !bytes.Equal(r.Out[i].Data, sinktest.HostFrame(1)) {
			t.Errorf("packet %d leaves as %x", i+1, r.Out[i].Data)
		}
	}
	if int(p.Packets.Received) != packets || int(p.Packets.INT) != packets {
		t.Errorf("plan: %+v, %q", p.Packets, stderr)
	}
}

// TestInterfacesOfDifferentSnapLengths: libpcap reads no such pcapng file, and replay does.
func TestInterfacesOfDifferentSnapLengths(t *testing.T) {
	f := sinktest.IntFrame(t, 1)
	const at = sinktest.CaptureStart / 1000
	short, other := block(1, uint16(1), uint16(0), uint32(65535)), block(1, uint16(1), uint16(0), uint32(262144))
	asPlanned(t, sinktest.Write(t, filepath.Join(t.TempDir(), "in"), string(slices.Concat(section(), short, other, enhanced(0, at, f), enhanced(1, at+1000, f)))), 2)
	asPlanned(t, sinktest.Write(t, filepath.Join(t.TempDir(), "in"), string(slices.Concat(section(), short, enhanced(0, at, f), other, enhanced(1, at+1000, f)))), 2)
}
