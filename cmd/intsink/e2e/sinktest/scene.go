package sinktest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"intsink/deploy/playground/scene"
	"intsink/internal/rawsocket"
)

// Programs is a folder with what make playground builds; intsink is this test.
func Programs(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for name, folder := range map[string]string{"traffic": "demo/traffic", "playground": "playground"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, name), "../../../../deploy/"+folder).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	Write(t, filepath.Join(bin, "intsink"), fmt.Sprintf("#!/bin/sh\nINTSINK_TEST_MAIN=1 exec %s \"$@\"\n", self))
	if err := os.Chmod(filepath.Join(bin, "intsink"), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

// Played is the network of the playground, sent out of an interface: faster while the sink learns what is usual.
type Played struct {
	*scene.Network
	Fast atomic.Bool
}

// Play sends the packets of the network until stop is set.
func (p *Played) Play(t *testing.T, out *rawsocket.Interface, stop *atomic.Bool) {
	for step := 0; !stop.Load(); step++ {
		if err := p.Step(step, time.Now(), func(frame []byte) { out.Send(frame) }); err != nil {
			t.Error(err)
			return
		}
		pause := scene.Pause // the pace of the traffic, not of the test
		if p.Fast.Load() {
			pause /= 4
		}
		time.Sleep(pause)
	}
}

// Make makes something go wrong, or calm.
func (p *Played) Make(t *testing.T, word string) {
	t.Helper()
	if _, err := p.Do(word); err != nil {
		t.Fatal(err)
	}
}

// PageConfig is the sink of the playground on wires a and b, with a collector that is away.
func PageConfig(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../../../deploy/playground/playground.hcl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("kernel:s-net", "net_af_packet0,iface=a-far", "kernel:s-host", "net_af_packet1,iface=b-near",
		"127.0.0.1:8555", "192.0.2.10:8555", "16384", "4096").Replace(regexp.MustCompile(`(?s)http \{.*?\n\}`).ReplaceAllString(string(b), `http { listen = "%s" }`))
}
