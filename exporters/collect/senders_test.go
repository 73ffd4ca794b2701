package collect

import (
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"intsink/engine/wire/report"
	"intsink/exporters/record"
)

// reportOf is a report packet of a node: one report that shows an IPv4 packet.
func reportOf(node, n uint32, instance uint64) []byte {
	var p report.Packet
	p.Open(make([]byte, 200))
	if instance != 0 {
		p.Identify(instance, 1)
	}
	inner := []byte{0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 0, 8, 0, 0}
	p.Append(&report.Individual{RepType: report.InnerOnly, InType: report.IPv4, Inner: inner})
	return p.Seal(report.GroupHeader{NodeID: node, Sequence: n})
}

// admitter admits packets to a listen without a socket.
type admitter struct {
	c    *Collector
	l    *listen
	m    *maker
	said *strings.Builder
}

func newAdmitter(t *testing.T, streams int) *admitter {
	t.Helper()
	c, _ := collectorBed(t, Options{Listens: []Listen{{Name: "r", Address: "127.0.0.1:0", Sockets: 1, Buffer: 1 << 16, Streams: streams}}}, 0)
	t.Cleanup(func() { c.Stop() })
	said := &strings.Builder{}
	c.log = NewLog(slog.New(slog.NewTextHandler(said, nil)))
	return &admitter{c, c.listens[0], newMaker(record.NewDecoder(record.Options{}), nil), said}
}

// admit has packets from one address admitted, and returns how many were.
func (a *admitter) admit(from string, packets ...[]byte) int {
	var all []datagram
	for _, p := range packets {
		all = append(all, datagram{from: netip.MustParseAddrPort(from), arrived: time.Now().UnixNano(), payload: p})
	}
	taken, _ := a.c.admit(a.l, a.l.sockets[0], a.m, all, nil, nil)
	return len(taken)
}

// TestNoiseMakesNoStreams: whatever random bytes say, and however many node ids are made up at one address, a
// sink at another one that begins now is followed.
func TestNoiseMakesNoStreams(t *testing.T) {
	a := newAdmitter(t, 64)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		p := make([]byte, 1+r.IntN(200))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		a.admit("192.0.2.66:5", p)
	}
	noise := a.l.streams.Len()
	for node := range uint32(5000) {
		a.admit("192.0.2.66:5", reportOf(node, 0, 0))
	}
	for node := range uint32(8) {
		if a.admit("192.0.2.1:5", reportOf(node, 0, 0)) != 1 {
			t.Fatalf("node %d of a new sink is refused, by %d streams", node, a.l.streams.Len())
		}
	}
	if noise > 2 {
		t.Errorf("noise made %d streams", noise)
	}
	if !strings.Contains(a.said.String(), "no room for one more stream") {
		t.Error("the log does not say that streams are refused")
	}
}

// TestTwinSinksAreTold: once, with what to do.
func TestTwinSinksAreTold(t *testing.T) {
	for _, c := range []struct{ one, two uint64 }{{0, 0}, {7, 8}} {
		a := newAdmitter(t, 64)
		for n := range uint32(50) {
			second := reportOf(3, n, c.two)
			second[len(second)-1] = 9
			a.admit("192.0.2.1:5", reportOf(3, n, c.one), second)
		}
		if a.l.twins != 1 || !strings.Contains(a.said.String(), "give each sink its own node { id }") || strings.Count(a.said.String(), "two sinks share") != 1 {
			t.Errorf("instances %v: told %d times, log %s", c, a.l.twins, a.said.String())
		}
	}
}
