package ethdev_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
)

// TestTxBurstKeepsTheRest: what a full port does not take stays the caller's,
// and what it took comes back in order.
func TestTxBurstKeepsTheRest(t *testing.T) {
	p := dpdktest.Pool(t, "ring")
	port := start(t, dpdktest.Ring(0), p)
	q, v := port.Queue(0), mbuf.NewVec()
	taken := uint32(0)
	for {
		if !p.AllocBulk(v, mbuf.MaxBurst) {
			t.Fatal("the ring never fills")
		}
		for i, m := range v {
			binary.BigEndian.PutUint32(m.SetLen(60), taken+uint32(i))
		}
		sent := q.TxBurst(v, mbuf.MaxBurst)
		taken += uint32(sent)
		if sent == mbuf.MaxBurst {
			continue
		}
		for i := sent; i < mbuf.MaxBurst; i++ {
			if got := binary.BigEndian.Uint32(v[i].Bytes()); got != taken+uint32(i-sent) {
				t.Fatalf("v[%d] is packet %d after %d were taken", i, got, taken)
			}
		}
		n := copy(v[:], v[sent:])
		p.FreeBulk(v, n)
		break
	}
	if p.InUse() != int(taken) {
		t.Errorf("%d in use, %d in the ring", p.InUse(), taken)
	}
	want := uint32(0)
	for n := q.RxBurst(v); n > 0; n = q.RxBurst(v) {
		for _, m := range v[:n] {
			if got := binary.BigEndian.Uint32(m.Bytes()); got != want {
				t.Fatalf("packet %d came, want %d", got, want)
			}
			want++
		}
		p.FreeBulk(v, n)
	}
	if want != taken {
		t.Errorf("%d packets came back of %d", want, taken)
	}
}

// TestExchange: what is transmitted is there before anything is received, each counted
// on its own, and none of either is fine.
func TestExchange(t *testing.T) {
	p := dpdktest.Pool(t, "exchange")
	q, tx, rx := start(t, dpdktest.Ring(2), p).Queue(0), mbuf.NewVec(), mbuf.NewVec()
	exchange := func(n, wantSent, wantReceived int) {
		t.Helper()
		if sent, received := q.Exchange(tx, n, rx); sent != wantSent || received != wantReceived {
			t.Fatalf("of %d: sent %d, received %d; want %d and %d", n, sent, received, wantSent, wantReceived)
		}
	}
	exchange(0, 0, 0)
	next, want := uint32(0), uint32(0)
	alloc := func(n int) {
		p.AllocBulk(tx, n)
		for _, m := range tx[:n] {
			binary.BigEndian.PutUint32(m.SetLen(60), next)
			next++
		}
	}
	check := func(n int) {
		t.Helper()
		for _, m := range rx[:n] {
			if got := binary.BigEndian.Uint32(m.Bytes()); got != want {
				t.Fatalf("packet %d came, want %d", got, want)
			}
			want++
		}
		p.FreeBulk(rx, n)
	}
	for _, n := range []int{1, 3, mbuf.MaxBurst} {
		alloc(n)
		exchange(n, n, n)
		check(n)
	}
	alloc(5)
	if sent := q.TxBurst(tx, 5); sent != 5 {
		t.Fatalf("sent %d", sent)
	}
	exchange(0, 0, 5)
	check(5)
}

// TestExchangeWithAFullPort: what is not taken stays the caller's, and packets are
// received all the same.
func TestExchangeWithAFullPort(t *testing.T) {
	p := dpdktest.Pool(t, "full")
	q, tx, rx := start(t, dpdktest.Ring(3), p).Queue(0), mbuf.NewVec(), mbuf.NewVec()
	sent := mbuf.MaxBurst
	for sent == mbuf.MaxBurst {
		if !p.AllocBulk(tx, mbuf.MaxBurst) {
			t.Fatal("the ring never fills")
		}
		sent = q.TxBurst(tx, mbuf.MaxBurst)
	}
	left := copy(tx[:], tx[sent:])
	again, received := q.Exchange(tx, left, rx)
	if again != 0 || received != mbuf.MaxBurst {
		t.Errorf("sent %d of %d into a full ring, received %d", again, left, received)
	}
	p.FreeBulk(rx, received)
	if again, received = q.Exchange(tx, left, rx); again != left || received != mbuf.MaxBurst {
		t.Errorf("sent %d of %d where there is room, received %d", again, left, received)
	}
	for p.FreeBulk(rx, received); received > 0; p.FreeBulk(rx, received) {
		_, received = q.Exchange(tx, 0, rx)
	}
}

// TestChainThroughPort: a chain with a short first segment survives the port
// and is pulled up after it.
func TestChainThroughPort(t *testing.T) {
	p := dpdktest.Pool(t, "chain")
	q, v := start(t, dpdktest.Ring(1), p).Queue(0), mbuf.NewVec()
	want := frame(300)
	p.AllocBulk(v, 2)
	copy(v[0].SetLen(20), want)
	copy(v[1].SetLen(280), want[20:])
	v[0].Chain(v[1])
	if sent, n := q.TxBurst(v, 1), q.RxBurst(v); sent != 1 || n != 1 {
		t.Fatalf("sent %d, received %d", sent, n)
	}
	m := v[0]
	if m.NbSegs() != 2 || !m.Pullup(120) || !bytes.Equal(m.Bytes(), want[:120]) || !bytes.Equal(m.AppendTo(nil, 300), want) {
		t.Errorf("%d segments, %d bytes in the first", m.NbSegs(), m.DataLen())
	}
	p.FreeBulk(v, 1)
}

// A worker per queue pair, each with a pool of its own.
func TestTwoQueues(t *testing.T) {
	pools := []*mempool.Mempool{dpdktest.Pool(t, "q0"), dpdktest.Pool(t, "q1")}
	port := startWith(t, dpdktest.Null(0, 138), ethdev.Config{RxQueues: 2, TxQueues: 2, SymmetricRSS: true, Pools: pools})
	v := mbuf.NewVec()
	for i, p := range pools {
		q := port.Queue(uint16(i))
		onWorker(t, func() {
			if n := q.RxBurst(v); n != mbuf.MaxBurst || v[0].PktLen() != 138 {
				t.Errorf("queue %d: received %d", i, n)
			}
			if p.InUse() != mbuf.MaxBurst || pools[1-i].InUse() != 0 {
				t.Errorf("queue %d: %d in use, %d of the other", i, p.InUse(), pools[1-i].InUse())
			}
			if sent := q.TxBurst(v, mbuf.MaxBurst); sent != mbuf.MaxBurst {
				t.Errorf("queue %d: sent %d", i, sent)
			}
		})
	}
	s, err := port.Stats()
	if err != nil || s.IPackets != 2*mbuf.MaxBurst || s.OPackets != 2*mbuf.MaxBurst {
		t.Errorf("%+v, %v", s, err)
	}
}

func BenchmarkBurst(b *testing.B) {
	q := start(b, dpdktest.Null(1, 138), dpdktest.Pool(b, "bench")).Queue(0)
	onWorker(b, func() {
		v := mbuf.NewVec()
		b.ReportAllocs()
		b.ResetTimer()
		for i := 0; i < b.N; i += mbuf.MaxBurst {
			q.TxBurst(v, q.RxBurst(v))
		}
	})
}
