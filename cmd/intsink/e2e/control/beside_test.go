package control_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

// besideLinks are a port for reports and a tap's, on interfaces that are not there yet.
const besideLinks = `
port "reports" { device = "kernel:late-tel0" }
port "tapped" { device = "kernel:late-tap0" }
tap "mirror" { port = "tapped" }
collector "by port" {
  address     = "198.51.100.10:8555"
  port        = "reports"
  source      = "192.0.2.1"
  gateway_mac = "02:00:00:00:00:fe"
}
`

// TestPortsBesideLinks: ports for reports and taps whose interfaces are not there refuse no start, stop no link, and are used once the
// interfaces are there: reports leave with their MAC address. What vanishes is degraded again.
func TestPortsBesideLinks(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "ip link set lo up; sysctl -qw net.ipv6.conf.default.disable_ipv6=1")
	b := newBed(t, "", besideLinks)
	in := filepath.Join(b.dir, "in.pcap")
	sinktest.Must(t, "gen", "--out", in, "--flows", "4", "--count", "50")
	b.change(t, `"net_null0"`, `"net_pcap0,rx_pcap=`+in+`,infinite_rx=1"`)
	if _, stderr, code := sinktest.Run(t, "run", "--strict", "--config", b.path); code != 1 || !strings.Contains(stderr, "port reports") || !strings.Contains(stderr, "port tapped") {
		t.Errorf("run --strict: exit code %d\n%s", code, stderr)
	}
	os.Remove(b.asked())
	b.start(t, nil)
	const reports, tapped = `intsink_degraded{part="port",name="reports"}`, `intsink_degraded{part="port",name="tapped"}`
	b.Wait(t, "both to be degraded", func(p observetest.Exposition) bool { return p.Series[reports] == 1 && p.Series[tapped] == 1 })
	b.passes(t)
	if ready := b.Get(t, "/readyz?verbose"); !strings.Contains(ready, `port "reports": interface "late-tel0": there is no such interface; tried again each second`) {
		t.Errorf("/readyz?verbose: %s", ready)
	}
	netns.Sh(t, "ip link add late-tel0 address 02:00:00:00:00:77 type veth peer name late-tel1; ip link add late-tap0 type veth peer name late-tap1; for i in tel0 tel1 tap0 tap1; do ip link set late-$i up; done")
	b.Wait(t, "both to be there", func(p observetest.Exposition) bool {
		return p.Series[reports] == 0 && p.Series[tapped] == 0 && p.Series[`intsink_report_packets_sent_total{collector="by port"}`] > 0
	})
	if frame := heard(t, "late-tel1"); !bytes.HasPrefix(frame, []byte{2, 0, 0, 0, 0, 0xfe, 2, 0, 0, 0, 0, 0x77, 8, 0}) {
		t.Errorf("a report leaves as % x", frame)
	}
	shout(t, "late-tap1", sinktest.PlainFrame())
	b.Wait(t, "the tap to hear", func(p observetest.Exposition) bool {
		return p.Series[`intsink_received_packets_total{link="mirror",direction="to_host"}`] > 0
	})
	netns.Sh(t, "ip link del late-tel0; ip link del late-tap0")
	b.Wait(t, "both to be degraded again", func(p observetest.Exposition) bool { return p.Series[reports] == 1 && p.Series[tapped] == 1 })
	b.passes(t)
	b.ends(t, 0)
}

// laterLink is one whose interfaces are not there yet: one for a driver of DPDK, which loops in C poll, and one without.
const laterLink = `
port "later" { device = "net_pcap7,iface=later-a0" }
port "without" { device = "kernel:later-b0" }
link "comes" {
  network = "later"
  host    = "without"
}
port "later C" { device = "net_pcap8,iface=later-c0" }
port "later D" { device = "net_pcap9,iface=later-d0" }
link "comes in C" {
  network = "later C"
  host    = "later D"
}
`

// TestLinksThatComeLater: a link whose interfaces come after the start forwards once both are there, without a restart.
func TestLinksThatComeLater(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "ip link set lo up; sysctl -qw net.ipv6.conf.default.disable_ipv6=1")
	for _, links := range []string{laterLink, laterLink[strings.Index(laterLink, `port "later C"`):]} {
		b := newBed(t, "", links)
		b.change(t, "4096", "32768")
		b.start(t, nil)
		b.passes(t)
		ready := func(want string) {
			t.Helper()
			for end := time.Now().Add(sinktest.Patience); ; time.Sleep(10 * time.Millisecond) {
				got := b.Get(t, "/readyz?verbose")
				if strings.Contains(got, want) {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("/readyz lacks %q:\n%s", want, got)
				}
			}
		}
		ready(`port "later D": interface "later-d0": there is no such interface; tried again each second`)
		pairs := []string{"c", "d"}
		if links == laterLink {
			pairs = []string{"a", "b", "c", "d"}
		}
		for i, name := range pairs {
			netns.Sh(t, "for i in 0 1; do ip link show later-"+name+"$i; done 2>/dev/null || { ip link add later-"+name+"0 type veth peer name later-"+name+"1; for i in 0 1; do ip link set later-"+name+"$i up; done; }")
			if i == len(pairs)-2 {
				ready(`port "later C": link "comes in C" is stopped, as port "later D" is not there; tried again each second`)
			}
		}
		b.Wait(t, "all to be there", func(p observetest.Exposition) bool { return p.Series[`intsink_port_link_up{port="later D"}`] == 1 })
		ready("ok\n")
		for i := 0; i < len(pairs); i += 2 {
			hears := packetSocket(t, "later-"+pairs[i+1]+"1")
			shout(t, "later-"+pairs[i]+"1", sinktest.PlainFrame())
			if got := frameOf(t, hears, "later-"+pairs[i+1]+"1"); !bytes.Equal(got, sinktest.PlainFrame()) {
				t.Errorf("later-%s: % x", pairs[i+1], got)
			}
		}
		b.passes(t)
		b.ends(t, 0)
		netns.Sh(t, "for i in a b c d; do ip link del later-${i}0 2>/dev/null || true; done")
	}
}

// packetSocket is one on an interface.
func packetSocket(t *testing.T, name string) int {
	t.Helper()
	i, err := net.InterfaceByName(name)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: 0x0300, Ifindex: i.Index}); err != nil { // ETH_P_ALL
		t.Fatal(err)
	}
	return fd
}

// heard is the next frame that comes to an interface.
func heard(t *testing.T, name string) []byte {
	t.Helper()
	return frameOf(t, packetSocket(t, name), name)
}

// frameOf is the next frame of a packet socket.
func frameOf(t *testing.T, fd int, name string) []byte {
	t.Helper()
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: int64(sinktest.Patience / time.Second)})
	b := make([]byte, 2048)
	n, _, err := unix.Recvfrom(fd, b, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b[:n]
}

// shout sends a frame by an interface.
func shout(t *testing.T, name string, frame []byte) {
	t.Helper()
	if _, err := unix.Write(packetSocket(t, name), frame); err != nil {
		t.Fatal(err)
	}
}

// TestSilentNameServer: with a name server that never answers the sink starts, forwards, reloads, tells, and stops.
func TestSilentNameServer(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "ip link set lo up")
	silent, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	b := newBed(t, "", "collector \"named\" { address = \"collector.example:8555\" }\n")
	resolv := sinktest.Write(t, filepath.Join(b.dir, "resolv.conf"), "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
	script := "mount --bind " + resolv + " /etc/resolv.conf && exec " + os.Args[0] + " run --config " + b.path
	cmd := exec.Command("unshare", "-m", "sh", "-c", script)
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	http := b.HTTP
	b.Sink = sinktest.StartCommand(t, cmd)
	b.HTTP = http
	b.passes(t)
	const degraded = `intsink_degraded{part="collector",name="named"}`
	b.Wait(t, "the name to be told", func(p observetest.Exposition) bool { return p.Series[degraded] == 1 })
	if asked := make([]byte, 512); !bytes.Contains(asked[:ask(t, silent, asked)], []byte("collector")) {
		t.Errorf("the name server was asked %q", asked)
	}
	b.Cmd.Process.Signal(unix.SIGHUP)
	b.Wait(t, "the reload", func(p observetest.Exposition) bool { return p.Series["intsink_config_generation"] == 2 })
	b.passes(t)
	b.ends(t, 0)
}

// ask reads a question that a name server got.
func ask(t *testing.T, server net.PacketConn, b []byte) int {
	t.Helper()
	server.SetReadDeadline(time.Now().Add(sinktest.Patience))
	n, _, err := server.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
