package packets_test

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

func sh(t *testing.T, lines string) {
	t.Helper()
	if out, err := exec.Command("sh", "-ec", lines).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// datagrams are what a UDP socket receives.
type datagrams struct {
	mu   sync.Mutex
	seqs []int
	from []string
}

func collect(t *testing.T, addr string) *datagrams {
	t.Helper()
	a, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.ListenUDP("udp", a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	d := &datagrams{}
	go func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := c.ReadFromUDP(buf)
			if err != nil {
				return
			}
			d.mu.Lock()
			if n >= 8 {
				d.seqs, d.from = append(d.seqs, sequenceOf(buf)), append(d.from, from.String())
			}
			d.mu.Unlock()
		}
	}()
	return d
}

// check waits until n report packets are there, their sequence numbers from 0
// on, all from one address.
func (d *datagrams) check(t *testing.T, name string, n int, from string) {
	t.Helper()
	for end := time.Now().Add(sinktest.Patience); time.Now().Before(end); {
		d.mu.Lock()
		got, sources := slices.Clone(d.seqs), slices.Clone(d.from)
		d.mu.Unlock()
		if len(got) < n {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		for i := range got {
			if got[i] != i || sources[i] != from {
				t.Fatalf("%s: sequence numbers %v from %v, want from 0 on, from %s", name, got, sources, from)
			}
		}
		return
	}
	t.Fatalf("%s: %d report packets of %d came", name, len(d.seqs), n)
}

// TestCollectorByARP: over veth pairs of kernel interfaces. The sink asks
// the kernel at the other end who the collectors are, by ARP and Neighbor Discovery,
// on a port of the reports' own and on a link's, and the kernel asks it back.
func TestCollectorByARP(t *testing.T) {
	if !netns.In(t) {
		return
	}
	sh(t, `
ip link set lo up
for i in net host tele; do
	ip link add d-$i type veth peer name k-$i
	for end in d-$i k-$i; do
		sysctl -qw net.ipv6.conf.$end.accept_dad=0
		ethtool -K $end tx off rx off tso off gso off gro off rxvlan off txvlan off >/dev/null 2>&1 || true
		ip link set $end up
	done
done
ip addr add 192.0.2.10/24 dev k-tele
ip addr add 2001:db8::10/64 dev k-tele nodad
ip addr add 203.0.113.10/24 dev k-net
`)
	four, six := collect(t, "192.0.2.10:8555"), collect(t, "[2001:db8::10]:8555")
	inline := collect(t, "203.0.113.10:8555")
	network := sinktest.OpenWire(t, "k-net")
	forwarded, endForwarded := sinktest.FramesAt(t, sinktest.OpenWire(t, "k-host"))

	text := sinktest.Config("udp_port = 5000")
	for i, name := range []string{"net", "host"} {
		text = strings.Replace(text, fmt.Sprintf("net_null%d", i), fmt.Sprintf("net_af_packet%d,iface=d-%s", i, name), 1)
	}
	text = strings.Replace(text, "sample = 100", "sample = 1", 1)
	text = strings.Replace(text, "192.0.2.10:8555", "127.0.0.1:9", 1) // the kernel's
	text += `
port "telemetry" { device = "net_af_packet2,iface=d-tele" }
report {
  coalesce { max_reports = 1 }
}
`
	collectors := map[string][3]string{
		"four": {"192.0.2.10", "192.0.2.1", "telemetry"}, "six": {"[2001:db8::10]", "2001:db8::1", "telemetry"},
		"inline": {"203.0.113.10", "203.0.113.1", "network"},
	}
	for name, c := range collectors {
		text += fmt.Sprintf("collector %q {\naddress = \"%s:8555\"\nsource = %q\nport = %q\n}\n", name, c[0], c[1], c[2])
	}
	r := sinktest.Start(t, sinktest.Small+text)
	r.Wait(t, "all gateways known", func(p observetest.Exposition) bool {
		known := 0.0
		for name := range collectors {
			known += p.Series[fmt.Sprintf(`intsink_gateway_known{collector=%q}`, name)]
		}
		return known == float64(len(collectors))
	})
	const packets = 20
	for i := range packets {
		if !network.Send(sinktest.IntFrame(t, i)) {
			t.Fatal("the packet could not be sent")
		}
	}
	four.check(t, "four", packets, "192.0.2.1:49152")
	six.check(t, "six", packets, "[2001:db8::1]:49152")
	inline.check(t, "inline", packets, "203.0.113.1:49152")

	// The kernel asks for the sources in its turn.
	sh(t, `
ip neigh flush dev k-tele
for a in 192.0.2.1 2001:db8::1; do
	for try in $(seq 60); do # a ping has no answer and takes a second
		ping -q -c 1 -W 1 $a >/dev/null || true
		! ip neigh show $a | grep -q "lladdr $(cat /sys/class/net/d-tele/address)" || continue 2
	done
	ip neigh
	exit 1
done
`)
	p := r.Wait(t, "questions answered", func(p observetest.Exposition) bool {
		return p.Series[`intsink_neighbor_frames_total{port="telemetry",kind="answered"}`] >= 2
	})
	for name := range collectors {
		for _, reason := range []string{"unresolved", "port_full"} {
			if n := p.Series[fmt.Sprintf(`intsink_report_drops_total{collector=%q,reason=%q}`, name, reason)]; n != 0 {
				t.Errorf("%s: %v dropped: %s", name, n, reason)
			}
		}
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 || !strings.Contains(r.Stderr.String(), "all mbufs returned") {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
	endForwarded()
	replies, traffic := 0, 0
	for f := range forwarded {
		switch {
		case len(f) >= 42 && bytes.Equal(f[12:22], []byte{8, 6, 0, 1, 8, 0, 6, 4, 0, 2}) && bytes.Equal(f[28:32], []byte{203, 0, 113, 10}):
			replies++ // the kernel's answer to us, forwarded all the same
		case len(f) > 34 && f[12] == 8 && f[13] == 0 && f[23] == 17:
			traffic++
		}
	}
	if replies == 0 || traffic != packets {
		t.Errorf("behind the sink: %d answers of ARP and %d packets of %d", replies, traffic, packets)
	}
}
