package decode

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"intsink/cmd/internal/cli"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/reporttest"
)

var (
	sinkAddr      = netip.MustParseAddrPort("192.0.2.1:49152")
	collectorAddr = netip.MustParseAddrPort("192.0.2.10:8555")
)

// frame puts Ethernet, IPv4 and UDP in front of payload.
func frame(payload []byte, to netip.AddrPort) []byte {
	f := report.UDPFrame{Src: sinkAddr, Dst: to}
	b := append(make([]byte, f.HeaderLen()), payload...)
	f.Put(b)
	return b
}

type packetWriter interface {
	WritePacket(gopacket.CaptureInfo, []byte) error
}

// writeFrames makes a capture of frames, a millisecond apart; a frame of no bytes is ten
// seconds of silence.
func writeFrames(t testing.TB, link layers.LinkType, ng bool, frames ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.pcap")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w packetWriter
	if ng {
		var n *pcapgo.NgWriter
		n, err = pcapgo.NewNgWriter(f, link)
		defer func() { n.Flush() }()
		w = n
	} else {
		p := pcapgo.NewWriterNanos(f)
		err = p.WriteFileHeader(65536, link)
		w = p
	}
	at := time.Unix(1700000000, 5)
	for _, b := range frames {
		if len(b) == 0 {
			at = at.Add(10 * time.Second)
			continue
		}
		ci := gopacket.CaptureInfo{Timestamp: at, CaptureLength: len(b), Length: len(b)}
		at = at.Add(time.Millisecond)
		if err == nil {
			err = w.WritePacket(ci, b)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// runDecode runs the command as a user does.
func runDecode(t testing.TB, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := NewCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out, errs bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(args)
	err = cmd.Execute()
	return out.String(), errs.String(), err
}

func wantCode(t *testing.T, err error, code int) {
	t.Helper()
	var exit cli.ExitError
	if !errors.As(err, &exit) || exit.Code != code {
		t.Errorf("error %v, want exit code %d", err, code)
	}
}

const jsonLine = `{"v":1,"type":"report","id":"3-5-17979cfe362a0005-7-0","time":"2023-11-14T22:13:20.000000005Z","received":"2023-11-14T22:13:20.000000005Z",` +
	`"exporter":"192.0.2.1","node_id":3,"hw_id":5,"version":2,"sequence":7,"index":0,"rep_type":1,"in_type":4,"intermediate":false,` +
	`"domain":0,"ds_md_bits":0,"ds_md_status":0,"dropped":false,"congested":false,"tracked":true,` +
	`"flow":"udp:10.0.0.1:40000-10.0.0.2:53","source":"10.0.0.1","destination":"10.0.0.2","source_port":40000,"destination_port":53,"protocol":17,"dscp":0,"ecn":0,"length":48,` +
	`"path":"e5d44bf417cb2c76","hop_count":1,"hops":[{"node_id":42}],"sink":{"ingress":1,"egress":2},` +
	`"packet":1,"from":"192.0.2.1:49152","to":"192.0.2.10:8555","header":{"sequence_number":7,"report_length":15,"md_length":1,"rep_md_bits":16384},` +
	`"int":{"type":"md","shim_length":4,"npt":1,"ver":2,"discard":false,"max_hop_count_exceeded":false,"mtu_exceeded":false,"hop_ml":1,"remaining_hop_count":7,` +
	`"instruction_bitmap":32768,"domain_specific_id":0,"ds_instruction":0,"ds_flags":0,"bytes":"14040035200001078000000000000000` + `0000002a"}}` + "\n"

func TestDecodeJSON(t *testing.T) {
	ether := frame(reporttest.Packet(t, 7, 1), collectorAddr)
	ip := ether[14:]
	for _, c := range []struct {
		name string
		link layers.LinkType
		ng   bool
		in   []byte
	}{
		{"Ethernet", layers.LinkTypeEthernet, false, ether},
		{"pcapng", layers.LinkTypeEthernet, true, ether},
		{"VLAN", layers.LinkTypeEthernet, false, bytes.Join([][]byte{ether[:12], {0x81, 0, 0, 100}, ether[12:]}, nil)},
		{"Ethernet padding", layers.LinkTypeEthernet, false, append(bytes.Clone(ether), 0, 0, 0)},
		{"raw", layers.LinkTypeRaw, false, ip},
		{"raw IPv4", layers.LinkTypeIPv4, false, ip},
		{"loopback", layers.LinkTypeNull, false, append([]byte{2, 0, 0, 0}, ip...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, port := range []string{"0", "8555"} {
				stdout, stderr, err := runDecode(t, "--format", "json", "--port", port, writeFrames(t, c.link, c.ng, c.in))
				if err != nil || stdout != jsonLine {
					t.Errorf("port %s: %v\n%s\nwant\n%s", port, err, stdout, jsonLine)
				}
				if stderr != "1 report in 1 packet, 0 lost, 0 undecodable\n" {
					t.Errorf("stderr %q", stderr)
				}
			}
		})
	}
}

func TestDecodeText(t *testing.T) {
	stdout, _, err := runDecode(t, "--format", "text", writeFrames(t, layers.LinkTypeEthernet, false, frame(reporttest.Packet(t, 7, 2), collectorAddr)))
	one := "1 2023-11-14T22:13:20.000000005Z 192.0.2.1:49152 version 2.0 node 3 hw_id 5 sequence 7 tracked ipv4 48 bytes\n" +
		"  sink ingress=1 egress=2\n" +
		"  flow udp:10.0.0.1:40000-10.0.0.2:53\n" +
		"  int md [node_id=42]\n"
	if err != nil || stdout != one+one {
		t.Errorf("%v\n%s\nwant\n%s", err, stdout, one+one)
	}
}

// Without --port, other UDP traffic is passed over and counted.
func TestDecodeAmongOtherTraffic(t *testing.T) {
	dns := frame([]byte("\x20\x01\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00\x03www"), netip.MustParseAddrPort("192.0.2.10:53"))
	arp := append(make([]byte, 12), 8, 6, 0, 1)
	path := writeFrames(t, layers.LinkTypeEthernet, false, dns, arp, frame(reporttest.Packet(t, 7, 3), collectorAddr))
	stdout, stderr, err := runDecode(t, "--format", "json", path)
	if err != nil || strings.Count(stdout, "\n") != 3 || strings.Count(stdout, `"packet":3,`) != 3 {
		t.Errorf("%v\n%s", err, stdout)
	}
	if !strings.Contains(stderr, "packet 1 from 192.0.2.1:49152 to 192.0.2.10:53: ") ||
		!strings.HasSuffix(stderr, "3 reports in 1 packet, 0 lost, 1 undecodable\n") {
		t.Errorf("stderr %q", stderr)
	}
}

func TestDecodeGaps(t *testing.T) {
	var frames [][]byte
	for _, n := range []uint32{4194302, 1, 2, 6, 4, 6} { // 22 bits: 4194303 and 0 are missing, 3, 5; 4 is late, 6 repeated
		frames = append(frames, frame(reporttest.Packet(t, n, 1), collectorAddr))
	}
	other := netip.MustParseAddrPort("192.0.2.11:8555") // has numbers of its own
	frames = append(frames, frame(reporttest.Packet(t, 100, 1), other), frame(reporttest.Packet(t, 101, 1), other))
	_, stderr, err := runDecode(t, "--format", "json", writeFrames(t, layers.LinkTypeEthernet, false, frames...))
	want := "node 3 hw_id 5 from 192.0.2.1 to 192.0.2.10:8555: 4 lost: 4194303-0 3 5\n" +
		"8 reports in 8 packets, 4 lost, 0 undecodable, 2 late or repeated\n"
	if err != nil || stderr != want {
		t.Errorf("%v\n%s\nwant\n%s", err, stderr, want)
	}
}

// TestDecodeRestart: a sink that begins to count anew is no loss, and not late.
func TestDecodeRestart(t *testing.T) {
	var frames [][]byte
	add := func(n uint32) { frames = append(frames, frame(reporttest.Packet(t, n, 1), collectorAddr)) }
	add(5000)
	add(5001)
	frames = append(frames, nil)
	for n := range uint32(20) {
		add(n)
	}
	_, stderr, err := runDecode(t, writeFrames(t, layers.LinkTypeEthernet, false, frames...))
	if want := "22 reports in 22 packets, 0 lost, 0 undecodable, sink restarted 1 time\n"; err != nil || stderr != want {
		t.Errorf("%v\n%s\nwant\n%s", err, stderr, want)
	}
}

func TestDecodeCount(t *testing.T) {
	path := writeFrames(t, layers.LinkTypeEthernet, false, frame(reporttest.Packet(t, 7, 3), collectorAddr), frame(reporttest.Packet(t, 8, 3), collectorAddr))
	for count, lines := range map[string]int{"1": 1, "4": 4, "6": 6, "7": 6, "0": 6} {
		t.Run(count, func(t *testing.T) {
			stdout, _, err := runDecode(t, "--format", "json", "--count", count, path)
			if err != nil || strings.Count(stdout, "\n") != lines {
				t.Errorf("--count %s: %v\n%s", count, err, stdout)
			}
		})
	}
}

func TestDecodeUndecodable(t *testing.T) {
	whole := reporttest.Packet(t, 7, 2)
	cut := frame(whole[:len(whole)-20], collectorAddr)
	path := writeFrames(t, layers.LinkTypeEthernet, false, cut)
	stdout, stderr, err := runDecode(t, "--format", "json", path)
	wantCode(t, err, 1)
	if stdout != "" || !strings.Contains(stderr, "packet 1 from 192.0.2.1:49152 to 192.0.2.10:8555: individual report 2 at byte 72: truncated: ") ||
		!strings.HasSuffix(stderr, "0 reports in 0 packets, 0 lost, 1 undecodable\n") {
		t.Errorf("%q\n%s", stdout, stderr)
	}
	// With the port given, what is there is shown.
	stdout, stderr, err = runDecode(t, "--format", "json", "--port", "8555", path)
	if err != nil || strings.Count(stdout, "\n") != 2 || !strings.Contains(stdout, `"problem":"report_length"`) || !strings.Contains(stderr, "1 undecodable") {
		t.Errorf("%v\n%s\n%s", err, stdout, stderr)
	}
	_, stderr, err = runDecode(t, "--port", "8555", writeFrames(t, layers.LinkTypeEthernet, false, frame([]byte("hello, collector"), collectorAddr)))
	wantCode(t, err, 1)
	if !strings.Contains(stderr, "packet 1 ") || !strings.Contains(stderr, "not a telemetry report: version 6") {
		t.Errorf("stderr %q", stderr)
	}
}

func TestDecodeFiles(t *testing.T) {
	if _, _, err := runDecode(t, writeFrames(t, layers.LinkTypeEthernet, false)); err != nil {
		t.Errorf("empty capture: %v", err)
	}
	_, _, err := runDecode(t, filepath.Join(t.TempDir(), "none.pcap"))
	wantCode(t, err, 1)
	text := filepath.Join(t.TempDir(), "text")
	os.WriteFile(text, []byte("this is not a capture at all"), 0o644)
	_, _, err = runDecode(t, text)
	wantCode(t, err, 1)
	_, _, err = runDecode(t, writeFrames(t, layers.LinkTypeIEEE802_11, false, []byte{1}))
	wantCode(t, err, 1)
}

func TestDecodeUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"a", "b"}, {"--listen", "127.0.0.1:0", "a"}, {"--format", "xml", "a"}, {"--count", "-1", "a"}, {"--port", "70000", "a"},
		{"--listen", "127.0.0.1:0", "--port", "5"}, {"--int-port", "0", "a"}, {"--int-dscp", "64", "a"}, {"--report-layout", "2017", "a"}, {"--int-dscp", "1/0", "a"}, {"--int-dscp", "x", "a"},
		{"--int-probe-marker", "0", "a"}, {"--int-probe-marker", "x", "a"},
	} {
		_, _, err := runDecode(t, args...)
		var exit cli.ExitError
		if err == nil || errors.As(err, &exit) {
			t.Errorf("%q: %v, want wrong usage", args, err)
		}
	}
}

// TestDecodePacketsWithINT: who gives it a capture of packets with INT in place of reports
// is told so, in two lines; beside reports, such packets are counted.
func TestDecodePacketsWithINT(t *testing.T) {
	f := intgen.Flow{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"), Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000}
	s := &intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	packet, err := s.Insert(f.Frame(60, 1), []intgen.Hop{{NodeID: 9}, {NodeID: 8}})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Repeat([][]byte{packet}, 50)
	for _, format := range []string{"json", "record"} {
		t.Run(format, func(t *testing.T) {
			stdout, stderr, err := runDecode(t, "--format", format, writeFrames(t, layers.LinkTypeEthernet, false, all...))
			wantCode(t, err, 1)
			if stdout != "" || stderr != "0 reports in 0 packets, 0 lost, 0 undecodable, 50 packets with INT that are no report\n" ||
				err.Error() != "no telemetry report is in it: it is a capture of packets with INT, which intsink plan and intsink replay read" {
				t.Errorf("%q\n%s%v", stdout, stderr, err)
			}
			_, stderr, err = runDecode(t, "--format", format, writeFrames(t, layers.LinkTypeEthernet, false, frame(reporttest.Packet(t, 7, 2), collectorAddr), packet, frame([]byte("hello"), collectorAddr)))
			if err != nil || !strings.HasSuffix(stderr, "2 reports in 1 packet, 0 lost, 1 undecodable, 1 packet with INT that is no report\n") {
				t.Errorf("%v %s", err, stderr)
			}
		})
	}
	raw := writeFrames(t, layers.LinkTypeRaw, false, packet[14:])
	if _, stderr, _ := runDecode(t, raw); !strings.HasSuffix(stderr, "1 packet with INT that is no report\n") {
		t.Errorf("raw IP: %s", stderr)
	}
}
