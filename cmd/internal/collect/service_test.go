package collect

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/engine/wire/report"
)

// TestService: systemd hears that the collector is ready, reloads, stops, and is not stuck;
// the log is in JSON where nobody sits in front of it.
func TestService(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "1000000")
	hear := func(want ...string) {
		t.Helper()
		c.SetReadDeadline(time.Now().Add(20 * time.Second))
		for b := make([]byte, 4096); len(want) > 0; {
			n, err := c.Read(b)
			if err != nil {
				t.Fatalf("waited for %s: %v", want[0], err)
			}
			for line := range strings.Lines(string(b[:n])) {
				if len(want) > 0 && strings.HasPrefix(line, want[0]) {
					want = want[1:]
				}
			}
		}
	}
	p := launch(t, configure(t, dir, "file \"a\" { path = \"unix:nobody\" }\n"))
	hear("READY=1", "STATUS=collecting", "WATCHDOG=1", "WATCHDOG=1")
	p.send(0, 1)
	hear("STATUS=no output takes records: file a; there is no spool")
	p.cmd.Process.Signal(syscall.SIGHUP)
	hear("RELOADING=1", "MONOTONIC_USEC=", "READY=1")
	p.end(syscall.SIGTERM)
	hear("STOPPING=1", "WATCHDOG_USEC=0")
	for line := range strings.Lines(p.stderr.String()) {
		if strings.Contains(line, "collecting") && !strings.HasPrefix(line, `{"time":`) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

// TestUnitStartHasNoLimit: the collector is ready when it has read its spool, which may take any time.
func TestUnitStartHasNoLimit(t *testing.T) {
	unit, err := os.ReadFile("../../../deploy/systemd/intsink-collect.service")
	if err != nil || !strings.Contains(string(unit), "\nTimeoutStartSec=infinity\n") {
		t.Errorf("no TimeoutStartSec=infinity: systemd ends a start after 90 s (%v)", err)
	}
}

// TestUnitExposure: what the unit may do, as systemd scores it.
func TestUnitExposure(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil { // scripts/deps.sh installs it
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "security", "--offline=true", "--threshold=15", "--no-pager", "../../../deploy/systemd/intsink-collect.service")
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("exposure is above 1.5: %v\n%s", err, out)
	}
}

// latencyPacket returns a report packet with one report, in which node 42 has the hop latency 1024.
func latencyPacket(t testing.TB) []byte {
	inner := []byte{
		0x45, 0, 0, 52, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0x9c, 0x40, 0x13, 0x88, 0, 32, 0, 0,
		0x14, 5, 0, 53,
		0x20, 0, 2, 7, 0xa0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 42, 0, 0, 4, 0,
	}
	var p report.Packet
	p.Open(make([]byte, 1400))
	if !p.Append(&report.Individual{RepType: report.InnerOnly, InType: report.IPv4, TrackedFlow: true, Inner: inner}) {
		t.Fatal("does not fit")
	}
	return p.Seal(report.GroupHeader{HwID: 5, NodeID: 3})
}

// TestNodeModel: the units of other devices' values, with and without those of the sinks' file.
func TestNodeModel(t *testing.T) {
	dir := t.TempDir()
	sink := func(nodes string) string {
		text, err := os.ReadFile("../../../deploy/collect/sink.hcl")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "sink.hcl")
		write(t, path, string(text)+"\nnode_model \"leaf\" {\n  nodes = "+nodes+"\n  latency_unit = \"10ns\"\n}\n")
		return "sink = \"sink.hcl\"\n"
	}
	const tofino = "node_model \"tofino\" {\n  nodes        = [42]\n  latency_unit = \"4ns\"\n}\n"
	const out = "file \"a\" { path = \"out.jsonl\" }\n"
	for _, c := range []struct{ name, config, want string }{
		{"none", "", `"latency_ns":1024`},
		{"its own", tofino, `"latency_ns":4096`},
		{"beside the sinks'", sink("[1]") + tofino, `"latency_ns":4096`},
	} {
		t.Run(c.name, func(t *testing.T) {
			os.Remove(filepath.Join(dir, "out.jsonl"))
			p := launch(t, configure(t, dir, out+c.config))
			p.conn.Write(latencyPacket(t))
			p.wait("it is delivered", func() bool { return p.metric(`intcollect_output_delivered_records_total{output="file a"}`) > 0 })
			p.end(syscall.SIGTERM)
			got, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
			if err != nil || !strings.Contains(string(got), c.want) {
				t.Errorf("%v: %s, want %s", err, got, c.want)
			}
		})
	}
	t.Run("a node in both files", func(t *testing.T) {
		c, err := load(configure(t, dir, out+sink(`"40-50"`)+tofino))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decoderOptions(c); err == nil || !strings.Contains(err.Error(), "node 42 of \"tofino\"") {
			t.Error(err)
		}
	})
}

// TestReloadSeesOtherFiles: a changed INT or node model of the sinks' file is refused, and renewed certificates make their
// output anew, though no line of the collector's file has changed.
func TestReloadSeesOtherFiles(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "off") // that of the tests stays as it is
	dir := t.TempDir()
	sink, ca := filepath.Join(dir, "sink.hcl"), filepath.Join(dir, "ca.pem")
	text, err := os.ReadFile("../../../deploy/collect/sink.hcl")
	if err != nil {
		t.Fatal(err)
	}
	write(t, sink, string(text))
	write(t, ca, certificate(t, 1))
	path := configure(t, dir, "sink = \"sink.hcl\"\nclickhouse \"store\" {\n  url = \"https://127.0.0.1:1/?table=int.reports\"\n  tls { ca = \"ca.pem\" }\n}\n")
	c, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := start(c, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.stop()
	adopt := func(want string) {
		t.Helper()
		if err := d.adopt(path); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	adopt("")
	first := d.world.outputs()[0]
	if adopt(""); !d.world.outputs()[0].same(&first) {
		t.Error("nothing has changed, and the output is another")
	}
	write(t, ca, certificate(t, 2))
	if adopt(""); d.world.outputs()[0].same(&first) {
		t.Error("the certificate has changed, and the output is the same")
	}
	write(t, sink, string(text)+"\nnode_model \"leaf\" {\n  nodes = [1]\n  latency_unit = \"10ns\"\n}\n")
	adopt("sink.hcl: a change of int or node_model in the file of sink needs a restart")
	write(t, sink, "nonsense")
	adopt("sink: ")
}

// certificate is one that nobody signed but itself, in PEM form.
func certificate(t *testing.T, serial int64) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
