package record

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report/reporttest"
	"intsink/engine/wire/strip"
	"intsink/internal/netns"
	"intsink/internal/rawsocket"
)

// linuxFile has what arrives of linuxPackets behind routers of Linux 6.18; INTSINK_UPDATE=1 writes it anew.
const linuxFile = "testdata/linux-ioam.pcap"

// linuxPackets are what the source sends, each of a flow of its own, in this order, and what is known of it.
var linuxPackets = []struct {
	name    string
	mark    intgen.IOAM
	tcp     bool
	options []byte // hop by hop, somebody else's
	size    int
	nodes   []uint32 // that write into it
	numbers uint32   // 1000: their interfaces are the wide ones
	stays   bool     // IOAM of a namespace that does not end at the sink
	queued  bool     // it waits in the last router, behind all that were queued before
}{
	{name: "interfaces and times", mark: intgen.IOAM{Type: 0xf00000, Free: 12}, nodes: []uint32{101, 102, 103}},
	{name: "everything, with snapshots", mark: intgen.IOAM{Type: 0xfff002, Free: 54}, nodes: []uint32{101, 102, 103}},
	{name: "wide numbers", mark: intgen.IOAM{Type: 0x30c000, Free: 18}, nodes: []uint32{101, 102, 103}, numbers: 1000},
	{name: "nodes alone", mark: intgen.IOAM{Type: 0x800000, Free: 3}, nodes: []uint32{101, 102, 103}},
	{name: "room to spare", mark: intgen.IOAM{Free: 40}, nodes: []uint32{101, 102, 103}},
	{name: "room for one", mark: intgen.IOAM{Type: 0xf00000, Free: 4}, nodes: []uint32{101}},
	{name: "no room", mark: intgen.IOAM{Type: 0xf00000}},
	{name: "a namespace that one router does not know", mark: intgen.IOAM{Namespace: 125, Free: 15}, nodes: []uint32{101, 103}},
	{name: "a foreign namespace", mark: intgen.IOAM{Namespace: 124, Free: 15}, stays: true},
	{name: "TCP", mark: intgen.IOAM{Free: 15}, tcp: true, nodes: []uint32{101, 102, 103}},
	{name: "behind another option", mark: intgen.IOAM{Free: 15}, options: []byte{0x1e, 4, 1, 2, 3, 4}, nodes: []uint32{101, 102, 103}},
	{name: "in front of another option", mark: intgen.IOAM{Free: 15, Front: true}, options: []byte{0x1e, 4, 1, 2, 3, 4}, nodes: []uint32{101, 102, 103}},
	{name: "incremental, which Linux leaves as it is", mark: intgen.IOAM{Type: 0xf00000, Incremental: true}},
	{name: "with a number", mark: intgen.IOAM{Free: 15, Edge: true, Number: 77}, nodes: []uint32{101, 102, 103}},
	{name: "into a queue", mark: intgen.IOAM{Free: 15}, size: 600, nodes: []uint32{101, 102, 103}, queued: true},
	{name: "behind it", mark: intgen.IOAM{Free: 15}, size: 600, nodes: []uint32{101, 102, 103}, queued: true},
	{name: "behind both", mark: intgen.IOAM{Free: 15}, size: 600, nodes: []uint32{101, 102, 103}, queued: true},
	{name: "when the queue drains", mark: intgen.IOAM{Free: 15}, nodes: []uint32{101, 102, 103}},
}

// linuxFrames are packet n as its host sent it, and as the source marked it.
func linuxFrames(t *testing.T, n int) (plain, marked []byte) {
	t.Helper()
	p := &linuxPackets[n]
	f := intgen.NthFlow(n, p.tcp, true)
	if p.options != nil {
		f.Extensions = []intgen.Extension{{Header: intgen.HopByHop, Options: p.options}}
	}
	plain = f.Frame(p.size, uint32(n))
	s := intgen.Source{Marking: intgen.ByIOAM, Formats: intgen.Formats{IOAM: p.mark}}
	marked, err := s.Insert(plain, nil)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	return plain, marked
}

// fromKernel has routers of this machine's kernel forward the packets, and returns what arrives.
func fromKernel(t *testing.T) (all [][]byte) {
	t.Helper()
	id := fmt.Sprintf("it%d", os.Getpid())
	t.Cleanup(func() { netns.Sh(t, "for n in 1 2 3; do ip netns del "+id+"-$n || true; done") })
	netns.Sh(t, "bash testdata/linux-routers.sh "+id)
	open := func(name string) *rawsocket.Interface {
		i, err := rawsocket.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(i.Close)
		return i
	}
	in, out := open("near"), open("far")
	for n := range linuxPackets {
		if n == len(linuxPackets)-1 {
			netns.Sh(t, "tc -n "+id+"-3 qdisc change dev out root tbf rate 1gbit burst 5000 limit 100000")
		}
		if _, marked := linuxFrames(t, n); !in.Send(marked) {
			t.Fatalf("packet %d is not sent", n)
		}
	}
	var stop atomic.Bool
	late := time.AfterFunc(20*time.Second, func() { stop.Store(true) })
	defer late.Stop()
	out.Receive(&stop, func(b []byte) {
		if len(b) > 54 && bytes.HasPrefix(b[22:], []byte{0x20, 0x01, 0x0d, 0xb8}) { // not what the kernel itself sends
			all = append(all, bytes.Clone(b))
			stop.Store(len(all) == len(linuxPackets))
		}
	})
	return all
}

// fromFile returns the recorded packets.
func fromFile(t *testing.T) (all [][]byte) {
	t.Helper()
	f, err := os.Open(linuxFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	for err == nil {
		var b []byte
		if b, _, err = r.ReadPacketData(); err == nil {
			all = append(all, b)
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return all
}

func writeLinuxFile(t *testing.T, all [][]byte) {
	t.Helper()
	var out bytes.Buffer
	w := pcapgo.NewWriterNanos(&out)
	w.WriteFileHeader(65535, layers.LinkTypeEthernet)
	for n, b := range all {
		w.WritePacket(gopacket.CaptureInfo{Timestamp: time.Unix(1_795_000_000, int64(n)*1e6), CaptureLength: len(b), Length: len(b)}, b)
	}
	if err := os.WriteFile(linuxFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLinuxRouters: what routers of Linux wrote is taken out byte for byte, and told: by this machine's kernel, and by the one
// whose packets were recorded.
func TestLinuxRouters(t *testing.T) {
	if !netns.In(t) {
		return
	}
	t.Run("recorded", func(t *testing.T) { checkLinux(t, fromFile(t)) })
	if _, err := os.Stat("/proc/sys/net/ipv6/ioam6_id"); err != nil {
		t.Logf("this kernel cannot fill traces (%v; Linux can from 5.15 on): the recorded packets are all there is", err)
		return
	}
	t.Run("kernel", func(t *testing.T) {
		all := fromKernel(t)
		if os.Getenv("INTSINK_UPDATE") != "" {
			writeLinuxFile(t, all)
		}
		checkLinux(t, all)
	})
}

// checkLinux holds packets that came through routers 101 to 103 against what was sent, and what is known of the routers.
func checkLinux(t *testing.T, all [][]byte) {
	if len(all) != len(linuxPackets) {
		t.Fatalf("%d of %d packets arrive", len(all), len(linuxPackets))
	}
	c := inthdr.Config{Formats: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{123, 125}, FlowSequence: true}}}
	locator, d := inthdr.NewLocator(c), NewDecoder(Options{INT: []inthdr.Config{c}})
	depth := uint32(0) // of the last router's queue, when the next packet comes
	for n, frame := range all {
		p := &linuxPackets[n]
		plain, marked := linuxFrames(t, n)
		plain[21], marked[21] = plain[21]-3, marked[21]-3 // hop limit
		if p.stays {
			if !bytes.Equal(frame[14:], marked[14:]) {
				t.Errorf("%s: %x became %x", p.name, marked, frame)
			}
			continue
		}
		count, err := d.Records(reporttest.Hex(t, inReport(frame[14:])), &testOrigin, func(r *Record) { checkNodes(t, n, r, depth) })
		if count != 1 || err != nil {
			t.Errorf("%s: %d records, %v", p.name, count, err)
		}
		var l packet.Layers
		var i inthdr.Info
		if packet.Parse(frame, len(frame), &l) != packet.OK || locator.Locate(frame, &l, &i) != inthdr.Sound {
			t.Errorf("%s: no sound IOAM: %v, %x", p.name, i.Reason, frame)
			continue
		}
		if number, bits := locator.Sequence(frame, &i); p.mark.Edge && (number != uint64(p.mark.Number) || bits != 32) {
			t.Errorf("%s: number %d of %d bits", p.name, number, bits)
		}
		if p.queued {
			depth += uint32(len(frame))
		}
		if head := strip.Strip(frame, &l, &i, nil); !bytes.Equal(frame[head+14:], plain[14:]) {
			t.Errorf("%s: without IOAM %x, sent was %x", p.name, frame[head:], plain)
		}
	}
}

// checkNodes holds the record of packet n against what is known of the routers; depth is that of the last one's queue.
func checkNodes(t *testing.T, n int, r *Record, depth uint32) {
	t.Helper()
	p := &linuxPackets[n]
	f := intgen.NthFlow(n, p.tcp, true)
	if r.Source != f.Src || r.Destination != f.Dst || r.SourcePort != f.SrcPort || r.Flags&Malformed != 0 || r.INTProblem != 0 {
		t.Errorf("%s: flow %v %v %d, %v", p.name, r.Source, r.Destination, r.SourcePort, r.INTProblem)
	}
	var nodes []uint32
	before := uint64(0)
	for _, h := range r.Hops {
		nodes = append(nodes, h.NodeID)
		ingress, egress := (h.NodeID-100)*10+1+p.numbers, (h.NodeID-100)*10+2+p.numbers
		if h.Known&HopIngress != 0 && (h.Ingress != ingress || h.Egress != egress) {
			t.Errorf("%s: node %d has interfaces %d and %d, want %d and %d", p.name, h.NodeID, h.Ingress, h.Egress, ingress, egress)
		}
		if h.Known&HopIngressTime != 0 && (h.IngressTime < before || h.IngressTime < 1_700_000_000e9) {
			t.Errorf("%s: node %d: %d, the one before %d", p.name, h.NodeID, h.IngressTime, before)
		}
		before = h.IngressTime
		if h.Known&HopOccupancy != 0 && (h.NodeID != 103 && h.Occupancy != 0 || h.NodeID == 103 && p.queued && h.Occupancy < depth) {
			t.Errorf("%s: node %d has a queue of %d, want %d", p.name, h.NodeID, h.Occupancy, depth)
		}
	}
	if !slices.Equal(nodes, p.nodes) {
		t.Errorf("%s: nodes %v, want %v", p.name, nodes, p.nodes)
	}
	type has struct{ interfaces, times, queue, overflow, path bool }
	all := func(known HopKnown) bool {
		return len(r.Hops) > 0 && !slices.ContainsFunc(r.Hops, func(h Hop) bool { return h.Known&known != known })
	}
	mark := p.mark.Type
	if mark == 0 {
		mark = intgen.DefaultIOAM
	}
	some := len(p.nodes) > 0
	overflow := p.mark.Free < 12 && mark == 0xf00000 && !p.mark.Incremental
	want := has{some && mark&0x404000 != 0, some && mark&0x300000 == 0x300000, some && mark&0x20000 != 0, overflow, some && !overflow}
	got := has{all(HopIngress | HopEgress), all(HopIngressTime), all(HopOccupancy), r.Flags&MTUExceeded != 0, r.Has(KnownPath)}
	if got != want {
		t.Errorf("%s: %+v, want %+v", p.name, got, want)
	}
}
