package main

import (
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/netns"
)

// TestVerifyWhileItRuns over kernel interfaces: what leaves is verified, a reload turns that on
// and off, and a sink that is told to leave checksums alone where the source adapts them is found
// out, with the flow.
func TestVerifyWhileItRuns(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, `
sysctl -qw net.ipv6.conf.default.disable_ipv6=1
ip link set lo up
for i in a b; do ip link add $i-near mtu 2000 type veth peer name $i-far mtu 2000; ip link set $i-near up; ip link set $i-far up; done`)
	socket := filepath.Join(t.TempDir(), "api.sock")
	text := strings.Replace(kernelPorts("kernel:a-far", "kernel:b-near"), `http { listen = "%s" }`, "http {\n  listen = \"%s\"\n  socket = \""+socket+"\"\n}", 1)
	r := startRun(t, text)
	r.ready(t)
	in, out := opened(t, "a-near"), opened(t, "b-far")
	var ended atomic.Bool
	var arrived atomic.Int64
	var receiving sync.WaitGroup
	receiving.Go(func() { out.Receive(&ended, func([]byte) { arrived.Add(1) }) })
	defer func() { ended.Store(true); receiving.Wait() }()
	// send sends 20 packets. Some of them are verified.
	var good, bad float64
	send := func(what string, someGood, someBad bool) {
		t.Helper()
		before := arrived.Load()
		for i := range 20 {
			for !in.Send(intFrame(t, i)) {
				time.Sleep(time.Millisecond)
			}
		}
		p := r.wait(t, "packets, "+what, func(p observetest.Exposition) bool {
			return arrived.Load() == before+20 && p.Series[`intsink_received_packets_total{link="edge",direction="to_host"}`] == float64(arrived.Load())
		})
		if g, b := p.Series[`intsink_verified_packets_total{link="edge",result="good"}`], p.Series[`intsink_verified_packets_total{link="edge",result="bad"}`]; g > good != someGood || b > bad != someBad || g+b > 60 {
			t.Errorf("%s: %v good and %v bad, before %v and %v", what, g, b, good, bad)
		} else {
			good, bad = g, b
		}
	}
	reload := func(attributes string) {
		t.Helper()
		path := write(t, filepath.Join(t.TempDir(), "c.hcl"), strings.Replace(strings.Replace(text, "%s", r.http, 1), "int { udp_port = 5000 }", "int {\n  udp_port = 5000\n"+attributes+"\n}", 1))
		must(t, "reload", "--socket", socket, "--config", path)
	}
	send("off", false, false)
	reload("verify = 1")
	send("on", true, false)
	reload("verify = 1\nchecksum = \"keep\"")
	send("checksums left alone", false, true)
	if s := r.get(t, "/api/v1/status"); !strings.Contains(s, `"flow": "udp:10.0.0.`) {
		t.Errorf("status lacks the flow of a bad packet\n%s", s)
	}
	reload("")
	send("off again", false, false)
	if code := r.stop(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d\n%s", code, r.stderr)
	}
}
