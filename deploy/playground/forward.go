// Network namespaces: forward leads connections of this one into the sink's.

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// split reads NAME/INTERFACE.
func split(network string) (name, iface string, err error) {
	name, iface, ok := strings.Cut(network, "/")
	if !ok {
		return "", "", fmt.Errorf("--network %q: write NAMESPACE/INTERFACE", network)
	}
	return name, iface, nil
}

// inside calls f in a network namespace. Its thread ends with it, since it cannot be trusted to be elsewhere again.
func inside(name string, f func()) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends
		file, err := os.Open(filepath.Join("/run/netns", filepath.Base(name)))
		if err == nil {
			err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
			file.Close()
		}
		if err == nil {
			f()
		} else {
			err = fmt.Errorf("network namespace %s: %w", name, err)
		}
		done <- err
	}()
	return <-done
}

// forward leads each connection to the same address in the namespace.
func forward(l net.Listener, namespace, address string) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer from.Close()
			var to net.Conn
			var dialed error
			if err := inside(namespace, func() { to, dialed = net.Dial("tcp", address) }); err != nil || dialed != nil {
				return
			}
			defer to.Close()
			go func() {
				io.Copy(to, from)
				to.(*net.TCPConn).CloseWrite()
			}()
			io.Copy(from, to)
		}()
	}
}
