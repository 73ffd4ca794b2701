package collect_test

import (
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"intsink/engine/wire/report/reporttest"
	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
	"intsink/exporters/record"
	"intsink/internal/hostile"
	"intsink/internal/rounds"
)

// TestHostile: each report packet that is mutated at random is taken or refused for a reason, each
// record that is made of one is taken, and the accounts add up. make hostile plays many.
func TestHostile(t *testing.T) {
	packets := reporttest.All(t)
	hand := collecttest.NewHand(collect.JSON)
	b := collecttest.New(t, collect.Options{
		Decoder: func() collect.Decoder { return record.NewDecoder(record.Options{}) },
		Flush:   time.Second,
	}, 0, hand)
	settled := make(chan struct{})
	defer func() { close(hand.Deliveries); <-settled }()
	go func() {
		for d := range hand.Deliveries {
			d.Delivered(d.Count())
		}
		close(settled)
	}()
	conn, err := net.Dial("udp", b.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	hostile.Play(t, rounds.Of(20_000, 20), func(r *rand.Rand) int {
		const n = 200
		before := b.C.Snapshot().Listens[0].Datagrams
		for range n {
			if _, err := conn.Write(hostile.Mutate(r, packets[r.IntN(len(packets))], packets[r.IntN(len(packets))], 1, 3000)); err != nil {
				t.Fatal(err)
			}
		}
		b.Wait("datagrams are taken", func() bool { return b.C.Snapshot().Listens[0].Datagrams-before == n })
		return n
	})
	s := b.C.Snapshot()
	if l := s.Listens[0]; l.Packets == 0 || l.Overflows != 0 {
		t.Errorf("%+v", l)
	}
	b.Stop()
}
