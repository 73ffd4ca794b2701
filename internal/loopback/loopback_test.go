package loopback

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

const asked = "INTSINK_TEST_PORTS" // set in the processes that TestFreePort starts

// TestFreePort: several processes at once ask for ports; each port is given once.
func TestFreePort(t *testing.T) {
	const processes, each = 4, 500
	if os.Getenv(asked) != "" {
		give(t, each)
		return
	}
	var answers []*bufio.Scanner
	for range processes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFreePort$")
		cmd.Env = append(os.Environ(), asked+"=1")
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer in.Close() // the process ends then, and with it its hold on the ports
		answers = append(answers, bufio.NewScanner(out))
	}
	seen := map[string]bool{}
	for _, lines := range answers {
		for range each {
			if !lines.Scan() {
				t.Fatalf("%d ports of %d: %v", len(seen), processes*each, lines.Err())
			}
			port := lines.Text()
			if n, err := strconv.Atoi(port); err != nil || n < first || n > last || seen[port] {
				t.Errorf("%q is no port of these, or is given twice", port)
			}
			seen[port] = true
		}
	}
}

// give prints n ports and waits for the end of its input.
func give(t *testing.T, n int) {
	for range n {
		fmt.Println(Port(t))
	}
	io.Copy(io.Discard, os.Stdin)
}

// TestTakenPorts: a port is not given while a program listens on it, by TCP or UDP, at whatever
// address.
func TestTakenPorts(t *testing.T) {
	port := Port(t)
	if !unused(port) {
		t.Fatalf("port %d is in use", port)
	}
	for _, network := range []string{"tcp4", "tcp6", "udp4", "udp6"} {
		l := listen(t, network, map[byte]string{'4': "127.0.0.1", '6': "::1"}[network[3]], port)
		if unused(port) {
			t.Errorf("%s: port %d counts as unused", network, port)
		}
		l.Close()
	}
}

func listen(t *testing.T, network, host string, port int) io.Closer {
	t.Helper()
	address := net.JoinHostPort(host, strconv.Itoa(port))
	var l io.Closer
	var err error
	if network[0] == 't' {
		l, err = net.Listen(network, address)
	} else {
		l, err = net.ListenPacket(network, address)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}
