package decode

import (
	"compress/gzip"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/internal/pcapfile"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/reporttest"
)

// TestDecodeRecords: reports as they come, gaps once they are known, stats at the end.
func TestDecodeRecords(t *testing.T) {
	frames := [][]byte{
		frame(reporttest.Packet(t, 4194302, 2), collectorAddr), frame(reporttest.Packet(t, 1, 1), collectorAddr),
		nil, frame(reporttest.Packet(t, 2, 1), collectorAddr),
	}
	stdout, stderr, err := runDecode(t, "--format", "record", writeFrames(t, layers.LinkTypeEthernet, false, frames...))
	const (
		start = `"id":"3-5-17979cfe362a0005-`
		who   = `"exporter":"192.0.2.1","node_id":3,"hw_id":5,"version":2,`
		main  = `"rep_type":1,"in_type":4,"intermediate":false,"domain":0,"ds_md_bits":0,"ds_md_status":0,`
		hop   = `"path":"e5d44bf417cb2c76","hop_count":1,"hops":[{"node_id":42}],"sink":{"ingress":1,"egress":2}}`
		flow  = `"flow":"udp:10.0.0.1:40000-10.0.0.2:53","source":"10.0.0.1","destination":"10.0.0.2","source_port":40000,"destination_port":53,"protocol":17,"dscp":0,"ecn":0,"length":48,`
	)
	want := []string{
		`{"v":1,"type":"report",` + start + `3ffffe-0","time":"2023-11-14T22:13:20.000000005Z","received":"2023-11-14T22:13:20.000000005Z",` + who +
			`"sequence":4194302,"index":0,` + main + `"dropped":false,"congested":false,"tracked":true,` + flow + hop,
		start + `3ffffe-1"`,
		start + `400001-0"`,
		`{"v":1,"type":"gap",` + start + `3fffff-gap","time":"2023-11-14T22:13:30.002000005Z","received":"2023-11-14T22:13:30.002000005Z",` + who + `"first":4194303,"last":4194304,"count":2}`,
		start + `400002-0"`,
		`{"v":1,"type":"stats",` + start + `17979d008a546885-stats","time":"2023-11-14T22:13:30.002000005Z","received":"2023-11-14T22:13:30.002000005Z",` + who +
			`"stats":{"received":3,"lost":2,"late":0,"undecodable":0}}`,
	}
	got := strings.Split(strings.TrimSpace(stdout), "\n")
	if err != nil || len(got) != len(want) || !strings.HasSuffix(stderr, "4 reports in 3 packets, 2 lost, 0 undecodable\n") {
		t.Fatalf("%v %s\n%s", err, stderr, stdout)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("line %d: %s\nwant %s", i+1, got[i], want[i])
		}
	}
}

// TestDecodeRecordsOfBadPackets: without --port they are passed over, with it they are
// shown as far as they can be read.
func TestDecodeRecordsOfBadPackets(t *testing.T) {
	bad := reporttest.Packet(t, 7, 1)
	bad[9]++ // Report Length
	path := writeFrames(t, layers.LinkTypeEthernet, false, frame(bad, collectorAddr), frame([]byte("hello"), collectorAddr))
	for _, c := range []struct {
		port   string
		lines  int
		stderr string
	}{
		{"0", 0, "0 reports in 0 packets, 0 lost, 2 undecodable\n"},
		{"8555", 2, "1 report in 1 packet, 0 lost, 2 undecodable\n"},
	} {
		t.Run(c.port, func(t *testing.T) {
			stdout, stderr, _ := runDecode(t, "--format", "record", "--port", c.port, path)
			if strings.Count(stdout, "\n") != c.lines || !strings.HasSuffix(stderr, c.stderr) || c.lines > 0 && !strings.Contains(stdout, `"flags":["malformed"]`) {
				t.Errorf("port %s: %s\n%s", c.port, stdout, stderr)
			}
		})
	}
}

// TestDecodeRecordsByMarks: the flags say where INT is.
func TestDecodeRecordsByMarks(t *testing.T) {
	other := reporttest.Packet(t, 8, 1)
	at := len(other) - 48
	other[at+22], other[at+23] = 7000>>8, 7000&0xff
	path := writeFrames(t, layers.LinkTypeEthernet, false, frame(marked(t), collectorAddr), frame(other, collectorAddr))
	for _, c := range []struct {
		args []string
		hops int
	}{{nil, 0}, {[]string{"--int-dscp", "23"}, 1}, {[]string{"--int-port", "1,7000"}, 1}, {[]string{"--int-port", "7000", "--int-dscp", "23/63"}, 2}} {
		stdout, _, err := runDecode(t, append([]string{"--format", "record", path}, c.args...)...)
		if err != nil || strings.Count(stdout, `"node_id":42`) != c.hops {
			t.Errorf("%v: %v\n%s", c.args, err, stdout)
		}
	}
}

const sinkConfig = `
link "a" {
  network = "n"
  host    = "h"
}
port "n" { device = "net_null0" }
port "h" { device = "net_null1" }
collector "c" { address = "192.0.2.10:8555" }
int {
  udp_port = 7000
  geneve   = { port = 16081, option_class = 1911 }
  domain "d" {
    id = 7
    instruction "device" {
      bit    = 0
      length = 4
      scope  = "source-only"
      role   = "device_id"
    }
  }
}
node_model "all" { latency_unit = "8ns" }
watch "all" {}
`

// TestDecodeConfig: INT in tunnels on other ports, domains and models of nodes are those
// of the sink's file.
func TestDecodeConfig(t *testing.T) {
	config := filepath.Join(t.TempDir(), "intsink.hcl")
	if err := os.WriteFile(config, []byte(sinkConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	inner := []byte{
		0x45, 0, 0, 72, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0x9c, 0x40, 16081 >> 8, 16081 & 0xff, 0, 52, 0, 0,
		7, 0, 0x65, 0x58, 0, 0, 7, 0, // Geneve: seven words of options
		1911 >> 8, 1911 & 0xff, 1, 6,
		0x20, 0, 2, 7, 0xa0, 0, 0, 7, 0x80, 0, 0, 0,
		0, 0, 0, 42, 0, 0, 0, 5,
		0xca, 0xfe, 0xba, 0xbe,
		0, 0, 0, 0, 0, 0, 0, 0,
	}
	var p report.Packet
	p.Open(make([]byte, 1400))
	p.Append(&report.Individual{InType: report.IPv4, TrackedFlow: true, Inner: inner})
	path := writeFrames(t, layers.LinkTypeEthernet, false, frame(p.Seal(report.GroupHeader{NodeID: 3}), collectorAddr))
	for _, c := range []struct {
		args []string
		want string
		has  bool
	}{
		{[]string{"--format", "record"}, `"hops"`, false},
		{[]string{"--format", "record", "--config", config}, `"device_id":"cafebabe","vni":7,"path":"e5d44bf417cb2c76","hop_count":1,"hops":[{"node_id":42,"latency_ns":40}]`, true},
		{[]string{"--format", "json", "--config", config}, `"hops":[{"node_id":42,"latency_ns":40}],"latency_ns":40,"max_hop":42,"source_metadata":"cafebabe"`, true},
		{[]string{"--format", "json"}, `"hops"`, false},
	} {
		stdout, stderr, err := runDecode(t, append(c.args, path)...)
		if err != nil || strings.Contains(stdout, c.want) != c.has {
			t.Errorf("%v: %v %s\n%s", c.args, err, stderr, stdout)
		}
	}
	_, _, err := runDecode(t, "--config", config, "--int-port", "5000", path)
	if err == nil || !strings.Contains(err.Error(), "--int-port: the file of --config says where INT is") {
		t.Errorf("both: %v", err)
	}
	_, _, err = runDecode(t, "--config", filepath.Join(t.TempDir(), "none.hcl"), path)
	wantCode(t, err, 1)
}

// TestDecodeStdin: - is standard input, compressed or not.
func TestDecodeStdin(t *testing.T) {
	path := writeFrames(t, layers.LinkTypeEthernet, false, frame(reporttest.Packet(t, 7, 2), netip.MustParseAddrPort("192.0.2.10:8555")))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := os.Create(path + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(zipped)
	z.Write(b)
	z.Close()
	zipped.Close()
	for _, path := range []string{path, path + ".gz"} {
		stdin := os.Stdin
		defer func() { os.Stdin = stdin }()
		if os.Stdin, err = os.Open(path); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, err := runDecode(t, pcapfile.Stdin)
		os.Stdin.Close()
		if err != nil || strings.Count(stdout, "\n") != 2 {
			t.Errorf("%s: %v %s", path, err, stderr)
		}
	}
}
