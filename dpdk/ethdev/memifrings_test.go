package ethdev_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
)

// memifPair is a server and a client that are connected, with so many queues each.
func memifPair(t *testing.T, n, ofServer, ofClient int) (server, client ethdev.Port, p *mempool.Mempool) {
	t.Helper()
	p = dpdktest.Pool(t, fmt.Sprintf("memif%d", n))
	socket := filepath.Join(t.TempDir(), "memif.sock")
	open := func(n int, role string, queues int) ethdev.Port {
		return startWith(t, fmt.Sprintf("net_memif%d,role=%s,id=1,socket=%s,socket-abstract=no", n, role, socket),
			ethdev.Config{RxQueues: uint16(queues), TxQueues: uint16(queues), Pools: []*mempool.Mempool{p}})
	}
	server, client = open(n, "server", ofServer), open(n+1, "client", ofClient)
	t.Cleanup(func() { // before any is closed
		client.Stop()
		server.Stop()
	})
	return server, client, p
}

func waitLink(t *testing.T, p ethdev.Port) bool {
	t.Helper()
	for range 6000 { // a minute: beside other work the peers get no CPU for seconds
		if p.Link().Up {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// numbered are n frames that carry the numbers from first on.
func numbered(t *testing.T, p *mempool.Mempool, v *mbuf.Vec, n, first int) {
	t.Helper()
	if !p.AllocBulk(v, n) {
		t.Fatal("no mbufs")
	}
	for i, m := range v[:n] {
		binary.BigEndian.PutUint32(m.SetLen(60), uint32(first+i))
	}
}

// Each of two queues takes what the same queue of the peer sends.
func TestMemifQueues(t *testing.T) {
	server, client, p := memifPair(t, 72, 2, 2)
	if !waitLink(t, server) || !waitLink(t, client) {
		t.Fatal("not connected")
	}
	for _, port := range []ethdev.Port{server, client} {
		if rx, tx, ok := port.Rings(2); rx != 2 || tx != 2 || !ok {
			t.Errorf("%s: %d rx and %d tx rings, %v", port.Name(), rx, tx, ok)
		}
	}
	v := mbuf.NewVec()
	for _, c := range []struct{ from, to ethdev.Port }{{server, client}, {client, server}} {
		for q := range uint16(2) {
			if c.to.Queue(q).RxBurst(v) != 0 { // a client that polls gives the server room to send
				t.Fatal("received before anything was sent")
			}
			numbered(t, p, v, 8, 100*int(q))
			if sent := c.from.Queue(q).TxBurst(v, 8); sent != 8 {
				t.Fatalf("queue %d sent %d", q, sent)
			}
		}
		for q := range uint16(2) {
			n := c.to.Queue(q).RxBurst(v)
			for i, m := range v[:n] {
				if got := binary.BigEndian.Uint32(m.Bytes()); got != uint32(100*int(q)+i) {
					t.Errorf("queue %d: frame %d", q, got)
				}
			}
			if p.FreeBulk(v, n); n != 8 {
				t.Errorf("queue %d received %d", q, n)
			}
		}
	}
}

// A client with one queue: the second queue of the server neither sends nor receives, and
// does not touch what the first one does.
func TestMemifQueueWithoutRing(t *testing.T) {
	server, client, p := memifPair(t, 74, 2, 1)
	if !waitLink(t, server) || !waitLink(t, client) {
		t.Fatal("not connected")
	}
	if rx, tx, ok := server.Rings(2); rx != 1 || tx != 1 || !ok {
		t.Fatalf("%d rx and %d tx rings, %v", rx, tx, ok)
	}
	first, second, peer, v := server.Queue(0), server.Queue(1), client.Queue(0), mbuf.NewVec()
	const rounds = 300 // more than a ring has room for
	for round := range rounds {
		numbered(t, p, v, 16, 16*round)
		if sent := peer.TxBurst(v, 16); sent != 16 {
			t.Fatalf("round %d: sent %d of 16", round, sent)
		}
		if n := second.RxBurst(v); n != 0 {
			t.Fatalf("round %d: the queue without a ring received %d", round, n)
		}
		numbered(t, p, v, 2, 0)
		if sent := second.TxBurst(v, 2); sent != 0 {
			t.Fatalf("round %d: the queue without a ring sent %d", round, sent)
		}
		if why := second.Refusal(); why != mbuf.RefusedDown {
			t.Fatalf("round %d: refused for %d", round, why)
		}
		if sent, received := second.Exchange(v, 2, mbuf.NewVec()); sent != 0 || received != 0 {
			t.Fatalf("round %d: it exchanged %d and %d", round, sent, received)
		}
		p.FreeBulk(v, 2)
		n := first.RxBurst(v)
		for i, m := range v[:n] {
			if got := binary.BigEndian.Uint32(m.Bytes()); got != uint32(16*round+i) {
				t.Fatalf("round %d: frame %d, want %d", round, got, 16*round+i)
			}
		}
		if why := peer.Refusal(); why != mbuf.RefusedFull {
			t.Fatalf("round %d: a queue with a ring refuses for %d", round, why)
		}
		if p.FreeBulk(v, n); n != 16 {
			t.Fatalf("round %d: received %d of 16", round, n)
		}
	}
}

// Other drivers have no rings that somebody else makes.
func TestRingsOfOtherDrivers(t *testing.T) {
	port := start(t, "net_ring76", dpdktest.Pool(t, "norings"))
	if _, _, ok := port.Rings(1); ok {
		t.Error("net_ring is taken for net_memif")
	}
}
