// Removes the socket file that a killed memif server left behind.

package ethdev

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"intsink/dpdk/iface"
)

// defaultMemifSocket is ETH_MEMIF_DEFAULT_SOCKET_FILENAME of drivers/net/memif/rte_eth_memif.h.
const defaultMemifSocket = "/run/memif.sock"

// memifSocket is the file that a memif device makes as the server of its connection;
// empty for other devices, clients, and abstract sockets, which leave no file behind.
func memifSocket(devargs string) string {
	if !strings.HasPrefix(devargs, "net_memif") {
		return ""
	}
	arguments := map[string]string{}
	for _, a := range strings.Split(devargs, ",") {
		key, value, _ := strings.Cut(a, "=")
		arguments[key] = value
	}
	server := arguments["role"] == "server" || arguments["role"] == "master"
	if !server || arguments["socket-abstract"] != "no" {
		return ""
	}
	return cmp.Or(arguments["socket"], defaultMemifSocket)
}

// clearSocket removes a socket that nobody listens on any more: its process was killed.
// While the file is there, none can listen.
func clearSocket(path string) error {
	if s, err := os.Lstat(path); err != nil || s.Mode().Type() != os.ModeSocket {
		return nil // DPDK makes it, or says what is wrong
	}
	c, err := net.Dial("unix", path) // which never waits (unix(7))
	switch {
	case err == nil:
		c.Close()
		if who := iface.Holder(path); who != fmt.Sprintf("process %d", os.Getpid()) { // devices may share a socket
			return fmt.Errorf("%s listens on %s: stop it, or choose another socket", who, path)
		}
	case errors.Is(err, syscall.ECONNREFUSED):
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("nobody listens on %s any more, and it cannot be removed: %w", path, err)
		}
	}
	return nil
}
