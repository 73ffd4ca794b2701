package collect

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/conf/collector"
	"intsink/engine/wire/report/reporttest"
	"intsink/internal/loopback"
)

// begin starts a collector in this process, with the configuration of that text.
func begin(t *testing.T, dir, text string, strict bool) (*daemon, error) {
	t.Helper()
	t.Setenv("GOMEMLIMIT", "off") // that of the tests stays as it is
	path := filepath.Join(dir, "c.hcl")
	write(t, path, text)
	c, diags := collector.Load(path)
	if c == nil {
		t.Fatal(diags.Err())
	}
	d, err := start(c, "test", strict)
	if err == nil {
		t.Cleanup(func() {
			if !d.stopping.Load() {
				d.stop()
			}
		})
	}
	return d, err
}

// degradedParts are the parts that are degraded, a line each.
func degradedParts(d *daemon) string {
	var all []string
	for _, s := range d.parts.List() {
		all = append(all, s.Part+" "+s.Name)
	}
	return strings.Join(all, "\n")
}

// eventually waits until done returns true.
func eventually(t *testing.T, d *daemon, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for: %s; degraded: %v", what, d.parts.Err())
		}
	}
}

// TestWrongWorld starts a collector with six faults at once: a broker's name does not resolve, the addresses of a listener and of
// HTTP are taken, an output's folder and a certificate are missing, and a file stands where the spool's folder should be. The
// output without a fault gets all records. Each fault is told, and ends without a restart once it is mended; no record is lost.
func TestWrongWorld(t *testing.T) {
	dir := t.TempDir()
	good, taken, web := loopback.Address(t), loopback.Address(t), loopback.Address(t)
	holder, err := net.ListenPacket("udp", taken)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	webHolder, err := net.Listen("tcp", web)
	if err != nil {
		t.Fatal(err)
	}
	defer webHolder.Close()
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, in("spool"), "not a folder")
	config := fmt.Sprintf(`
listen "good" { address = %q }
listen "taken" { address = %q }
http { listen = %q }
spool { directory = "spool" }
kafka "name" { brokers = ["no-such-host.invalid:9092"] }
clickhouse "certificate" {
  url = "https://127.0.0.1:1/?table=t"
  tls { ca = "ca.pem" }
}
file "works" { path = "works.jsonl" }
file "folder" { path = "missing/out.jsonl" }
`, good, taken, web)
	if _, err := begin(t, dir, config, true); err == nil || strings.Count(err.Error(), "\n") < 5 || !strings.Contains(err.Error(), "with --strict: http listen") {
		t.Errorf("with strict: %v", err)
	}
	os.Remove(in("works.jsonl"))
	d, err := begin(t, dir, config, false)
	if err != nil {
		t.Fatal(err)
	}
	const all = "http listen\nlisten taken\noutput clickhouse certificate\noutput file folder\noutput kafka name\nspool "
	eventually(t, d, "all is told", func() bool { return degradedParts(d) == all+in("spool") })
	send := func(address string, from, to uint32) {
		t.Helper()
		conn, err := net.Dial("udp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for n := from; n < to; n++ {
			conn.Write(reporttest.Packet(t, n, 2))
		}
	}
	send(good, 0, 100)
	eventually(t, d, "the output that works has 200 records", func() bool { return strings.Count(text(in("works.jsonl")), `"report"`) == 200 })
	var said bytes.Buffer
	d.writeMetrics(&said)
	if !strings.Contains(said.String(), `intcollect_degraded{part="listen",name="taken"} 1`) || !strings.Contains(said.String(), `intcollect_degraded_since_timestamp_seconds{part="spool"`) {
		t.Error("the metrics do not tell")
	}

	os.Remove(in("spool"))
	os.Mkdir(in("missing"), 0o700)
	write(t, in("ca.pem"), certificate(t, 1))
	holder.Close()
	webHolder.Close()
	eventually(t, d, "all but what is away works", func() bool {
		return !strings.Contains(degradedParts(d), "http") && !strings.Contains(degradedParts(d), "listen") && !strings.Contains(degradedParts(d), "spool") && !strings.Contains(degradedParts(d), "file")
	})
	eventually(t, d, "the output with a certificate connects", func() bool {
		err := d.parts.Err()
		return err != nil && strings.Contains(err.Error(), "connection refused")
	})
	send(taken, 100, 150)
	eventually(t, d, "the other file has all", func() bool { return len(ids(t, in("missing/out.jsonl"))) == 300 })
	if left, _ := filepath.Glob(in("spool/spool-*.pcap")); len(left) == 0 {
		t.Error("nothing is in the spool")
	}
	p := &process{t: t, metrics: "http://" + web}
	if code, body := p.get("/readyz?verbose"); code != 200 || !strings.Contains(body, "\ndegraded: output kafka name: since ") || !strings.Contains(body, "listen taken: ok\n") || !strings.Contains(body, "\nkafka name: the host name no-such-host.invalid") {
		t.Errorf("%d %s", code, body)
	}
}

func text(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

// TestSilentNameServer: a start does not wait for names, and neither does a stop.
func TestSilentNameServer(t *testing.T) {
	dir := t.TempDir()
	d, err := begin(t, dir, fmt.Sprintf("listen \"r\" { address = %q }\nhttp { listen = \"\" }\nfile \"f\" { path = \"f.jsonl\" }\nkafka \"k\" { brokers = [\"127.0.0.1:1\"] }\n", loopback.Address(t)), false)
	if err != nil {
		t.Fatal(err)
	}
	silent := make(chan struct{})
	defer close(silent)
	d.world.lookUp = func(string) ([]netip.Addr, error) { <-silent; return nil, errors.New("too late") }
	d.world.use([]spec{{name: "kafka k", hosts: []string{"broker.example"}}})
	go d.lookNamesUp()
	d.tellDegraded()
	if got := degradedParts(d); strings.Contains(got, "kafka") {
		t.Errorf("%s is told before anything is known", got)
	}
}

// TestSecondCollector: one that would take a part of another's reports, or write its file, does neither: it says which process
// does, and takes over when that has ended.
func TestSecondCollector(t *testing.T) {
	dir := t.TempDir()
	address, own := loopback.Address(t), loopback.Address(t)
	of := func(listen, out string) string {
		return fmt.Sprintf("listen \"r\" { address = %q }\nfile \"a\" { path = %q }\nhttp { listen = \"\" }\n", listen, out)
	}
	first, err := begin(t, dir, of(address, "a.jsonl"), false)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, first, "the first one has its file", func() bool { return text(dir+"/a.jsonl") == "" && exists(dir+"/a.jsonl") })
	file, err := begin(t, dir, of(own, "a.jsonl"), false)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, file, "the second one says who writes the file", func() bool {
		err := file.parts.Err()
		return err != nil && strings.Contains(err.Error(), "another output of this process writes this file")
	})
	second, err := begin(t, dir, of(address, "b.jsonl"), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.parts.Err(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("by process %d", os.Getpid())) {
		t.Errorf("the same address: %v", err)
	}
	if err := second.ready(); err == nil || !strings.Contains(err.Error(), "nothing is received") {
		t.Errorf("ready: %v", err)
	}
	if _, err := begin(t, dir, of(address, "c.jsonl"), true); err == nil {
		t.Error("with --strict it starts")
	}
	first.stop()
	eventually(t, second, "it takes over", func() bool { return second.ready() == nil && second.parts.Err() == nil })
	eventually(t, file, "it takes the file over", func() bool { return file.parts.Err() == nil })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestReloadIntoAWrongWorld: an output whose new certificate is missing goes on with the one that it has.
func TestReloadIntoAWrongWorld(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ca.pem"), certificate(t, 1))
	config := fmt.Sprintf("listen \"r\" { address = %q }\nhttp { listen = \"\" }\nclickhouse \"c\" {\n  url = \"https://127.0.0.1:1/?table=t\"\n  tls { ca = \"ca.pem\" }\n}\n", loopback.Address(t))
	d, err := begin(t, dir, config, false)
	if err != nil || d.parts.Err() != nil {
		t.Fatal(err, d.parts.Err())
	}
	path := filepath.Join(dir, "c.hcl")
	write(t, path, strings.Replace(config, "ca.pem", "next.pem", 1)+"file \"new\" { path = \"new.jsonl\" }\n")
	if err := d.adopt(path); err != nil {
		t.Error(err)
	}
	if err := d.parts.Err(); err == nil || !strings.Contains(err.Error(), "output clickhouse c: tls.ca") {
		t.Errorf("degraded: %v", err)
	}
	write(t, filepath.Join(dir, "next.pem"), certificate(t, 2))
	eventually(t, d, "the new certificate is taken", func() bool { return d.parts.Err() == nil })
}

// TestCheckOfTheWorld: --check warns of what is missing, and has an error with --strict.
func TestCheckOfTheWorld(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.hcl")
	write(t, filepath.Join(dir, "file"), "")
	write(t, path, `
listen "r" { address = "192.0.2.1:8555" }
http { listen = "198.51.100.77:9466" }
spool { directory = "file/spool" }
kafka "k" { brokers = ["no-such-host.invalid:1", "127.0.0.1:1"] }
clickhouse "c" {
  url = "https://127.0.0.1/?table=t"
  tls { ca = "none.pem" }
}
file "f" { path = "none/f.jsonl" }
`)
	check := func(args ...string) (string, error) {
		cmd := NewCommand("test")
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SetArgs(append([]string{"--config", path, "--check"}, args...))
		err := cmd.Execute()
		return out.String(), err
	}
	out, err := check()
	if err != nil {
		t.Error(err)
	}
	_, strict := check("--strict")
	if strict == nil {
		t.Fatal("no error with --strict")
	}
	for _, what := range []string{"listen r: 192.0.2.1 is no address", "http.listen: 198.51.100.77", "spool: ", "file f: write ", "kafka k: the host name no-such-host.invalid", "clickhouse c: tls.ca"} {
		if !strings.Contains(out, "warning: "+what) || !strings.Contains(strict.Error(), what) {
			t.Errorf("%q is missing in\n%s\nor in\n%v", what, out, strict)
		}
	}
}
