package installed_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/cmd/intsink/internal/status"
	"intsink/internal/netns"
	"intsink/internal/rawsocket"
)

// TestEveryScrapeAddsUp: with packets under way, dropped ones among them, and two workers,
// received = forwarded + dropped in each answer of /metrics and of /api/v1/status, and so do the
// counters of mitigation with those of drops.
func TestEveryScrapeAddsUp(t *testing.T) {
	if !netns.In(t) {
		return
	}
	text, socket := sinktest.AddSocket(t, sinktest.Mitigated(sinktest.InLine(t)))
	r := sinktest.Start(t, strings.Replace(text, "mbufs      = 4096", "mbufs = 32768\n  lcores = \"0-1\"", 1))
	r.Ready(t)
	sinktest.Must(t, "mitigate", "add", "--socket", socket, "--source", "10.0.0.0/29", "--ttl", "10m")
	var stop atomic.Bool
	var sending sync.WaitGroup
	for _, from := range []*rawsocket.Interface{sinktest.OpenWire(t, "a-near"), sinktest.OpenWire(t, "b-far")} {
		sending.Go(func() {
			for i := 0; !stop.Load(); i++ {
				from.Send(sinktest.IntFrame(t, i%16)) // a frame that the interface does not take was never sent
				if i%64 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	defer func() { stop.Store(true); sending.Wait() }()
	last := 0.0
	for scrape := range 300 {
		p := observetest.Parse(t, r.Get(t, "/metrics"))
		linkAddsUp(t, p)
		last = p.Series[`intsink_mitigation_packets_total{link="edge",action="drop",result="dropped"}`]
		if n := p.Series[`intsink_dropped_packets_total{link="edge",direction="to_host",reason="mitigation"}`]; n != last {
			t.Fatalf("scrape %d: %v dropped by mitigation, %v by the rules", scrape, n, last)
		}
		statusAddsUp(t, r)
	}
	if last < 100 {
		t.Errorf("%v packets were dropped meanwhile: too few", last)
	}
}

// linkAddsUp: of the link, received = forwarded + dropped.
func linkAddsUp(t *testing.T, p observetest.Exposition) {
	t.Helper()
	for _, direction := range []string{"to_host", "to_network"} {
		labels := fmt.Sprintf(`{link="edge",direction=%q}`, direction)
		dropped := 0.0
		for name, n := range p.Series {
			if strings.HasPrefix(name, strings.TrimSuffix("intsink_dropped_packets_total"+labels, "}")) {
				dropped += n
			}
		}
		if received, forwarded := p.Series["intsink_received_packets_total"+labels], p.Series["intsink_forwarded_packets_total"+labels]; received != forwarded+dropped {
			t.Fatalf("%s: received %v, forwarded %v, dropped %v", direction, received, forwarded, dropped)
		}
	}
}

func statusAddsUp(t *testing.T, r *sinktest.Sink) {
	t.Helper()
	var s status.Status
	if err := json.Unmarshal([]byte(r.Get(t, "/api/v1/status")), &s); err != nil {
		t.Fatal(err)
	}
	for _, d := range s.Links[0].Directions {
		sum := d.Forwarded
		for _, n := range d.Dropped {
			sum += n
		}
		if sum != d.Received {
			t.Fatalf("status, %s: %+v", d.Direction, d)
		}
	}
}
