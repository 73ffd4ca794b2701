// Package loopback gives TCP and UDP ports to programs that tests and benchmarks start.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// first and last bound the ports that are given out. They lie below 32768, where Linux begins to
// choose the local ports of connections (net.ipv4.ip_local_port_range): no connection takes a
// port before its program opens it, or while that program is restarted.
const first, last = 20000, 29999

// kept are the sockets that hold the ports of this process.
var kept struct {
	sync.Mutex
	sockets []net.Listener
}

// FreePort returns a port on which nobody listens, neither TCP nor UDP, at any address. Until this
// process ends, it is given to no other caller, of this process or of another in the same network
// namespace: an abstract Unix socket (unix(7)) with the port's number in its name holds it.
func FreePort() (int, error) {
	const n = last - first + 1
	start := rand.IntN(n)
	for i := range n {
		port := first + (start+i)%n
		held, err := net.Listen("unix", fmt.Sprintf("@intsink-port-%d", port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if !unused(port) {
			held.Close()
			continue
		}
		kept.Lock()
		defer kept.Unlock()
		kept.sockets = append(kept.sockets, held)
		return port, nil
	}
	return 0, fmt.Errorf("no free port between %d and %d", first, last)
}

// FreeAddress returns 127.0.0.1 with a [FreePort].
func FreeAddress() (string, error) {
	port, err := FreePort()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}

func unused(port int) bool {
	everywhere := fmt.Sprintf(":%d", port)
	l, err := net.Listen("tcp", everywhere)
	if err != nil {
		return false
	}
	defer l.Close()
	c, err := net.ListenPacket("udp", everywhere)
	if err != nil {
		return false
	}
	c.Close()
	return true
}
