package ethdev_test

import (
	"testing"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
)

// TestAbsent: a queue without a device receives nothing, and refuses packets as a link that is down does.
func TestAbsent(t *testing.T) {
	pool := dpdktest.Pool(t, "absent")
	q, err := ethdev.Absent()
	if err != nil {
		t.Fatal(err)
	}
	v, in := mbuf.NewVec(), mbuf.NewVec()
	if !pool.AllocBulk(v, 2) {
		t.Fatal("no mbufs")
	}
	defer pool.FreeBulk(v, 2)
	sent, received := q.Exchange(v, 2, in)
	if n := q.RxBurst(in) + q.TxBurst(v, 2) + sent + received; n != 0 || q.Refusal() != mbuf.RefusedDown || q.Depth() >= 0 {
		t.Errorf("%d packets, refused for %v, depth %d", n, q.Refusal(), q.Depth())
	}
}

// TestFound: an absent queue is one of a device once that is found, and no more when it is lost; to loops in C, too.
func TestFound(t *testing.T) {
	pool := dpdktest.Pool(t, "found")
	p := dpdktest.Start(t, dpdktest.Sink(10), dpdktest.OnePair(pool))
	defer p.Close()
	q, err := ethdev.Absent()
	if err != nil {
		t.Fatal(err)
	}
	c := q.InC()
	v := mbuf.NewVec()
	for what, sent := range []int{0, 1, 0, 1} {
		switch {
		case sent == 1:
			q.Found(p, 0)
		case what > 0:
			q.Lost()
		}
		if !pool.AllocBulk(v, 1) {
			t.Fatal("no mbufs")
		}
		n := q.TxBurst(v, 1)
		if n != sent || n == 0 && q.Refusal() != mbuf.RefusedDown || n == 1 && q.Refusal() != mbuf.RefusedFull {
			t.Errorf("%d: %d sent, want %d; refusal %v", what, n, sent, q.Refusal())
		}
		if n == 0 {
			pool.FreeBulk(v, 1)
		}
	}
	if again := q.InC(); again != c {
		t.Errorf("to C it was %+v, and is %+v", c, again)
	}
}

// TestRemoved: what vfio-pci and drivers tell of a device that goes reaches its port, and no other; one
// that is attached again is there.
func TestRemoved(t *testing.T) {
	pool := dpdktest.Pool(t, "removed")
	goes := dpdktest.Start(t, dpdktest.Sink(8), dpdktest.OnePair(pool))
	stays := dpdktest.Start(t, dpdktest.Sink(9), dpdktest.OnePair(pool))
	defer stays.Close()
	if goes.Removed() {
		t.Error("removed before")
	}
	ethdev.TellRemoval("net_null8")
	if !goes.Removed() || stays.Removed() {
		t.Errorf("removed: %v, the other one: %v", goes.Removed(), stays.Removed())
	}
	if goes.Link().Up || !stays.Link().Up {
		t.Errorf("the link of the removed device: %+v, of the other one: %+v", goes.Link(), stays.Link())
	}
	goes.Close()
	again := dpdktest.Start(t, dpdktest.Sink(8), dpdktest.OnePair(pool))
	defer again.Close()
	if again.Removed() {
		t.Error("a device that is there again counts as removed")
	}
}
