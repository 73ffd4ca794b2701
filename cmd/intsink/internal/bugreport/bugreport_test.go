package bugreport

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/client"
)

// config is the configuration of a sink with a secret. Its endpoint is not the test's server.
const config = `
port "network" { device = "net_null0" }
port "host"    { device = "net_null1" }
link "uplink" {
  network = "network"
  host    = "host"
}
int { udp_port = 5000 }
node { id = 7 }
http {
  listen = "127.0.0.1:1"
  token "ci" {
    sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    role   = "write"
  }
  tls {
    certificate = "/nowhere/cert.pem"
    key         = "/nowhere/key.pem"
  }
}
`

// open reads an archive and returns the contents by name, without the folder that all are in.
func open(t *testing.T, archive io.Reader, folder string) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		name, inside := strings.CutPrefix(h.Name, folder+"/")
		if err != nil || !inside || h.Mode != 0o600 {
			t.Errorf("%s, mode %o: %v", h.Name, h.Mode, err)
		}
		files[name] = string(b)
	}
}

var now = time.Date(2026, 11, 22, 6, 30, 0, 0, time.UTC)

func TestArchiveOfARunningSink(t *testing.T) {
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		io.WriteString(w, "answer of "+r.URL.RequestURI())
	}))
	defer sink.Close()
	out := filepath.Join(t.TempDir(), "bug.tar.gz")
	o := &Options{Client: client.Options{URL: sink.URL}, Out: out, Version: "intsink 1.2"}
	var said bytes.Buffer
	if err := Run(context.Background(), &said, o, now); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	files := open(t, bytes.NewReader(b), "intsink-report-20261122-063000")
	for name, want := range map[string]string{
		"version.txt": "intsink 1.2", "running-config.hcl": "answer of /api/v1/config", "status.json": "answer of /api/v1/status",
		"metrics.txt": "answer of /metrics", "readyz.txt": "answer of /readyz?verbose",
	} {
		if files[name] != want {
			t.Errorf("%s: %q, want %q", name, files[name], want)
		}
	}
	if !strings.Contains(files["machine.txt"], "Linux version") {
		t.Errorf("machine.txt: %q", files["machine.txt"])
	}
	if err := Run(context.Background(), &said, o, now); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("it replaced a file: %v", err)
	}
}

func TestArchiveWithoutASink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "intsink.hcl")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	o := &Options{Client: client.Options{Config: path, Socket: filepath.Join(t.TempDir(), "none.sock")}, Out: "-"}
	if err := Run(context.Background(), &archive, o, now); err != nil {
		t.Fatal(err)
	}
	files := open(t, &archive, "intsink-report-20261122-063000")
	if c := files["config.hcl"]; !strings.Contains(c, "net_null0") || strings.Contains(c, "9f86d081") {
		t.Errorf("config.hcl lacks a port, or has a secret:\n%s", c)
	}
	if s := files["status.json.missing"]; !strings.Contains(s, "cannot be reached") {
		t.Errorf("status.json.missing: %q", s)
	}
	if files["doctor.txt"] == "" {
		t.Error("no doctor.txt")
	}
}

// TestConfigurationThatIsNotValidStaysOut: no line of it is in the archive, also where its number has five digits.
func TestConfigurationThatIsNotValidStaysOut(t *testing.T) {
	for _, before := range []int{0, 10000} {
		staysOut(t, strings.Repeat("\n", before)+strings.Replace(config, "sha256 ", "sha265", 1))
	}
}

func staysOut(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "intsink.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	o := &Options{Client: client.Options{Config: path}, Out: "-"}
	if err := Run(context.Background(), &archive, o, now); err != nil {
		t.Fatal(err)
	}
	files := open(t, &archive, "intsink-report-20261122-063000")
	if s := files["config.hcl.missing"]; !strings.Contains(s, "sha265") || strings.Contains(s, "9f86d081") {
		t.Errorf("config.hcl.missing: %q", s)
	}
	for _, name := range []string{"doctor.txt.missing", "metrics.txt.missing"} {
		if files[name] == "" {
			t.Errorf("no %s", name)
		}
	}
}

// TestNoFlowIsNamed: a flow has one number in all parts, and neither its addresses nor its ports stand anywhere.
func TestNoFlowIsNamed(t *testing.T) {
	makes := func(text string) func(context.Context) ([]byte, error) {
		return func(context.Context) ([]byte, error) { return []byte(text), nil }
	}
	var out bytes.Buffer
	_, err := write(context.Background(), &out, "x", []part{
		{"status.json", makes(`{"flow": "udp:10.2.0.19:40055-10.3.2.12:8000", "why": "filled by tcp:[2001:db8::1]:7-[2001:db8::2]:8@vni5000, icmp:10.0.0.1-10.1.0.1"}`)},
		{"log.txt", makes(`time=2026-11-22T06:30:00 flow=udp:10.2.0.19:40055-10.3.2.12:8000 flow2=89:10.0.0.1-224.0.0.5 listen=127.0.0.1:9465 collector=192.0.2.10:8555 mac=02:00:00:00:00:01`)},
	}, now)
	files := open(t, &out, "x")
	want := map[string]string{
		"status.json": `{"flow": "flow-1", "why": "filled by flow-2, flow-3"}`,
		"log.txt":     `time=2026-11-22T06:30:00 flow=flow-1 flow2=flow-4 listen=127.0.0.1:9465 collector=192.0.2.10:8555 mac=02:00:00:00:00:01`,
	}
	for name, text := range want {
		if files[name] != text || err != nil {
			t.Errorf("%s: %s, want %s (%v)", name, files[name], text, err)
		}
	}
}
