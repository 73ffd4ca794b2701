package sinktest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/engine/wire/intgen"
	"intsink/internal/netns"
)

// TwoHosts puts the test's host (k-net, 10.66.0.1) and another one (k-host, 10.66.0.2, in a
// namespace of its own, in which the returned function runs its argument) on both sides of
// the sink's interfaces s-net and s-host. Offloads are as the kernel has them. in, in front of
// a command, runs it in the other namespace.
func TwoHosts(t *testing.T, mtu int) (there func(func()), in string) {
	t.Helper()
	// Pdeathsig follows the thread that starts the process, so that has to live as long.
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	other := exec.Command("sleep", "infinity")
	other.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Process.Kill(); other.Wait() })
	netns.Sh(t, fmt.Sprintf(`
ip link set lo up
for i in net host; do
	ip link add s-$i mtu %[1]d type veth peer name k-$i mtu %[1]d
	sysctl -qw net.ipv6.conf.s-$i.disable_ipv6=1 net.ipv6.conf.k-$i.accept_dad=0
	ip link set s-$i up
done
ip link set k-net up
sysctl -qw net.ipv4.neigh.k-net.mcast_solicit=180 net.ipv6.neigh.k-net.mcast_solicit=180
ip addr add 10.66.0.1/24 dev k-net
ip addr add fd66::1/64 dev k-net nodad
ip link set k-host netns %[2]d
in="nsenter -t %[2]d -n"
$in sysctl -qw net.ipv6.conf.default.accept_dad=0
$in ip link set lo up
$in ip link set k-host up
$in sysctl -qw net.ipv4.neigh.k-host.mcast_solicit=180 net.ipv6.neigh.k-host.mcast_solicit=180
$in ip addr add 10.66.0.2/24 dev k-host
$in ip addr add fd66::2/64 dev k-host nodad`, mtu, other.Process.Pid))
	in = fmt.Sprintf("nsenter -t %d -n ", other.Process.Pid)
	return func(do func()) {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends in the other namespace
			f, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", other.Process.Pid))
			if err == nil {
				err = unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
				f.Close()
			}
			if err == nil {
				do()
			}
			done <- err
		}()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}, in
}

// PlainFrame is a frame without INT.
func PlainFrame() []byte {
	f := intgen.Flow{
		Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"), Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000,
	}
	return f.Frame(60, 1)
}

// Echo answers all that comes, by TCP and by UDP, until the test ends.
func Echo(t *testing.T, address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	u, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { l.Close(); u.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.(*net.TCPConn).CloseWrite() }()
		}
	}()
	go func() {
		b := make([]byte, 65536)
		for {
			n, from, err := u.ReadFrom(b)
			if err != nil {
				return
			}
			u.WriteTo(b[:n], from)
		}
	}()
}

// Pattern is n bytes that repeat late.
func Pattern(n int) []byte {
	b := make([]byte, n)
	for i := 0; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], uint64(i)*0x9e3779b97f4a7c15)
	}
	return b
}

// Bulk sends n bytes over TCP, and compares what comes back.
func Bulk(t *testing.T, address string, n int) {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, Patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(Patience))
	data := Pattern(n)
	go func() { c.Write(data); c.(*net.TCPConn).CloseWrite() }()
	h := sha256.New()
	if got, err := io.Copy(h, c); got != int64(n) || err != nil || [32]byte(h.Sum(nil)) != sha256.Sum256(data) {
		t.Fatalf("%s: %d bytes of %d came back, or others: %v", address, got, n, err)
	}
}

// Balanced waits until both directions add up, and returns the metrics.
func (r *Sink) Balanced(t *testing.T) observetest.Exposition {
	t.Helper()
	return r.Wait(t, "received = forwarded + dropped, and = what the ports received", func(p observetest.Exposition) bool {
		ports := 0.0
		for name, n := range p.Series {
			if strings.HasPrefix(name, "intsink_port_rx_packets_total") {
				ports += n
			}
		}
		for _, direction := range []string{"to_host", "to_network"} {
			of := func(metric string) (sum float64) {
				for name, n := range p.Series {
					if strings.HasPrefix(name, metric+"{") && strings.Contains(name, `direction="`+direction+`"`) {
						sum += n
					}
				}
				return sum
			}
			received := of("intsink_received_packets_total")
			if ports -= received; received != of("intsink_forwarded_packets_total")+of("intsink_dropped_packets_total") {
				return false
			}
		}
		return ports == 0
	})
}

// Ready waits until /readyz says so.
func (r *Sink) Ready(t *testing.T) {
	t.Helper()
	r.Readyz(t, "ok")
}

// Readyz waits until /readyz has want in it.
func (r *Sink) Readyz(t *testing.T, want string) {
	t.Helper()
	got := ""
	for end := time.Now().Add(Patience); time.Now().Before(end); {
		if got = r.Get(t, "/readyz"); strings.Contains(got, want) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("/readyz: %q, want %q in it", got, want)
}

// Machine starts a shell with mounts of its own, and the other namespaces that flags ask for
// (unshare(2)), which runs script and then lives until the test ends. It returns the shell's pid, by
// which nsenter finds the namespaces, once script is done.
func Machine(t *testing.T, flags uintptr, script string) (pid int) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script+"\necho ready; exec sleep infinity")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if n, err := out.Read(make([]byte, 64)); n == 0 {
		t.Fatal("the machine's shell ended: ", err)
	}
	return cmd.Process.Pid
}
