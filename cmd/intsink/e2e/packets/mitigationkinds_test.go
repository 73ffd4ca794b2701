package packets_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/mitigation"
	"intsink/engine/wire/intgen"
	"intsink/internal/netns"
)

// deviceDomain is domain metadata whose value says which device a packet came from.
const deviceDomain = `int {
  udp_port = 5000
  domain "transparent-security" {
    id = 21587
    instruction "device_id" {
      bit    = 0
      length = 8
      scope  = "source-only"
      role   = "device_id"
    }
  }
}`

// dropped is what a record says of a packet that the sink dropped.
type dropped struct {
	Events     []string `json:"events"`
	DropReason string   `json:"drop_reason_name"`
	Drops      *uint32  `json:"drops"`
	Source     string   `json:"source"`
	SourcePort int      `json:"source_port"`
	DeviceID   string   `json:"device_id"`
}

// recording decodes the reports that come to address, until stop.
func recording(t *testing.T, address, config string) (stop func() []dropped) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "decode", "--format", "record", "--config", config, "--listen", address)
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	port := fmt.Sprintf(":%04X ", netip.MustParseAddrPort(address).Port())
	// holdsNothing reports whether the socket is there and holds nothing that was not read.
	holdsNothing := func() bool {
		sockets, _ := os.ReadFile("/proc/net/udp")
		for line := range strings.Lines(string(sockets)) {
			if f := strings.Fields(line); strings.HasSuffix(f[1]+" ", port) { // its own address: the sink's socket has it as its peer's
				return strings.HasSuffix(f[4], ":00000000") // tx_queue:rx_queue
			}
		}
		return false
	}
	sinktest.Eventually(holdsNothing)
	return func() (all []dropped) {
		sinktest.Eventually(holdsNothing)
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		for line := range strings.Lines(out.String()) {
			var d dropped
			if err := json.Unmarshal([]byte(line), &d); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if d.DropReason != "" {
				all = append(all, d)
			}
		}
		return all
	}
}

// TestMitigationKinds over a veth pair: a rule for a device by its domain metadata drops the
// packets of that device alone, one that polices lets its rate pass, one that counts lets all pass;
// drops are reported as acl_deny with how many they were, and the rules count the same.
func TestMitigationKinds(t *testing.T) {
	if !netns.In(t) {
		return
	}
	text, socket := sinktest.AddSocket(t, sinktest.Mitigated(sinktest.InLine(t)))
	text = strings.Replace(text, "int { udp_port = 5000 }", deviceDomain, 1)
	text = strings.Replace(text, "127.0.0.1:9", "127.0.0.1:18555", 1) + "report { explain = true }\n"
	text = strings.Replace(text, "sample = 100", `events = ["drop"]`, 1)
	r := sinktest.Start(t, text)
	r.Ready(t)
	records := recording(t, "127.0.0.1:18555", filepath.Join(filepath.Dir(r.Cmd.Args[len(r.Cmd.Args)-1]), "c.hcl"))
	in := sinktest.OpenWire(t, "a-near")
	arrived, _ := sinktest.FramesAt(t, sinktest.OpenWire(t, "b-far"))
	source := intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8, DomainID: 21587, DSInstruction: 0x8000}
	// passes sends n packets of a device and tells how many arrive, by a last one of no device.
	passes := func(device byte, n int) (passed int) {
		t.Helper()
		for i := range n + 1 {
			f := intgen.Flow{SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Src: netip.AddrFrom4([4]byte{10, 0, 0, device}), Dst: netip.MustParseAddr("10.1.0.1"), Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000}
			if i == n {
				f.Src = netip.MustParseAddr("10.0.0.99")
			}
			source.SourceOnly = []byte{2, 0, 0, 0, 0, f.Src.As4()[3], 0, 0}
			frame, err := source.Insert(f.Frame(60, uint32(i)), []intgen.Hop{{NodeID: 101, LatencyNs: 100}})
			if err != nil {
				t.Fatal(err)
			}
			for !in.Send(frame) {
				time.Sleep(time.Millisecond)
			}
		}
		for {
			select {
			case f := <-arrived:
				if f[29] == 99 {
					return passed
				}
				passed++
			case <-time.After(sinktest.Patience):
				t.Fatal("nothing arrives")
			}
		}
	}
	add := func(args ...string) {
		t.Helper()
		sinktest.Must(t, append([]string{"mitigate", "add", "--socket", socket, "--ttl", "5m"}, args...)...)
		r.Adopted(t)
	}
	if n := passes(7, 10); n != 10 {
		t.Fatalf("%d of 10 pass without a rule", n)
	}
	add("--device-id", "0x0200000000070000")
	add("--action", "police", "--rate", "1000", "--source", "10.0.0.8")
	add("--action", "count", "--source", "10.0.0.9")
	policed := 0
	for _, c := range []struct {
		name       string
		device     byte
		from, upTo int // of 10 that pass
	}{{"dropped", 7, 0, 0}, {"policed", 8, 0, 10}, {"counted", 9, 10, 10}, {"of no rule", 10, 10, 10}} {
		if n := passes(c.device, 10); n < c.from || n > c.upTo {
			t.Errorf("%s: %d of 10 pass", c.name, n)
		} else if c.name == "policed" {
			policed = n // nine or less, but where each packet had to wait a second for a CPU
		}
	}
	time.Sleep(1100 * time.Millisecond) // a flow's drops are reported once a second
	if n := passes(7, 1); n != 0 {
		t.Error("a packet of the device passes")
	}
	var l mitigation.List
	if err := json.Unmarshal([]byte(sinktest.Must(t, "mitigate", "list", "--socket", socket, "--format", "json")), &l); err != nil || len(l.Rules) != 3 {
		t.Fatalf("%v %+v", err, l)
	}
	if d, p, c := l.Rules[0], l.Rules[1], l.Rules[2]; d.DroppedPackets != 11 || p.Packets != 10 || p.DroppedPackets != uint64(10-policed) || c.Packets != 10 || c.DroppedPackets != 0 {
		t.Errorf("%+v", l.Rules)
	}
	p := r.Balanced(t)
	if n := p.Series[`intsink_dropped_packets_total{link="edge",direction="to_host",reason="mitigation"}`]; n != float64(11+l.Rules[1].DroppedPackets) {
		t.Errorf("%v packets were dropped, by the metrics", n)
	}
	r.Stop(t, sinktest.Patience)
	drops, reports := uint32(0), 0
	for _, d := range records() {
		if d.DropReason != "acl_deny" || d.Drops == nil {
			t.Errorf("a drop is reported as %+v", d)
			continue
		}
		if d.DeviceID == "0200000000070000" {
			drops += *d.Drops
			reports++
		}
	}
	if drops != 11 || reports < 2 {
		t.Errorf("%d reports of the device's packets tell %d drops, want at least 2 of 11", reports, drops)
	}
}
