package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/engine/intgen"
	"intsink/internal/netns"
)

// inSoftware is a configuration whose workers hand packets to each other.
func inSoftware(config string) string {
	return strings.Replace(config, "  lcores = ", "  distribute = \"software\"\n  lcores = ", 1)
}

// sumOf adds up all series that begin so.
func sumOf(p observetest.Exposition, prefix string) (sum float64) {
	for name, v := range p.Series {
		if strings.HasPrefix(name, prefix) {
			sum += v
		}
	}
	return sum
}

// addsUp compares received with forwarded and dropped.
func addsUp(t *testing.T, p observetest.Exposition, direction string, received float64) {
	t.Helper()
	labels := fmt.Sprintf(`{link="edge",direction=%q`, direction)
	in, out, dropped := sumOf(p, "intsink_received_packets_total"+labels), sumOf(p, "intsink_forwarded_packets_total"+labels), sumOf(p, "intsink_dropped_packets_total"+labels)
	if in != out+dropped || in != received {
		t.Errorf("%s: received %v, forwarded %v, dropped %v of %v", direction, in, out, dropped, received)
	}
}

// TestDistributeOverMemif: two workers share ports of net_memif, with one queue, with two queues,
// and with two queues where the peer has a ring for only one of them. Packets leave with the
// right bytes, each flow stays at one worker and in order, and neither a reload nor a stop loses
// a packet.
func TestDistributeOverMemif(t *testing.T) {
	for _, c := range []struct {
		name, role string
		queues     int
	}{
		{"one queue", "server", 1},
		{"two queues", "client", 2},
		{"two queues and one ring", "client", 1},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			if !netns.In(t) {
				return
			}
			distributeOverMemif(t, c.role, c.queues)
		})
	}
}

func distributeOverMemif(t *testing.T, role string, queues int) {
	peer, config := newMemifPeer(t, role, queues, 2)
	if role == "server" {
		peer.open(t)
	}
	r := startRun(t, inSoftware(config))
	if role == "client" {
		r.get(t, "/metrics")
		peer.open(t)
	}
	peer.waitLinks(t)
	for _, side := range []int{networkSide, hostSide} {
		peer.poll(side, nil) // a client that has polled gives the server room to send
	}
	source := &intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	const flows, packets = 64, 60
	last, arrived := map[uint32]int{}, 0
	for number := range packets {
		want := map[string]bool{}
		for flow := range flows {
			plain, framed := numberedFrame(t, source, flow, number)
			want[string(plain)] = true
			peer.send(t, networkSide, flow%queues, framed)
			if flow%4 == 0 { // and one without INT, in the other direction
				peer.send(t, hostSide, flow%queues, plain)
			}
		}
		arrived += peer.receive(hostSide, flows, func(_ int, f []byte) {
			if !want[string(f)] {
				t.Errorf("round %d: %x", number, f)
			}
			flow, n := binary.BigEndian.Uint32(f[len(f)-8:]), int(binary.BigEndian.Uint32(f[len(f)-4:]))
			if was, ok := last[flow]; ok && n != was+1 {
				t.Errorf("flow %d: packet %d after %d", flow, n, was)
			}
			last[flow] = n
		})
		if n := peer.receive(networkSide, flows/4, func(int, []byte) {}); n != flows/4 {
			t.Errorf("round %d: %d packets of %d to the network", number, n, flows/4)
		}
		if number == packets/2 {
			r.cmd.Process.Signal(syscall.SIGHUP)
		}
	}
	if arrived != flows*packets {
		t.Errorf("%d packets of %d arrive", arrived, flows*packets)
	}
	p := r.balanced(t) // the workers have published their counters
	addsUp(t, p, "to_host", flows*packets)
	addsUp(t, p, "to_network", flows/4*packets)
	of := flowsOf(t, r, 2)
	if of[0]+of[1] != flows || slices.Min(of) == 0 {
		t.Errorf("flows of the workers: %v, want %d in sum, and both some", of, flows)
	}
	handed := p.Series[`intsink_worker_ring_received_packets_total{port="network",worker="w1"}`]
	if handed != of[1]*packets || p.Series[`intsink_worker_ring_capacity{port="network",worker="w1"}`] != 1024 {
		t.Errorf("worker 1 has got %v packets of %v flows; %v", handed, of[1], p.Series)
	}
	if code := r.stop(t, patience); code != 0 || strings.Contains(r.stderr.String(), "level=WARN msg=\"received") || strings.Contains(r.stderr.String(), "impaired") {
		t.Errorf("exit code %d: %s", code, r.stderr)
	}
}
