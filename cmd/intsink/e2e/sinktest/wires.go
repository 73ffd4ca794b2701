package sinktest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net"
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

// Passed adds up frames, in whatever order they come.
type Passed struct{ Frames, Bytes, Sum atomic.Uint64 }

// Add takes a frame.
func (p *Passed) Add(frame []byte) {
	h := fnv.New64a()
	h.Write(frame)
	p.Frames.Add(1)
	p.Bytes.Add(uint64(len(frame)))
	p.Sum.Add(h.Sum64())
}

// Sequences are the report packets that one collector gets, and those that it misses among
// them, by the sequence numbers of each worker (Telemetry Report 2.0, group header: version 4
// bits, hw_id 6, sequence number 22).
type Sequences struct{ Packets, Missing atomic.Uint64 }

// Listen receives what comes to address.
func (s *Sequences) Listen(t *testing.T, address string) {
	t.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(address)))
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadBuffer(4 << 20)
	t.Cleanup(func() { c.Close() })
	go func() {
		next, buf := map[uint32]uint32{}, make([]byte, 9000)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			if n < 8 {
				continue
			}
			word := binary.BigEndian.Uint32(buf)
			hw, sequence := word>>22&0x3f, word&(1<<22-1)
			s.Packets.Add(1)
			s.Missing.Add(uint64(sequence - next[hw]))
			next[hw] = sequence + 1
		}
	}()
}

// SendUntil sends packets of 64 flows with INT, some 5000 a second, and adds up what they
// were without it. At most 256 are under way: a machine that is busy otherwise loses none.
func SendUntil(t *testing.T, stop *atomic.Bool, out *rawsocket.Interface, sent, arrived *Passed) {
	source := intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	for id := uint32(0); !stop.Load(); id++ {
		f := intgen.Flow{
			SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Proto: 17,
			Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(id % 64)}), Dst: netip.MustParseAddr("10.1.0.1"), SrcPort: 1024 + uint16(id%64), DstPort: 8000,
		}
		plain := f.Frame(120, id)
		frame, err := source.Insert(plain, []intgen.Hop{{NodeID: 101, LatencyNs: 100 + id%2*10000}, {NodeID: 102, LatencyNs: 100}})
		if err != nil {
			t.Error(err)
			return
		}
		for !stop.Load() && int64(sent.Frames.Load()-arrived.Frames.Load()) > 256 {
			time.Sleep(time.Millisecond)
		}
		for !out.Send(frame) {
			time.Sleep(time.Millisecond)
		}
		sent.Add(plain)
		if id%16 == 15 {
			time.Sleep(3 * time.Millisecond)
		}
	}
}

// Wires makes veth pairs with the ends NAME-near and NAME-far, without IPv6: the kernel sends
// nothing over them by itself.
func Wires(t *testing.T, names ...string) {
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

// OpenWire opens one end of a veth pair of the test's network namespace.
func OpenWire(t testing.TB, name string) *rawsocket.Interface {
	t.Helper()
	i, err := rawsocket.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Receive calls do with each frame that arrives at i, until end is called or the test ends.
func Receive(t testing.TB, i *rawsocket.Interface, do func(frame []byte)) (end func()) {
	var stop atomic.Bool
	var receiving sync.WaitGroup
	receiving.Go(func() { i.Receive(&stop, do) })
	end = func() { stop.Store(true); receiving.Wait() }
	t.Cleanup(end)
	return end
}

// FramesAt returns a channel with copies of the frames that arrive at i, until end closes it or
// the test ends. It holds 1000; more frames are lost.
func FramesAt(t testing.TB, i *rawsocket.Interface) (frames <-chan []byte, end func()) {
	arrived := make(chan []byte, 1000)
	endReceiving := Receive(t, i, func(b []byte) {
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

// NewTraffic returns traffic that arrives at the interface out.
func NewTraffic(t *testing.T, out string) *traffic {
	t.Helper()
	f := &traffic{in: OpenWire(t, "a-near"), flow: 1024}
	f.arrived, _ = FramesAt(t, OpenWire(t, out))
	return f
}

// Passes sends 20 packets with INT, each of a new flow, and compares what arrives.
func (f *traffic) Passes(t *testing.T, where string, stripped bool) {
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
		case <-time.After(Patience):
			t.Fatalf("%s: nothing arrives of flow %d", where, f.flow)
		}
	}
}
