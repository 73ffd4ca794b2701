package event

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"intsink/flows"
)

// FuzzPacket: whatever packets say, in whatever order, nothing panics, and of every
// event that is watched each time it fired was reported or suppressed.
func FuzzPacket(f *testing.F) {
	// Of the 24 nodes of randomPacket, each with room for all of its interfaces and queues:
	// the kernel would take most of the time to clear the memory of whole tables.
	room := capacities{queues: 1 << 9, interfaces: 1 << 9, links: 1 << 9}
	for seed := range uint64(8) {
		f.Add(seed, uint16(300), uint8(seed*37))
	}
	f.Fuzz(func(t *testing.T, seed uint64, packets uint16, policy uint8) {
		r := rand.New(rand.NewPCG(seed, uint64(policy)))
		p := watching()
		p.Events = 1<<NumEvents - 1
		p.Sample, p.SampleByFlow = uint32(policy&3), policy&4 != 0
		p.Thresholds.PTP, p.Thresholds.ReportKnown = policy&8 != 0, policy&16 != 0
		p.Thresholds.NewFlowRate, p.Thresholds.PathRate = int(policy>>5), int(policy>>6)
		var c crowd
		d := newDetector([]Policy{p}, seed, room)
		defer d.Close()
		c.play(d, r, int(packets%64))
		c.addUp(t)
	})
}

// crowd are flows that share nodes, and what was reported of them.
type crowd struct {
	d        *Detector
	flows    [4]flows.Flow
	begun    [4]bool
	reported [NumEvents]uint64
}

func (c *crowd) play(d *Detector, r *rand.Rand, packets int) {
	c.d = d
	now := second
	var sent atomic.Int64
	for range packets {
		now += int64(r.Uint64N(uint64([]int64{100, ms, second}[r.IntN(3)])))
		i := r.IntN(len(c.flows))
		switches := d.Counters.Fired[PathSwitch] - d.Counters.Suppressed[PathSwitch][SuppressRate]
		set := d.Packet(now, &c.flows[i], !c.begun[i], 0, randomPacket(r, now))
		c.begun[i] = true
		if set.Has(PathChange) && d.Counters.Fired[PathSwitch]-d.Counters.Suppressed[PathSwitch][SuppressRate] > switches {
			set = set&^PathChange.Set() | PathSwitch.Set()
		} else {
			set &^= PathSwitch.Set() // beside a change: the flow is sprayed
		}
		c.count(set)
		switch r.IntN(8) {
		case 0:
			set, _ := d.Dropped(now, &c.flows[i], uint8(r.IntN(5)))
			c.count(set)
		case 1:
			c.count(d.Limited(now, Event(int(Malformed)+r.IntN(3)), &sent))
		case 2:
			d.Lossy(now, func(*flows.Flow) {}, func(*flows.Flow) { c.count(Loss.Set()) })
		case 3:
			if r.IntN(20) == 0 && d.End(now, &c.flows[i]) {
				c.count(FlowEnd.Set())
			}
		}
	}
}

func (c *crowd) count(set Set) {
	for e := range NumEvents {
		if set.Has(e) {
			c.reported[e]++
		}
	}
}

// addUp leaves out what may fire several times in one report, or on a first packet.
func (c *crowd) addUp(t *testing.T) {
	t.Helper()
	for e := range NumEvents {
		suppressed := uint64(0)
		for _, n := range c.d.Counters.Suppressed[e] {
			suppressed += n
		}
		fired := c.d.Counters.Fired[e]
		switch e {
		case HopLatency, LinkLatency: // of several hops in one packet
			if fired < c.reported[e]+suppressed {
				t.Errorf("%v fired %d times, %d reported and %d suppressed", e, fired, c.reported[e], suppressed)
			}
		case Congestion, TxUtilization: // fires once for an episode of many reports
		case PathSwitch:
			if fired < c.reported[e]+suppressed {
				t.Errorf("%v fired %d times, %d reported and %d suppressed", e, fired, c.reported[e], suppressed)
			}
		default:
			if fired != c.reported[e]+suppressed {
				t.Errorf("%v fired %d times, %d reported and %d suppressed", e, fired, c.reported[e], suppressed)
			}
		}
	}
}

// randomPacket has few nodes and values, so that they come again.
func randomPacket(r *rand.Rand, now int64) *Observation {
	hops := make([]values, r.IntN(20))
	for i := range hops {
		hops[i] = values{
			node: uint32(r.IntN(24)), ports: uint32(1 + r.IntN(3)), latency: uint32(r.IntN(100_000)), queue: uint32(r.IntN(12_000)),
			tx: uint32(r.IntN(101)), in: uint64(now - r.Int64N(200_000)), out: uint64(now - r.Int64N(200_000)),
		}
		for _, v := range []*uint32{&hops[i].node, &hops[i].ports, &hops[i].latency, &hops[i].queue, &hops[i].tx} {
			if r.IntN(30) == 0 {
				*v = unknown32
			}
		}
	}
	o := told(hops...)
	o.FlowHash = r.Uint64()
	o.Info.HopExceeded, o.Info.MTUExceeded = r.IntN(9) == 0, r.IntN(9) == 0
	if r.IntN(3) > 0 {
		o.Sequence, o.SequenceBits = uint64(uint32(r.IntN(3000)-1000)), 32
	}
	return o
}
