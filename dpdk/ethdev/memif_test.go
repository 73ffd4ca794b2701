package ethdev

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/dpdk/mempool"
)

func TestMemifSocket(t *testing.T) {
	for devargs, want := range map[string]string{
		"net_memif0,role=server,socket=/run/a.sock,socket-abstract=no": "/run/a.sock",
		"net_memif7,socket-abstract=no,socket=/run/a.sock,role=master": "/run/a.sock",
		"net_memif0,role=client,socket=/run/a.sock,socket-abstract=no": "",
		"net_memif0,role=server,socket=/run/a.sock":                    "",
		"net_memif0,role=server,socket-abstract=no":                    "/run/memif.sock", // DPDK's own
		"net_memif0": "",
		"net_pcap0,role=server,socket=/run/a.sock,socket-abstract=no": "",
	} {
		if got := memifSocket(devargs); got != want {
			t.Errorf("%s: %q, want %q", devargs, got, want)
		}
	}
}

// A process that is killed leaves its socket. The next one starts all the same; a
// process that is alive is not disturbed.
func TestMemifSocketOfAKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memif.sock")
	devargs := func(n int) string {
		return fmt.Sprintf("net_memif%d,role=server,id=%d,socket=%s,socket-abstract=no", n, n, path)
	}
	const child = "INTSINK_TEST_MEMIF"
	if path := os.Getenv(child); path != "" {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		time.Sleep(time.Minute)
		return
	}
	other := exec.Command(os.Args[0], "-test.run=^TestMemifSocketOfAKilledProcess$")
	other.Env = append(os.Environ(), child+"="+path)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	for range 6000 {
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, err := Attach(devargs(70))
	if want := fmt.Sprintf("process %d listens on %s", other.Process.Pid, path); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q in it", err, want)
	}
	other.Process.Kill()
	other.Wait()
	if _, err := os.Stat(path); err != nil {
		t.Fatal("the killed process has left no socket: the test proves nothing")
	}
	pool, err := mempool.New("memif", 4095, 0, 2176, mempool.AnySocket)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Free()
	for n := range 2 { // and two devices of one process share it
		p, err := Attach(devargs(70 + n))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err = p.Configure(Config{RxQueues: 1, TxQueues: 1, Pools: []*mempool.Mempool{pool}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestClearSocketLeavesOtherFilesAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := clearSocket(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error("removed")
	}
	if err := clearSocket(path + "-that-is-not-there"); err != nil {
		t.Error(err)
	}
}
