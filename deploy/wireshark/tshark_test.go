package wireshark_test

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"intsink/engine/wire/intgen"
)

// capture writes frames to a file of its own.
func capture(t *testing.T, frames ...[]byte) string {
	t.Helper()
	return snapped(t, 65535, frames...)
}

// snapped keeps only the first n bytes of each frame, as a capture with that
// snapshot length does.
func snapped(t *testing.T, n int, frames ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.pcap")
	var b bytes.Buffer
	w := pcapgo.NewWriterNanos(&b)
	if err := w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	for i, f := range frames {
		kept := f[:min(n, len(f))]
		info := gopacket.CaptureInfo{Timestamp: time.Unix(1, int64(i)), CaptureLength: len(kept), Length: len(f)}
		if err := w.WritePacket(info, kept); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tshark reads file with the dissector and returns what it prints. Anything that
// Lua complains about fails the test. Settings of whoever runs it do not count.
func tshark(t *testing.T, file string, args ...string) string {
	t.Helper()
	cmd := exec.Command("tshark", append([]string{"-X", "lua_script:intsink.lua", "-n", "-r", file}, args...)...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "WIRESHARK_CONFIG_DIR="+home)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s\ntshark is in scripts/deps.sh; as root, init.lua must set run_user_scripts_when_superuser, as Debian's does",
			cmd.Args, err, stderr.String())
	}
	for _, s := range []string{string(out), stderr.String()} {
		if i := strings.Index(s, "Lua"); i >= 0 {
			t.Fatalf("%v: %s", cmd.Args, s[max(0, i-200):min(len(s), i+400)])
		}
	}
	return string(out)
}

// booleans: newer versions print words for what older ones print as 0 and 1.
var booleans = strings.NewReplacer("True", "1", "False", "0")

// fields returns, for each frame, the values of each field, joined by commas
// where there are several.
func fields(t *testing.T, file string, names []string, args ...string) [][]string {
	t.Helper()
	args = append(args, "-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=,")
	for _, n := range names {
		args = append(args, "-e", n)
	}
	var all [][]string
	for line := range strings.Lines(tshark(t, file, args...)) {
		line = booleans.Replace(strings.TrimSuffix(line, "\n"))
		all = append(all, strings.Split(line, "|"))
	}
	return all
}

// want is one field and its values.
type want struct{ field, values string }

// expect compares the fields of the only frame of file.
func expect(t *testing.T, file string, wants []want, args ...string) {
	t.Helper()
	names := make([]string, len(wants))
	for i, w := range wants {
		names[i] = w.field
	}
	got := fields(t, file, names, args...)
	if len(got) != 1 || len(got[0]) != len(wants) {
		t.Fatalf("got %q for one frame and %d fields", got, len(wants))
	}
	for i, w := range wants {
		if got[0][i] != w.values {
			t.Errorf("%s: got %q, want %q", w.field, got[0][i], w.values)
		}
	}
}

// flow is what all test packets have in common but ports and protocol.
func flow(proto uint8, dst uint16) *intgen.Flow {
	return &intgen.Flow{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2},
		Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("198.51.100.2"),
		Proto: proto, SrcPort: 40001, DstPort: dst,
	}
}

const udpPayload = 14 + 20 + 8 // where a UDP payload begins in the frames of flow

// udp is a frame with that UDP payload and no UDP checksum.
func udp(dst uint16, payload []byte) []byte {
	b := flow(intgen.UDP, dst).Frame(len(payload), 1)
	binary.BigEndian.PutUint16(b[udpPayload-2:], 0)
	copy(b[udpPayload:], payload)
	return b
}

func insert(t *testing.T, s *intgen.Source, frame []byte, hops ...intgen.Hop) []byte {
	t.Helper()
	b, err := s.Insert(frame, hops)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// twoHops have a value of their own in every place.
var twoHops = []intgen.Hop{
	{NodeID: 7, Ingress: 11, Egress: 12, LatencyNs: 13000, QueueID: 14, QueueOccupancy: 15,
		IngressTimestamp: 1700000000000000016, EgressTimestamp: 1700000000000000017, Level2Ingress: 18, Level2Egress: 19,
		TxUtilization: 20, BufferID: 21, BufferOccupancy: 22},
	{NodeID: 8, Ingress: 31, Egress: 32, LatencyNs: 33000, QueueID: 34, QueueOccupancy: 35,
		IngressTimestamp: 1700000000000000036, EgressTimestamp: 1700000000000000037, Level2Ingress: 38, Level2Egress: 39,
		TxUtilization: 40, BufferID: 41, BufferOccupancy: 42},
}

// twoHopValues is what the dissector shows of twoHops with bits 0 to 8.
var twoHopValues = []want{
	{"int.hop_count", "2"},
	{"int.hop.node_id", "7,8"},
	{"int.hop.ingress_interface_id", "11,31"},
	{"int.hop.egress_interface_id", "12,32"},
	{"int.hop.hop_latency", "13000,33000"},
	{"int.hop.queue_id", "14,34"},
	{"int.hop.queue_occupancy", "15,35"},
	{"int.hop.ingress_timestamp", "1700000000000000016,1700000000000000036"},
	{"int.hop.egress_timestamp", "1700000000000000017,1700000000000000037"},
	{"int.hop.level2_ingress_interface_id", "18,38"},
	{"int.hop.level2_egress_interface_id", "19,39"},
	{"int.hop.tx_utilization", "20,40"},
	{"int.hop.buffer_id", "21,41"},
	{"int.hop.buffer_occupancy", "22,42"},
}

const everything = 0xff80 // bits 0 to 8
