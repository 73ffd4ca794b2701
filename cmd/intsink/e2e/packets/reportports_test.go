package packets_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
)

// wireReport is a report packet as it stands in its frame.
type wireReport struct {
	frame    []byte
	eth      layers.Ethernet
	vlan     uint16
	src, dst string
	srcPort  uint16
	sequence int
}

// readReport reads a frame without our own code; false where it is no UDP to
// port 8555. A wrong checksum is a fault.
func readReport(t *testing.T, frame []byte) (w wireReport, ok bool) {
	t.Helper()
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	udp, ok := p.Layer(layers.LayerTypeUDP).(*layers.UDP)
	if !ok || udp.DstPort != 8555 || len(udp.Payload) < 8 {
		return w, false
	}
	udp.SetNetworkLayerForChecksum(p.NetworkLayer())
	for _, l := range p.Layers() {
		if l, ok := l.(gopacket.LayerWithChecksum); ok {
			if err, r := l.VerifyChecksum(); err != nil || !r.Valid {
				t.Errorf("%T: checksum %x, want %x, %v", l, r.Actual, r.Correct, err)
			}
		}
	}
	src, dst := p.NetworkLayer().NetworkFlow().Endpoints()
	w = wireReport{frame: frame, src: src.String(), dst: dst.String(), srcPort: uint16(udp.SrcPort), sequence: sequenceOf(udp.Payload)}
	w.eth = *p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
	if tag, ok := p.Layer(layers.LayerTypeDot1Q).(*layers.Dot1Q); ok {
		w.vlan = tag.VLANIdentifier
	}
	return w, true
}

// sequenceOf is the Sequence Number of a report packet: the low 22 bits of its
// first word (Telemetry Report 2.0, section "Telemetry Report Group Header").
func sequenceOf(payload []byte) int {
	return int(payload[1]&0x3f)<<16 | int(payload[2])<<8 | int(payload[3])
}

// reportsTo are the report packets among frames to an address, by sequence
// number from the first on without a gap.
func reportsTo(t *testing.T, frames [][]byte, dst string, first int) (all []wireReport) {
	t.Helper()
	for _, f := range frames {
		if w, ok := readReport(t, f); ok && w.dst == dst {
			if w.sequence != first+len(all) {
				t.Fatalf("to %s: sequence number %d after %d packets from %d on", dst, w.sequence, len(all), first)
			}
			all = append(all, w)
		}
	}
	return all
}

// arpRequest asks who has target, 192.0.2.x.
func arpRequest(target byte) []byte {
	b := []byte{
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0x50, 8, 6,
		0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 0x50, 192, 0, 2, 50,
		0, 0, 0, 0, 0, 0, 192, 0, 2, target,
	}
	return append(b, make([]byte, 60-len(b))...)
}

// TestReportsLeaveByAPort: a telemetry port of DPDK's pcap driver sends all report packets as
// whole frames, and answers the ARP request for its address.
func TestReportsLeaveByAPort(t *testing.T) {
	dir := t.TempDir()
	in, heard, sent := filepath.Join(dir, "in.pcap"), filepath.Join(dir, "heard.pcap"), filepath.Join(dir, "sent.pcap")
	sinktest.Must(t, "gen", "--out", in, "--flows", "40", "--count", "2000")
	sinktest.Classic(t, heard, 65535, []int64{0, 0}, arpRequest(1), arpRequest(2))
	text := strings.Replace(sinktest.Config("udp_port = 5000"), `device = "net_null0"`, `device = "net_pcap0,rx_pcap=`+in+`"`, 1)
	text = strings.Replace(text, "sample = 100", "sample = 5", 1)
	r := sinktest.Start(t, sinktest.Small+text+`
port "telemetry" { device = "net_pcap1,rx_pcap=`+heard+`,tx_pcap=`+sent+`" }
collector "four" {
  address     = "198.51.100.10:8555"
  port        = "telemetry"
  source      = "192.0.2.1"
  gateway_mac = "02:00:00:00:00:fe"
  vlan        = 100
}
collector "six" {
  address     = "[2001:db8::10]:8555"
  port        = "telemetry"
  source      = "2001:db8::1"
  gateway_mac = "02:00:00:00:00:fd"
  source_port = "hash"
}
collector "unknown" {
  address = "192.0.2.99:8555"
  port    = "telemetry"
  source  = "192.0.2.1"
}
`)
	p := r.Wait(t, "all packets and their reports", func(p observetest.Exposition) bool {
		return p.Series[`intsink_received_packets_total{link="edge",direction="to_host"}`] == 2000 &&
			p.Series[`intsink_report_packets_total{collector="four"}`] == p.Series[`intsink_report_packets_sent_total{collector="four"}`] &&
			p.Series[`intsink_neighbor_frames_total{port="telemetry",kind="answered"}`] == 1
	})
	for name, want := range map[string]float64{
		`intsink_neighbor_frames_total{port="telemetry",kind="other"}`: 1, // who asked for somebody else
		`intsink_gateway_known{collector="four"}`:                      1,
		`intsink_gateway_known{collector="six"}`:                       1,
		`intsink_gateway_known{collector="unknown"}`:                   0,
		`intsink_report_packets_sent_total{collector="unknown"}`:       0,
	} {
		if p.Series[name] != want {
			t.Errorf("%s %v, want %v", name, p.Series[name], want)
		}
	}
	if p.Series[`intsink_neighbor_frames_total{port="telemetry",kind="requested"}`] == 0 ||
		p.Series[`intsink_report_drops_total{collector="unknown",reason="unresolved"}`] == 0 {
		t.Error("the unknown gateway was not asked for, or its reports were not counted")
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Fatalf("exit code %d: %s", code, r.Stderr)
	}
	frames := framesOf(t, sent)
	four, six := reportsTo(t, frames, "198.51.100.10", 0), reportsTo(t, frames, "2001:db8::10", 0)
	if len(four) < 20 || len(six) < 20 || len(reportsTo(t, frames, "192.0.2.99", 0)) != 0 {
		t.Fatalf("%d and %d report packets", len(four), len(six))
	}
	ports := map[uint16]bool{}
	for i, w := range append(four, six...) {
		first, mac := w.vlan == 100 && w.src == "192.0.2.1" && w.srcPort == 49152, "02:00:00:00:00:fe"
		if i >= len(four) {
			first, mac = w.vlan == 0 && w.src == "2001:db8::1" && w.srcPort >= 49152, "02:00:00:00:00:fd"
			ports[w.srcPort] = true
		}
		if !first || w.eth.DstMAC.String() != mac || !bytes.Equal(w.eth.SrcMAC, four[0].eth.SrcMAC) || len(w.frame) > 1400 {
			t.Fatalf("report packet %d: %+v", i, w)
		}
	}
	if len(ports) < 5 {
		t.Errorf("%d source ports follow from the flows", len(ports))
	}
	answer := append([]byte{2, 0, 0, 0, 0, 0x50}, four[0].eth.SrcMAC...)
	if !containsPrefix(frames, append(answer, 0x81, 0, 0, 100, 8, 6, 0, 1, 8, 0, 6, 4, 0, 2)) {
		t.Error("there is no answer to the ARP request")
	}
	if stdout, _, code := sinktest.Run(t, "decode", "--format", "json", sent); code != 0 || strings.Count(stdout, "\n") < 2*400 {
		t.Errorf("decode: exit code %d, %d reports", code, strings.Count(stdout, "\n"))
	}
}

func framesOf(t *testing.T, path string) (frames [][]byte) {
	for _, p := range sinktest.PacketsOf(t, path) {
		frames = append(frames, p.Data)
	}
	return frames
}

func containsPrefix(frames [][]byte, prefix []byte) bool {
	for _, f := range frames {
		if bytes.HasPrefix(f, prefix) {
			return true
		}
	}
	return false
}

// TestReplayWritesWhatAPortSends: the tag, the MAC address that is known, the
// source port; what only a device or a gateway would tell is zero.
func TestReplayWritesWhatAPortSends(t *testing.T) {
	path := sinktest.Classic(t, filepath.Join(t.TempDir(), "in"), 65535, []int64{0, 1, 2}, sinktest.IntFrame(t, 1), sinktest.IntFrame(t, 2), sinktest.IntFrame(t, 3))
	const by = `
  port    = "host"
  source  = "192.0.2.1"
`
	more := ""
	for i, extra := range []string{"gateway_mac = \"02:00:00:00:00:fe\"\nvlan = 100", "gateway = \"192.0.2.254\"", "source_port = \"hash\"", "source_port = 7"} {
		more += fmt.Sprintf("collector \"c%d\" {\naddress = \"198.51.100.%d:8555\"\n%s%s\n}\n", i, i+1, by, extra)
	}
	r := sinktest.ReplayFile(t, path, more)
	if r.Code != 0 {
		t.Fatal(r.Stderr)
	}
	var frames [][]byte
	for _, p := range r.Reports {
		frames = append(frames, p.Data)
	}
	for i, want := range []struct {
		mac  string
		vlan uint16
		port func(uint16) bool
	}{
		{"02:00:00:00:00:fe", 100, func(p uint16) bool { return p == 49152 }},
		{"00:00:00:00:00:00", 0, func(p uint16) bool { return p == 49152 }},
		{"00:00:00:00:00:00", 0, func(p uint16) bool { return p > 49152 }},
		{"00:00:00:00:00:00", 0, func(p uint16) bool { return p == 7 }},
	} {
		all := reportsTo(t, frames, fmt.Sprintf("198.51.100.%d", i+1), 0)
		if len(all) == 0 {
			t.Fatalf("no reports to collector %d", i)
		}
		for _, w := range all {
			if w.eth.DstMAC.String() != want.mac || w.eth.SrcMAC.String() != "00:00:00:00:00:00" || w.vlan != want.vlan ||
				!want.port(w.srcPort) || w.src != "192.0.2.1" {
				t.Errorf("collector %d: %+v", i, w)
			}
		}
	}
}
