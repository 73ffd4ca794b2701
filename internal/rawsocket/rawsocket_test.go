package rawsocket

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"intsink/internal/netns"
)

// TestOpenGetsNoForeignFrames: what is on its way on another interface while one is opened is not taken for its own.
func TestOpenGetsNoForeignFrames(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "sysctl -qw net.ipv6.conf.default.disable_ipv6=1\nip link set lo up\nip link add near type veth peer name far\nip link set near up\nip link set far up")
	to, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	var stop atomic.Bool
	var sending sync.WaitGroup
	defer sending.Wait()
	defer stop.Store(true)
	sending.Go(func() {
		for !stop.Load() {
			to.Write([]byte("of loopback"))
		}
	})
	buf := make([]byte, 2048)
	for range 60 {
		i, err := Open("near")
		if err != nil {
			t.Fatal(err)
		}
		for n, _, err := unix.Recvfrom(i.fd, buf, unix.MSG_DONTWAIT); err == nil; n, _, err = unix.Recvfrom(i.fd, buf, unix.MSG_DONTWAIT) {
			if bytes.Contains(buf[:n], []byte("of loopback")) {
				t.Fatal("a frame of another interface")
			}
		}
		i.Close()
	}
}
