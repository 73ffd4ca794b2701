package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/internal/simulate"
)

// TestMain lets the tests run the command as a user does, in a process of its
// own: EAL can be started once per process.
func TestMain(m *testing.M) {
	if path := os.Getenv(ranAs); path != "" && strings.HasPrefix(os.Args[0], "/proc/") {
		os.WriteFile(path, []byte(strings.Join(os.Args, " ")), 0o600)
	}
	if os.Getenv("INTSINK_TEST_MAIN") != "" || filepath.Base(os.Args[0]) == "intsink.next" { // which root asks without its environment
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// intsink runs the command and returns what it printed and its exit code.
func intsink(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// toFullDevice runs the command with a standard output that has no room.
func toFullDevice(t *testing.T, args []string) (code int, stderr string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}

// unpolled tells of what a command said whether it failed since a worker has not polled, as one may that other
// load keeps from its CPU for seconds.
func unpolled(said string) bool {
	return strings.Contains(said, "has not polled for") || strings.Contains(said, "does not answer")
}

// polled runs a command, again for as long as it fails since a worker has not polled.
func polled(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	eventually(func() bool {
		stdout, stderr, code = intsink(t, args...)
		return code == 0 || !unpolled(stderr)
	})
	return stdout, stderr, code
}

// must runs a command that has to succeed, as polled does.
func must(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := polled(t, args...)
	if code != 0 {
		t.Fatalf("intsink %s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// lastLine is the JSON summary of replay.
func lastLine(t *testing.T, stdout string) (s simulate.Summary) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil {
		t.Fatalf("last line %q: %v", lines[len(lines)-1], err)
	}
	return s
}

func config(marking string) string {
	return `node { id = 3 }
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int { ` + marking + ` }
watch "all" { sample = 100 }
collector "primary" { address = "192.0.2.10:8555" }
`
}

// fewFlows is a small table: the kernel takes a tenth of a second to clear one of a million.
const fewFlows = "flows { capacity = 8192 }\n"

// offline is a configuration for a file of packets.
func offline(marking string) string { return config(marking) + fewFlows }

// TestReplayGivesBackTheOriginals: gen inserts, replay strips, over DPDK's pcap
// driver, for every marking; twice gives the same bytes.
func TestReplayGivesBackTheOriginals(t *testing.T) {
	for _, c := range []struct{ name, marking, flags string }{
		{"udp", `udp_port = 5000`, "--encap udp"},
		{"udp over ipv6 and vlan", `udp_port = 5000`, "--encap udp --ipv6 --vlan 7"},
		{"new udp header before tcp", `udp_port = 5000`, "--encap udp-new --proto tcp --size 200"},
		{"tcp by dscp", `dscp = { value = 23, mask = 63 }`, "--encap dscp --proto tcp --size 200"},
		{"probe marker", `probe_marker = "0x0102030405060708"`, "--encap probe --size 160"},
		{"jumbo frames", `udp_port = 5000`, "--size 9000 --hops 12"},
		{"half of it plain", `udp_port = 5000`, "--plain 0.5 --path-change-every 250 --latency-step-every 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			in, orig := filepath.Join(dir, "in.pcap"), filepath.Join(dir, "orig.pcap")
			must(t, append([]string{"gen", "--out", in, "--original", orig, "--flows", "40", "--count", "1500"}, strings.Fields(c.flags)...)...)
			conf := write(t, filepath.Join(dir, "c.hcl"), offline(c.marking))
			var out, reports [2]string
			for i := range 2 {
				out[i], reports[i] = filepath.Join(dir, "out"+string(rune('0'+i))), filepath.Join(dir, "rep"+string(rune('0'+i)))
				s := lastLine(t, must(t, "replay", "--config", conf, "--in", in, "--out", out[i], "--reports", reports[i]))
				if s.Received != 1500 || s.Forwarded != 1500 || s.Reports["new_flow"] != 40 {
					t.Errorf("summary %+v", s)
				}
			}
			if !sameFile(t, orig, out[0]) {
				t.Error("the packets behind the sink are not the originals")
			}
			if !sameFile(t, out[0], out[1]) || !sameFile(t, reports[0], reports[1]) {
				t.Error("two runs gave different bytes")
			}
			if n := strings.Count(must(t, "decode", "--port", "8555", reports[0]), "\n"); n < 40 {
				t.Errorf("%d reports decoded, want at least one per flow", n)
			}
		})
	}
}

func TestReplayRefusesWithOneClearError(t *testing.T) {
	dir := t.TempDir()
	conf := write(t, filepath.Join(dir, "c.hcl"), offline("udp_port = 5000"))
	garbage := write(t, filepath.Join(dir, "garbage.pcap"), "this is no capture")
	for _, c := range []struct{ in, want string }{
		{garbage, "not a pcap or pcapng capture"},
		{filepath.Join(dir, "missing.pcap"), "no such file"},
	} {
		t.Run(c.in, func(t *testing.T) {
			_, stderr, code := intsink(t, "replay", "--config", conf, "--in", c.in, "--out", dir+"/o", "--reports", dir+"/r")
			if code != 1 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("replay of %s: exit code %d, %q; want 1 and one line with %q", c.in, code, stderr, c.want)
			}
		})
	}
}

func TestRunRefusesDevicesThatAreNotThere(t *testing.T) {
	dir := t.TempDir()
	for device, want := range map[string]string{
		"net_pcap0,rx_pcap=/no/such/file": "/no/such/file",
		"net_nothing0":                    "check the driver's name",
	} {
		t.Run(device, func(t *testing.T) {
			text := strings.Replace(config("udp_port = 5000"), "net_null0", device, 1)
			conf := write(t, filepath.Join(dir, "c.hcl"), "dpdk {\n  mbufs = 4096\n}\nflows { capacity = 1024 }\nhttp { listen = \"\" }\n"+text)
			_, stderr, code := intsink(t, "run", "--config", conf)
			if code != 1 || !strings.Contains(stderr, `port "network"`) || !strings.Contains(stderr, want) {
				t.Errorf("%s: exit code %d\n%s", device, code, stderr)
			}
		})
	}
}
