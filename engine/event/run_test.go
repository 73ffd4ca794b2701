package event

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"intsink/flows"
)

// meeters are the detectors of two workers of one sink. Meet gets the packets of a burst in their order; where alone is set, each
// packet is a burst of its own, so that no run begins.
type meeters struct {
	all   [2]*Detector
	alone bool
	runs  int // packets in them
}

func newMeeters(policies []Policy, alone bool) *meeters {
	s := NewShared(1)
	m := &meeters{alone: alone}
	for i := range m.all {
		m.all[i] = New(policies, 1)
		m.all[i].Share(s)
	}
	s.usual.Limits().Set(crossedQueue, 1700, 40)
	s.usual.Limits().Set([2]uint64{8<<32 | 2, 0xff}, 1700, 40)
	return m
}

func (m *meeters) close() {
	s := m.all[0].shared
	for _, d := range m.all {
		d.Close()
	}
	s.Close()
}

// drawn is a packet of queue 7 or 8, with values below and above thresholds.
func drawn(r *rand.Rand, full bool) *Observation {
	latencies, occupancies := []uint32{1500, 99_999, 150_000, 160_000, 900_000, unknown32}, []uint32{10, 100, 5000, 9000, unknown32}
	v := values{node: 7, ports: 0x10002, queue: occupancies[r.IntN(len(occupancies))], latency: latencies[r.IntN(len(latencies))], tx: unknown32}
	switch {
	case r.IntN(4) == 0:
	case full:
		v.queue, v.latency = 9000, 150_000
	default:
		v.queue, v.latency = 10, 1500
	}
	if r.IntN(8) == 0 {
		v.node = 8
	}
	if v.queue != unknown32 {
		v.queue |= unnumbered
	}
	return told(v)
}

// TestBurstsAreManyPackets: what packets of one burst do together to the queues that they pass is what they do one by one: events,
// records, state of the queue for this worker and for all, whatever their values, watches and times are.
func TestBurstsAreManyPackets(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			policies := []Policy{watching(Congestion), watching(Congestion), watching(Congestion)}
			byUsual(&policies[1].Thresholds)
			policies[2].Thresholds.CongestionLatency, policies[2].Thresholds.CongestionQuota = 100_000, 50
			together, alone := newMeeters(policies, false), newMeeters(policies, true)
			defer together.close()
			defer alone.close()
			var all, others []*flows.Flow // the same, of the two
			for n := range 6 {
				all, others = append(all, crossingFlow(uint32(n)+1)), append(others, crossingFlow(uint32(n)+1))
			}
			now := int64(second)
			full, few := false, 0
			for range 400 {
				if few--; few < 0 {
					full, few = !full, r.IntN(8)
				}
				if now += r.Int64N(2 * ms); r.IntN(40) == 0 {
					now += r.Int64N(3 * second)
				}
				burst, worker, watch := 1+r.IntN(20), r.IntN(2), uint8(r.IntN(3))
				at := now - int64(worker)*r.Int64N(ms)
				for n := range burst {
					of := r.IntN(len(all))
					o, f, other := drawn(r, full), all[of], others[of]
					if f.Watch = watch; r.IntN(10) == 0 {
						f.Watch = uint8(r.IntN(3))
					}
					other.Watch = f.Watch
					o.Number = uint8(n)
					size := 64 + r.IntN(1400)
					got, want := together.meet(worker, at, f, size, o, n == burst-1), alone.meet(worker, at, other, size, o, true)
					if got != want {
						t.Fatalf("at %d, packet %d: %v, alone %v", at, n, got, want)
					}
				}
				together.sameAs(t, alone, at)
			}
			if together.runs < 500 {
				t.Errorf("%d packets in runs: the test says little", together.runs)
			}
		})
	}
}

// meeting is what one packet gives.
type meeting struct {
	set     Set
	edge    bool
	trigger Trigger
	met     uint64
}

func (m *meeters) meet(worker int, now int64, f *flows.Flow, size int, o *Observation, last bool) meeting {
	d := m.all[worker]
	if o.Number == 0 {
		d.Sync(now)
		d.ForgetMet()
	}
	d.hand.own = Observation{Number: o.Number, Frame: []byte{12: 8, 0, 0x45, uint8(size) & 3}} // IPv4 with any ECN
	set := d.Meet(now, f, size, o, 1)
	met, _ := d.Met()
	x := meeting{set: set, edge: d.Edge, met: met}
	if set != 0 {
		x.trigger = d.Trigger
	}
	if d.tallies.Counted() != 0 {
		m.runs++
	}
	if last {
		d.EndRun(now)
	}
	if m.alone {
		d.tallies.Stop()
	}
	return x
}

func (m *meeters) sameAs(t *testing.T, alone *meeters, now int64) {
	t.Helper()
	for i, d := range m.all {
		o := alone.all[i]
		if d.Counters != o.Counters {
			t.Fatalf("worker %d at %d: %+v, alone %+v", i, now, d.Counters, o.Counters)
		}
		for _, key := range [][2]uint64{crossedQueue, {8<<32 | 2, 0xff}} {
			if got, want := d.fabric.Queues.Find(key), o.fabric.Queues.Find(key); !reflect.DeepEqual(got, want) {
				t.Fatalf("worker %d at %d: queue %+v, alone %+v", i, now, got, want)
			}
			if got, want := d.shared.queues.Find(key), o.shared.queues.Find(key); !reflect.DeepEqual(got, want) {
				t.Fatalf("at %d: queue of all %+v, alone %+v", now, got, want)
			}
		}
	}
	if got, want := m.all[0].Episodes().Open(), alone.all[0].Episodes().Open(); !reflect.DeepEqual(got, want) {
		t.Fatalf("at %d: other records than alone", now)
	}
	got, _ := m.all[0].Episodes().Ended(0)
	want, _ := alone.all[0].Episodes().Ended(0)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("at %d: other records that ended than alone", now)
	}
}
