package packets_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
	"intsink/internal/rawsocket"
)

// datagram sends n bytes over UDP, in fragments where they do not fit, and compares what
// comes back.
func datagram(t *testing.T, address string, n int) {
	t.Helper()
	c, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want, got := sinktest.Pattern(n), make([]byte, 65536)
	c.Write(want)
	c.SetReadDeadline(time.Now().Add(sinktest.Patience))
	if k, err := c.Read(got); err != nil || !bytes.Equal(got[:k], want) {
		t.Errorf("%s: %d of %d bytes came back: %v", address, k, n, err)
	}
}

// TestKernelPortsPassEverything: fragments, jumbo frames and bulk TCP between two hosts
// with all their offloads, through either way to write a kernel interface, with one
// worker and with two.
func TestKernelPortsPassEverything(t *testing.T) {
	if !netns.In(t) {
		return
	}
	for _, c := range []struct {
		mtu           int
		network, host string
		lcores        string
	}{
		{1500, "kernel:s-net", "kernel:s-host", "0"},
		{9000, "net_af_packet0,iface=s-net,framesz=2048", "net_af_packet1,iface=s-host,qpairs=2", "0-1"},
	} {
		there, _ := sinktest.TwoHosts(t, c.mtu)
		there(func() { sinktest.Echo(t, "[::]:7") })
		r := sinktest.Start(t, strings.Replace(sinktest.KernelPorts(c.network, c.host), "dpdk {", fmt.Sprintf("dpdk {\nlcores = %q", c.lcores), 1))
		r.Ready(t)
		for _, a := range []string{"10.66.0.2", "fd66::2"} {
			netns.Sh(t, fmt.Sprintf("ping -q -c 5 -i 0.01 -W 180 -s 4000 %s; ping -q -c 2 -i 0.01 -W 180 -s %d -M do %s", a, c.mtu-48, a))
			a = net.JoinHostPort(a, "7")
			for _, n := range []int{1, 1472, 1473, 4000, 30000} {
				datagram(t, a, n)
			}
			sinktest.Bulk(t, a, 8<<20)
		}
		p := r.Balanced(t)
		for name, n := range p.Series {
			if n != 0 && (strings.HasPrefix(name, "intsink_dropped") || strings.Contains(name, "_missed") || strings.Contains(name, "_errors") ||
				strings.Contains(name, "_truncated") || strings.Contains(name, "_nombuf")) {
				t.Errorf("%s %v", name, n)
			}
		}
		if code := r.Stop(t, sinktest.Patience); code != 0 || !strings.Contains(r.Stderr.String(), "all mbufs returned") {
			t.Errorf("exit code %d: %s", code, r.Stderr)
		}
		netns.Sh(t, "ip link del s-net; ip link del s-host")
	}
}

// TestKernelPortsFollowTheirInterfaces: carrier, switch, deletion: /readyz, metrics and log say
// so, and traffic flows again afterwards. A second sink is refused.
func TestKernelPortsFollowTheirInterfaces(t *testing.T) {
	if !netns.In(t) {
		return
	}
	there, in := sinktest.TwoHosts(t, 1500)
	const asOnTheWire = "ethtool -K %s tx off tso off gso off >/dev/null\n" // net_pcap does not undo what they do
	netns.Sh(t, fmt.Sprintf(asOnTheWire+in+asOnTheWire, "k-net", "k-host"))
	there(func() { sinktest.Echo(t, "[::]:7") })
	r := sinktest.Start(t, sinktest.KernelPorts("kernel:s-net", "net_pcap0,iface=s-host"))
	r.Ready(t)
	datagram(t, "10.66.0.2:7", 100)

	second := sinktest.Start(t, sinktest.KernelPorts("kernel:s-net", "kernel:s-host"))
	<-second.Ended
	if want := fmt.Sprintf(`port "network": interface "s-net" is in use by process %d`, r.Cmd.Process.Pid); !strings.Contains(second.Stderr.String(), want) ||
		second.Cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("the second sink: %s, want %q in it", second.Stderr, want)
	}

	changes := func(port string, n float64) {
		t.Helper()
		r.Wait(t, fmt.Sprintf("%v changes of the link of %s", n, port), func(p observetest.Exposition) bool {
			return p.Series[fmt.Sprintf(`intsink_port_link_changes_total{port=%q}`, port)] == n
		})
	}
	for _, c := range []struct {
		do, readyz, port string
		changes          float64
	}{
		{"ip link set k-net down", `port "network": link is down: interface s-net has no carrier`, "network", 1},
		{"ip link set k-net up", "ok", "network", 2},
		{"ip link set s-host down", `port "host": link is down: interface s-host is switched off: ip link set s-host up`, "host", 1},
		{"ip link set s-host up", "ok", "host", 2},
		{"ip link del s-net", `port "network": link is down: interface s-net is gone`, "network", 3},
		{`
ip link add s-net type veth peer name k-net
sysctl -qw net.ipv6.conf.s-net.disable_ipv6=1
ip link set s-net up
ip link set k-net up
sysctl -qw net.ipv4.neigh.k-net.mcast_solicit=180
ip addr add 10.66.0.1/24 dev k-net
` + fmt.Sprintf(asOnTheWire, "k-net"), "ok", "network", 4},
	} {
		netns.Sh(t, c.do)
		r.Readyz(t, c.readyz)
		changes(c.port, c.changes)
	}
	sinktest.Bulk(t, "10.66.0.2:7", 1<<20)
	if p := r.Balanced(t); p.Series[`intsink_port_link_up{port="network"}`] != 1 {
		t.Error("intsink_port_link_up is 0")
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		`port=network reason="interface s-net has no carrier"`, "link is down", "link is up",
		`port=host reason="interface s-host is switched off`, `port=network reason="interface s-net is gone"`,
	} {
		if !strings.Contains(r.Stderr.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, r.Stderr)
		}
	}
}

// TestKernelPortsKeepTags: frames with INT and tags lose the INT and nothing else; gen --live
// keeps tags, too.
func TestKernelPortsKeepTags(t *testing.T) {
	if !netns.In(t) {
		return
	}
	sinktest.Wires(t, "a", "b", "c")
	// a-near -> a-far gen --live b-near -> b-far sink c-near -> c-far
	r := sinktest.Start(t, sinktest.KernelPorts("kernel:b-far", "kernel:c-near"))
	r.Ready(t)
	live := exec.Command(os.Args[0], "gen", "--live", "a-far,b-near", "--hops", "3")
	live.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	if err := live.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { live.Process.Kill(); live.Wait() }()
	source := sinktest.OpenWire(t, "a-near")
	arrived, _ := sinktest.FramesAt(t, sinktest.OpenWire(t, "c-far"))
	first := sinktest.PlainFrame()
	for end := time.Now().Add(sinktest.Patience); time.Now().Before(end); { // until all of them are there
		source.Send(first)
		select {
		case <-arrived:
		case <-time.After(20 * time.Millisecond):
			continue
		}
		break
	}
	for _, tags := range [][]uint32{nil, {0x81000007}, {0x88a80123}, {0x88a8e123, 0x81000007}, {0x81000001, 0x81000002}} {
		f := sinktest.PlainFrame()
		f[len(f)-1] ^= 0xff // another frame than first: copies of that one may still arrive
		for i := len(tags) - 1; i >= 0; i-- {
			f = append(binary.BigEndian.AppendUint32(bytes.Clone(f[:12]), tags[i]), f[12:]...)
		}
		source.Send(f)
		got := first
		for bytes.Equal(got, first) {
			select {
			case got = <-arrived:
			case <-time.After(sinktest.Patience):
				t.Fatalf("tags %x: nothing arrived", tags)
			}
		}
		if !bytes.Equal(got, f) {
			t.Errorf("tags %x: got %x, want %x", tags, got, f)
		}
	}
	r.Wait(t, "INT in all of them", func(p observetest.Exposition) bool {
		return p.Series[`intsink_int_packets_total{link="edge",type="md"}`] >= 6
	})
}

// TestLiveIFA: gen --live puts IFA into packets, or sends a copy with IFA beside each.
func TestLiveIFA(t *testing.T) {
	if !netns.In(t) {
		return
	}
	const withIFA = 4 + 4 + 3*32
	for encap, each := range map[string]int{"ifa": 1, "ifa-copy": 2} {
		in, out := encap+"i", encap+"o"
		sinktest.Wires(t, in, out)
		live := exec.Command(os.Args[0], "gen", "--live", in+"-far,"+out+"-near", "--encap", encap, "--hops", "3")
		live.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
		if err := live.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { live.Process.Kill(); live.Wait() }()
		source, frame := sinktest.OpenWire(t, in+"-near"), sinktest.PlainFrame()
		arrived, _ := sinktest.FramesAt(t, sinktest.OpenWire(t, out+"-far"))
		for end := time.Now().Add(sinktest.Patience); len(arrived) == 0 && time.Now().Before(end); { // until it runs
			source.Send(frame)
			time.Sleep(20 * time.Millisecond)
		}
		got := map[int]int{}
		for n := 0; n < each*2; n++ {
			if n%each == 0 {
				source.Send(frame)
			}
			select {
			case f := <-arrived:
				got[len(f)-len(frame)]++
				if len(f) > len(frame) && (f[23] != 253 || f[34+1] != frame[23] || f[34+2]>>2&1 != uint8(2-each)) {
					t.Errorf("%s: %x", encap, f)
				}
			case <-time.After(sinktest.Patience):
				t.Fatalf("%s: nothing arrived", encap)
			}
		}
		if got[withIFA] != 2 || got[0] != 2*(each-1) {
			t.Errorf("%s: frames by what they are longer: %v", encap, got)
		}
	}
}

// TestLiveCompletesWhatTheKernelLeaves: between two hosts with Linux' default offloads, gen --live puts INT into what the kernel left to a
// device: behind the sink, TCP's joined frames and each UDP datagram arrive with right checksums, as the receiving kernel sees them.
func TestLiveCompletesWhatTheKernelLeaves(t *testing.T) {
	if !netns.In(t) {
		return
	}
	there, in := sinktest.TwoHosts(t, 1500)
	netns.Sh(t, "ip link add x-near mtu 1950 type veth peer name x-far mtu 1950; ip link set x-near up; ip link set x-far up")
	there(func() { sinktest.Echo(t, "10.66.0.2:7") })
	r := sinktest.Start(t, sinktest.KernelPorts("kernel:x-far", "kernel:s-host"))
	r.Ready(t)
	live := exec.Command(os.Args[0], "gen", "--live", "s-net,x-near", "--hops", "3")
	live.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	var out bytes.Buffer
	live.Stdout, live.Stderr = &out, os.Stderr
	if err := live.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { live.Process.Kill(); live.Wait() }()
	sinktest.Bulk(t, "10.66.0.2:7", 1<<20)
	var host *rawsocket.Interface
	there(func() { host = sinktest.OpenWire(t, "k-host") })
	good, wrong := 0, 0
	end := sinktest.Receive(t, host, func(f []byte) {
		p := gopacket.NewPacket(f, layers.LayerTypeEthernet, gopacket.Default)
		if udp, ok := p.Layer(layers.LayerTypeUDP).(*layers.UDP); ok {
			udp.SetNetworkLayerForChecksum(p.NetworkLayer())
			if err, r := udp.VerifyChecksum(); err != nil || !r.Valid || udp.DstPort != 7 {
				wrong++
			} else {
				good++
			}
		}
	})
	const datagrams = 100
	for i := range datagrams {
		datagram(t, "10.66.0.2:7", 8+i)
	}
	if end(); good != datagrams || wrong != 0 {
		t.Errorf("%d datagrams arrived as they were sent, and %d with a wrong checksum or port", good, wrong)
	}
	if text := netns.Sh(t, in+"nstat -asz UdpInCsumErrors TcpInCsumErrors"); strings.Count(text, " 0 ") != 2 {
		t.Errorf("wrong checksums arrived: %s", text)
	}
	live.Process.Signal(syscall.SIGTERM)
	if err := live.Wait(); err != nil || !strings.Contains(out.String(), `"failed":0`) || strings.Contains(out.String(), `"inserted":0`) {
		t.Errorf("%v: %s", err, &out)
	}
}
