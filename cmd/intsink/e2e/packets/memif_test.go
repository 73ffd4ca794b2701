package packets_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/engine/wire/intgen"
	"intsink/internal/netns"
)

// flowsOf are the flows in the tables of the workers.
func flowsOf(t *testing.T, r *sinktest.Sink, workers int) (flows []float64) {
	t.Helper()
	p := observetest.Parse(t, r.Get(t, "/metrics"))
	for w := range workers {
		flows = append(flows, p.Series[fmt.Sprintf(`intsink_flows{worker="w%d"}`, w)])
	}
	return flows
}

// Two workers over net_memif, which has a queue for each: each gets what the peer sends by
// its queue, and sends by its own.
func TestMemifWithTwoQueues(t *testing.T) {
	if !netns.In(t) {
		return
	}
	peer, config := newMemifPeer(t, "server", 2, 2)
	peer.open(t)
	r := sinktest.Start(t, config)
	peer.waitLinks(t)
	source := &intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	const flows, packets = 32, 20
	received := 0
	for number := range packets {
		want := map[string]int{} // the queue that it comes by
		for flow := range flows {
			plain, framed := numberedFrame(t, source, flow, number)
			want[string(plain)] = flow % 2
			peer.send(t, networkSide, flow%2, framed)
		}
		received += peer.receive(hostSide, flows, func(queue int, f []byte) {
			if q, ok := want[string(f)]; !ok || q != queue {
				t.Errorf("queue %d receives %x, want it by queue %d", queue, f, q)
			}
		})
	}
	if received != flows*packets {
		t.Errorf("%d packets of %d arrive", received, flows*packets)
	}
	plain, _ := numberedFrame(t, source, 1, 1)
	for queue := range 2 {
		peer.send(t, hostSide, queue, plain)
		if n := peer.receive(networkSide, 1, func(q int, f []byte) {
			if q != queue || !bytes.Equal(f, plain) {
				t.Errorf("queue %d receives %x", q, f)
			}
		}); n != 1 {
			t.Errorf("%d packets to the network by queue %d", n, queue)
		}
	}
	r.Balanced(t) // the workers have published their counters
	if got := flowsOf(t, r, 2); got[0] != flows/2 || got[1] != flows/2 {
		t.Errorf("flows of the workers: %v", got)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 || strings.Contains(r.Stderr.String(), "impaired") {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
}

// A peer with one queue: the log says what to do, and the queues without a peer lose nothing
// and damage nothing.
func TestMemifPeerWithOneQueue(t *testing.T) {
	if !netns.In(t) {
		return
	}
	peer, config := newMemifPeer(t, "client", 1, 2)
	r := sinktest.Start(t, config)
	r.Get(t, "/metrics")
	peer.open(t)
	peer.waitLinks(t)
	peer.poll(hostSide, nil) // a client that has polled gives the server room to send
	source := &intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	const flows, packets = 16, 200
	for number := range packets {
		want := map[string]bool{}
		for flow := range flows {
			plain, framed := numberedFrame(t, source, flow, number)
			want[string(plain)] = true
			peer.send(t, networkSide, 0, framed)
		}
		if n := peer.receive(hostSide, flows, func(_ int, f []byte) {
			if !want[string(f)] {
				t.Fatalf("round %d: %x", number, f)
			}
		}); n != flows {
			t.Fatalf("round %d: %d packets of %d", number, n, flows)
		}
	}
	r.Wait(t, "both links", func(p observetest.Exposition) bool { // the sink looks at them four times a second
		return p.Series[`intsink_port_link_changes_total{port="network"}`] > 0 && p.Series[`intsink_port_link_changes_total{port="host"}`] > 0
	})
	if code := r.Stop(t, sinktest.Patience); code != 0 || !strings.Contains(r.Stderr.String(), "the peer sends by 1 and receives by 1 of 2 queues") {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
}
