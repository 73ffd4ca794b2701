// Command traffic is the hosts of the demo: an HTTP server, a client that
// downloads and uploads with checksums, UDP echo, and a watcher that counts INT
// packets on an interface.
package main

import (
	"errors"
	"fmt"
	"os"
)

const usage = `traffic serve ADDR          HTTP download and upload, and UDP echo, on ADDR
traffic download URL BYTES  download and compare the checksum
traffic get URL             print what URL answers; fails unless the status is 200
traffic upload URL BYTES    upload and compare the checksum
traffic echo ADDR COUNT PAUSE  send COUNT UDP datagrams, PAUSE apart, and compare the answers
traffic watch INTERFACE PORT   count frames, and those with INT's UDP port, until SIGTERM`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "traffic:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	commands := map[string]struct {
		n int
		f func([]string) error
	}{
		"serve": {1, serve}, "download": {2, download}, "upload": {2, upload}, "get": {1, get}, "echo": {3, echo}, "watch": {2, watch},
	}
	if len(args) == 0 {
		return errors.New("usage:\n" + usage)
	}
	c, ok := commands[args[0]]
	if !ok || len(args)-1 != c.n {
		return errors.New("usage:\n" + usage)
	}
	return c.f(args[1:])
}
