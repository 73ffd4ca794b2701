package main

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/engine/wire/intgen"
	"intsink/internal/netns"
	"intsink/internal/rawsocket"
)

// wires makes veth pairs with the ends NAME-near and NAME-far, without IPv6: the kernel sends
// nothing over them by itself.
func wires(t *testing.T, names ...string) {
	t.Helper()
	netns.Sh(t, fmt.Sprintf(`
sysctl -qw net.ipv6.conf.default.disable_ipv6=1
ip link set lo up
for i in %s; do
	ip link add $i-near mtu 2000 type veth peer name $i-far mtu 2000
	ip link set $i-near up
	ip link set $i-far up
done`, strings.Join(names, " ")))
}

// openWire opens one end of a veth pair of the test's network namespace.
func openWire(t testing.TB, name string) *rawsocket.Interface {
	t.Helper()
	i, err := rawsocket.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// receive calls do with each frame that arrives at i, until end is called or the test ends.
func receive(t testing.TB, i *rawsocket.Interface, do func(frame []byte)) (end func()) {
	var stop atomic.Bool
	var receiving sync.WaitGroup
	receiving.Go(func() { i.Receive(&stop, do) })
	end = func() { stop.Store(true); receiving.Wait() }
	t.Cleanup(end)
	return end
}

// framesAt returns a channel with copies of the frames that arrive at i, until end closes it or
// the test ends. It holds 1000; more frames are lost.
func framesAt(t testing.TB, i *rawsocket.Interface) (frames <-chan []byte, end func()) {
	arrived := make(chan []byte, 1000)
	endReceiving := receive(t, i, func(b []byte) {
		select {
		case arrived <- bytes.Clone(b):
		default:
		}
	})
	end = sync.OnceFunc(func() {
		endReceiving()
		close(arrived)
	})
	t.Cleanup(end)
	return arrived, end
}

// traffic goes in by a-near and arrives somewhere else.
type traffic struct {
	in      *rawsocket.Interface
	arrived <-chan []byte
	flow    uint16
}

// newTraffic returns traffic that arrives at the interface out.
func newTraffic(t *testing.T, out string) *traffic {
	t.Helper()
	f := &traffic{in: openWire(t, "a-near"), flow: 1024}
	f.arrived, _ = framesAt(t, openWire(t, out))
	return f
}

// passes sends 20 packets with INT, each of a new flow, and compares what arrives.
func (f *traffic) passes(t *testing.T, where string, stripped bool) {
	t.Helper()
	source := intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	for range 20 {
		f.flow++
		flow := intgen.Flow{SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"), Proto: intgen.UDP, SrcPort: f.flow, DstPort: 8000}
		plain := flow.Frame(60, 1)
		framed, err := source.Insert(plain, []intgen.Hop{{NodeID: 101, LatencyNs: 100}, {NodeID: 102, LatencyNs: 100}})
		if err != nil {
			t.Fatal(err)
		}
		want := framed
		if stripped {
			want = plain
		}
		for !f.in.Send(framed) {
			time.Sleep(time.Millisecond)
		}
		select {
		case got := <-f.arrived:
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: %d bytes arrive of flow %d, want %d", where, len(got), f.flow, len(want))
			}
		case <-time.After(patience):
			t.Fatalf("%s: nothing arrives of flow %d", where, f.flow)
		}
	}
}
