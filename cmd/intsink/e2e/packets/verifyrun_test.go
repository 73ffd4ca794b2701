package packets_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
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
	text, socket := sinktest.AddSocket(t, sinktest.InLine(t))
	r := sinktest.Start(t, text)
	r.Ready(t)
	in := sinktest.OpenWire(t, "a-near")
	var arrived atomic.Int64
	sinktest.Receive(t, sinktest.OpenWire(t, "b-far"), func([]byte) { arrived.Add(1) })
	// send sends 20 packets. Some of them are verified.
	var good, bad float64
	send := func(what string, someGood, someBad bool) {
		t.Helper()
		before := arrived.Load()
		for i := range 20 {
			for !in.Send(sinktest.IntFrame(t, i)) {
				time.Sleep(time.Millisecond)
			}
		}
		p := r.Wait(t, "packets, "+what, func(p observetest.Exposition) bool {
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
		path := sinktest.Write(t, filepath.Join(t.TempDir(), "c.hcl"), strings.Replace(strings.Replace(text, "%s", r.HTTP, 1), "int { udp_port = 5000 }", "int {\n  udp_port = 5000\n"+attributes+"\n}", 1))
		sinktest.Must(t, "reload", "--socket", socket, "--config", path)
		r.Adopted(t)
	}
	send("off", false, false)
	reload("verify = 1")
	send("on", true, false)
	reload("verify = 1\nchecksum = \"keep\"")
	send("checksums left alone", false, true)
	if s := r.Get(t, "/api/v1/status"); !strings.Contains(s, `"flow": "udp:10.0.0.`) {
		t.Errorf("status lacks the flow of a bad packet\n%s", s)
	}
	reload("")
	send("off again", false, false)
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
}
