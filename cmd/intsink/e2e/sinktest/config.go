package sinktest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// KernelPorts is a configuration of two ports.
func KernelPorts(network, host string) string {
	text := strings.Replace(Config("udp_port = 5000"), "net_null0", network, 1)
	text = strings.Replace(text, "net_null1", host, 1)
	return Small + strings.Replace(text, "192.0.2.10:8555", "127.0.0.1:9", 1)
}

// InLine makes wires a and b, and returns the configuration of a sink between them: what the test
// sends by a-near arrives at b-far, and the other way around.
func InLine(t *testing.T) string {
	t.Helper()
	Wires(t, "a", "b")
	return KernelPorts("kernel:a-far", "kernel:b-near")
}

// AddSocket adds a unix socket for the API to block http of a configuration, and returns its path.
func AddSocket(t *testing.T, text string) (with, socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "api.sock")
	return strings.Replace(text, `http { listen = "%s" }`, fmt.Sprintf("http {\n  listen = \"%%s\"\n  socket = %q\n}", socket), 1), socket
}

// Mitigated lets rules of mitigation drop packets of the link of a configuration.
func Mitigated(text string) string {
	return strings.Replace(text, `link "edge" {`, "link \"edge\" {\n  mitigation = true", 1)
}

// WithSocket starts the appliance with a unix socket, and returns the paths of the socket and of
// the configuration, and what stands in that.
func WithSocket(t *testing.T) (r *Sink, socket, path, text string) {
	t.Helper()
	idle := strings.NewReplacer("net_null0", "net_null0,no-rx=1", "net_null1", "net_null1,no-rx=1").Replace(Config("udp_port = 5000"))
	text, socket = AddSocket(t, strings.Replace(Small, "mbufs      = 4096", "mbufs      = 8192", 1)+idle)
	r = Start(t, text)
	r.Get(t, "/healthz")
	path = r.Cmd.Args[len(r.Cmd.Args)-1]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return r, socket, path, string(b)
}
