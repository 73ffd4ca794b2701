package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// kernelPorts is a configuration of two ports.
func kernelPorts(network, host string) string {
	text := strings.Replace(config("udp_port = 5000"), "net_null0", network, 1)
	text = strings.Replace(text, "net_null1", host, 1)
	return small + strings.Replace(text, "192.0.2.10:8555", "127.0.0.1:9", 1)
}

// inLine makes wires a and b, and returns the configuration of a sink between them: what the test
// sends by a-near arrives at b-far, and the other way around.
func inLine(t *testing.T) string {
	t.Helper()
	wires(t, "a", "b")
	return kernelPorts("kernel:a-far", "kernel:b-near")
}

// addSocket adds a unix socket for the API to block http of a configuration, and returns its path.
func addSocket(t *testing.T, text string) (with, socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "api.sock")
	return strings.Replace(text, `http { listen = "%s" }`, fmt.Sprintf("http {\n  listen = \"%%s\"\n  socket = %q\n}", socket), 1), socket
}

// mitigated lets rules of mitigation drop packets of the link of a configuration.
func mitigated(text string) string {
	return strings.Replace(text, `link "edge" {`, "link \"edge\" {\n  mitigation = true", 1)
}
