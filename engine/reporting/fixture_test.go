package reporting

import (
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/enginetest"
	"intsink/engine/wire/report"
)

// bed is a Reporter with a ring to one collector, and a clock that the test sets.
type bed struct {
	*Reporter
	t     *testing.T
	pool  *mbuf.Arena
	ring  *ring.Ring
	count Counters
	now   int64
}

func newBed(t *testing.T, change func(*Rules, *Collector)) *bed {
	pool, err := mbuf.NewArena(256, 2304)
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{t: t, pool: pool, ring: ring.New(64), now: 1_000_000_000, count: Counters{Collectors: make([]CollectorCounters, 1)}}
	rules := &Rules{MdBits: report.MdInterfaces | report.MdHopLatency, Fragment: 128, MaxDelay: 1e6}
	to := Collector{MaxPayload: 1358}
	if change != nil {
		change(rules, &to)
	}
	b.Reporter = New(&Config{Outlets: []Outlet{{Ring: b.ring}}, Pool: pool, NodeID: 3, HwID: 5, Counters: &b.count}, rules, []Collector{to})
	return b
}

// step moves the clock by ns, and does all work that is due then.
func (b *bed) step(ns int64) {
	b.now += ns
	b.Expire(b.now)
}

// sealed returns the payloads of the report packets that left, and frees them.
func (b *bed) sealed() [][]byte { return enginetest.Sealed(b.ring, b.pool) }

// balance checks that every mbuf is back in its pool.
func (b *bed) balance() {
	b.t.Helper()
	b.Close(b.now)
	b.sealed()
	if n := b.pool.InUse(); n != 0 {
		b.t.Errorf("%d mbufs did not come home", n)
	}
}
