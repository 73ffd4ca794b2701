//go:build engines

package ipfix

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/exporters/record"
)

// sendTo sends flows with source ports from 1 on to a UDP port: over IPv4, and every third over IPv6.
func sendTo(t *testing.T, port, flows int) {
	t.Helper()
	conn, err := net.Dial("udp", fmt.Sprint("127.0.0.1:", port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s := session{limit: 1400, repeat: time.Minute, now: time.Now, enterprise: 32473, write: func(m []byte) error { _, err := conn.Write(m); return err }}
	for i := range flows {
		r := flowOf()
		r.SourcePort = uint16(i + 1)
		r.Time = time.Now().UnixNano()
		if i%3 == 2 {
			r.Source, r.Destination = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
		}
		if err := s.add(7, 1, record.AppendFlow(nil, r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
}

// start starts a program, waits until it listens on the UDP port, and returns what stops it by a signal, and tells what it said.
func start(t *testing.T, port int, name string, args ...string) (stop func() (said string)) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Fatalf("%v; scripts/deps-engines.sh installs it", err)
	}
	cmd := exec.Command(name, args...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	stop = func() string {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
			<-done
		}
		return said.String()
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		sockets, _ := os.ReadFile("/proc/net/udp")
		if strings.Contains(string(sockets), fmt.Sprintf(":%04X ", port)) {
			return stop
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not listen on port %d: %s", name, port, stop())
		}
	}
}

// freePort is a UDP port that nobody has.
func freePort(t *testing.T) int {
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.LocalAddr().(*net.UDPAddr).Port
}

// TestNfdump: nfcapd stores what it is sent, and nfdump prints it: addresses, ports, times, bytes and flags.
func TestNfdump(t *testing.T) {
	dir, port, flows := t.TempDir(), freePort(t), 300
	stop := start(t, port, "nfcapd", "-w", dir, "-p", fmt.Sprint(port), "-b", "127.0.0.1", "-t", "3600")
	sendTo(t, port, flows)
	time.Sleep(time.Second) // nfcapd says nowhere how far it is, and reads nothing more once it is told to end
	if said := stop(); !strings.Contains(said, "Sequence Errors: 0, Bad Packets: 0") {
		t.Errorf("nfcapd says\n%s", said)
	}
	out, err := exec.Command("nfdump", "-R", dir, "-q", "-N", "-o", "fmt:%ts|%pr|%sa|%sp|%da|%dp|%flg|%tos|%pkt|%byt|%in|%out|%svln|%fwd").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != flows {
		t.Fatalf("%d flows, want %d:\n%s", len(lines), flows, out)
	}
	today := time.Now().Format("2006-01-02")
	for i, line := range lines {
		f := strings.Split(line, "|")
		for j := range f {
			f[j] = strings.TrimSpace(f[j])
		}
		src, dst := "10.0.0.1", "10.1.0.1"
		if i%3 == 2 {
			src, dst = "2001:db8::1", "2001:db8::2"
		}
		want := []string{"6", src, fmt.Sprint(i + 1), dst, "443", "...A..S.", "187", "1", "1500"} // tos: EF with the mark of ECN
		if got := f[1:10]; strings.Join(got, "|") != strings.Join(want, "|") || !strings.HasPrefix(f[0], today) {
			t.Fatalf("flow %d is %s, want %s", i, line, strings.Join(want, "|"))
		}
	}
	t.Log(lines[0])
}

// TestPmacct: nfacctd reads the same, and the delays of RFC 9951 where it is told their numbers.
func TestPmacct(t *testing.T) {
	dir, port, flows := t.TempDir(), freePort(t), 300
	primitives, output := filepath.Join(dir, "primitives"), filepath.Join(dir, "flows")
	os.WriteFile(primitives, []byte("name=delay field_type=530 len=4 semantics=u_int\nname=delay_sum field_type=533 len=8 semantics=u_int\nname=hops field_type=32473:1 len=2 semantics=u_int\n"), 0o600)
	config := filepath.Join(dir, "conf")
	os.WriteFile(config, fmt.Appendf(nil, `daemonize: false
nfacctd_ip: 127.0.0.1
nfacctd_port: %d
plugins: print
aggregate: src_host, dst_host, src_port, dst_port, proto, tcpflags, tos, vlan, delay, delay_sum, hops
aggregate_primitives: %s
print_output: json
print_output_file: %s
print_refresh_time: 60
`, port, primitives, output), 0o600)
	stop := start(t, port, "nfacctd", "-f", config)
	time.Sleep(500 * time.Millisecond) // its plugin starts after its socket
	sendTo(t, port, flows)
	time.Sleep(time.Second)
	stop() // it writes what it has
	b, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != flows {
		t.Fatalf("%d flows, want %d: %q", len(lines), flows, lines)
	}
	seen := map[int]bool{}
	for _, line := range lines {
		var f struct {
			Src     string `json:"ip_src"`
			Dst     string `json:"ip_dst"`
			Port    int    `json:"port_src"`
			DstPort int    `json:"port_dst"`
			Delay   any    `json:"delay"`
			Sum     any    `json:"delay_sum"`
			Hops    any    `json:"hops"`
			Packets int    `json:"packets"`
			Bytes   int    `json:"bytes"`
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		src, dst := "10.0.0.1", "10.1.0.1"
		if f.Port%3 == 0 {
			src, dst = "2001:db8::1", "2001:db8::2"
		}
		if seen[f.Port] || f.Src != src || f.Dst != dst || f.DstPort != 443 || f.Packets != 1 || f.Bytes != 1500 ||
			fmt.Sprint(f.Delay) != "10" || fmt.Sprint(f.Sum) != "10" || fmt.Sprint(f.Hops) != "3" {
			t.Fatalf("flow is %s", line)
		}
		seen[f.Port] = true
	}
	t.Log(lines[0])
}
