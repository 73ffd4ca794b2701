package truth

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"intsink/engine"
	"intsink/engine/aside/inspect"
	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
)

// queueScene is a capture of so many episodes in queues of two nodes. Some flows have 6 to 70 percent of the bytes in a queue
// while it is long, any number of small ones the rest.
type queueScene struct {
	*rand.Rand
	bitmap uint16
	at     int64
	all    []Captured
}

// crowd is the flows of one queue: the first ones with their percents of all bytes.
type crowd struct {
	name   QueueName
	shares []int
	small  int
}

func newCrowd(r *rand.Rand, name QueueName) crowd {
	c := crowd{name: name, small: []int{1, 5, 60, 3000}[r.IntN(4)]}
	for left := 100; len(c.shares) < r.IntN(7); {
		n := 6 + r.IntN(60)
		if left -= n; left < 5 {
			break
		}
		c.shares = append(c.shares, n)
	}
	return c
}

// packet passes the queue of a crowd, which is so long, and other queues, which are not.
func (s *queueScene) packet(t *testing.T, c *crowd, latency, occupancy uint32) {
	flow, share := len(c.shares)+s.IntN(c.small), s.IntN(100)
	for i, percent := range c.shares {
		if share -= percent; share < 0 {
			flow = i
			break
		}
	}
	f := intgen.Flow{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Proto: intgen.UDP, SrcPort: uint16(1024 + flow), DstPort: uint16(8000 + flow%7),
		Src: netip.AddrFrom4([4]byte{10, byte(c.name.Node), c.name.Queue, byte(flow)}), Dst: netip.AddrFrom4([4]byte{172, 16, 0, byte(flow >> 8)}),
	}
	size := 20 + s.IntN(40)
	if flow < len(c.shares) || s.IntN(3) == 0 {
		size = 20 + s.IntN(1300)
	}
	src := intgen.Source{UDPPort: INTPort, Bitmap: s.bitmap, MaxHops: 5}
	hop := func(node uint32, queue uint8, latency, occupancy uint32) intgen.Hop {
		return intgen.Hop{NodeID: node, Ingress: 3, Egress: 15, LatencyNs: latency, QueueID: queue, QueueOccupancy: occupancy}
	}
	frame, err := src.Insert(f.Frame(size, uint32(len(s.all))), []intgen.Hop{hop(c.name.Node, c.name.Queue, latency, occupancy), hop(900, 1, 3000+s.Uint32N(2000), s.Uint32N(100))})
	if err != nil {
		t.Fatal(err)
	}
	if s.at += 1 + s.Int64N(60_000); s.IntN(20) != 0 { // one in twenty is lost on its way
		s.all = append(s.all, Captured{s.at, frame})
	}
}

// capture makes a scene: all queues are calm until it is known what is usual, eight times of which is below the floor of slow
// ones; then each is calm, long and calm again, so many times, several at once.
func capture(t *testing.T, seed uint64, bitmap uint16, episodes int) []Captured {
	s := &queueScene{Rand: rand.New(rand.NewPCG(seed, 9)), bitmap: bitmap, at: Epoch}
	for n := range 3600 { // three minutes: until then nobody may know what is usual
		c := crowd{name: QueueName{uint32(100 + n%2), 15, uint8(n % 3)}, small: 60}
		s.packet(t, &c, 2000+s.Uint32N(8000), s.Uint32N(1000))
		s.at += 50 * ms
	}
	for range episodes {
		var crowds []crowd
		for queue := range 1 + s.IntN(3) {
			crowds = append(crowds, newCrowd(s.Rand, QueueName{uint32(100 + s.IntN(2)), 15, uint8(queue)}))
		}
		calm := func(n int) {
			for range n {
				s.packet(t, &crowds[s.IntN(len(crowds))], 2000+s.Uint32N(8000), s.Uint32N(1000))
			}
		}
		calm(100)
		for range 1 + s.IntN(4) {
			s.at += 2 * ms // workers learn of each other's episodes with their next burst
			for range 400 + s.IntN(2000) {
				s.packet(t, &crowds[s.IntN(len(crowds))], 100_000+s.Uint32N(2_000_000), 8000+s.Uint32N(90_000))
			}
			s.at += 2 * ms
			calm(300)
			s.at += s.Int64N(90 * ms)
		}
		s.at += s.Int64N(400 * ms)
		calm(30)
	}
	return s.all
}

// congestionOnly are rules with nothing but congestion.
func congestionOnly(thresholds event.Thresholds) *engine.Rules {
	return &engine.Rules{
		INT: intConfig(), Collectors: []reporting.Collector{{Address: netip.MustParseAddrPort("192.0.2.10:8555"), MaxPayload: 1358}},
		Watches: []watch.Watch{{Name: "all", Policy: event.Policy{Events: event.Congestion.Set(), Thresholds: thresholds}}},
	}
}

// inBursts gives the packets of a capture the times at which workers see them, and the order: those of a burst have one
// time, and the first worker takes its own first.
func inBursts(all []Captured, workers int) (bursts [][]Captured) {
	r := rand.New(rand.NewPCG(1, 2))
	for len(all) > 0 {
		n := 1
		for most := 1 + r.IntN(20); n < min(most, len(all)) && all[n].Time-all[n-1].Time < ms; n++ {
		}
		for i := range all[:n] {
			all[i].Time = all[n-1].Time
		}
		slices.SortStableFunc(all[:n], func(a, b Captured) int { return a.worker(workers) - b.worker(workers) })
		bursts = append(bursts, all[:n])
		all = all[n:]
	}
	return bursts
}

// worker is who takes a packet, by its source address.
func (c *Captured) worker(of int) int { return int(c.Frame[29]) % of }

// playEpisodes has workers of one sink take the packets of a capture, and returns the episodes that ended. reload: the
// rules are loaded again now and then.
func playEpisodes(t *testing.T, bursts [][]Captured, workers int, reload bool, th event.Thresholds) (got []episode.Record) {
	shared := engine.NewShared(1, 7)
	var beds []*bed
	for n := range workers {
		beds = append(beds, newBedOf(t, congestionOnly(th), shared, uint8(n), 1<<14))
	}
	next := uint64(0)
	for i, burst := range bursts {
		for w, b := range beds {
			b.now = burst[0].Time
			b.worker.Tick(b.now)
			for k := range burst {
				if burst[k].worker(workers) == w {
					b.network.next = append(b.network.next, burst[k].Frame)
				}
			}
			b.worker.Poll()
			b.take()
			if reload && i%500 == 250 {
				b.worker.Reload(congestionOnly(th))
			}
		}
		ended, at := beds[0].worker.Episodes().Ended(next)
		got, next = append(got, ended...), at
	}
	for _, b := range beds { // a minute and more without a packet: nothing is open
		b.now += 80 * int64(time.Second)
		b.worker.Tick(b.now)
	}
	last, _ := beds[0].worker.Episodes().Ended(next)
	for _, b := range beds {
		b.close()
	}
	return append(got, last...)
}

// TestEpisodesAreThoseOfASlowCount: over the same capture, each episode begins and ends with the same packet, has as many
// packets and bytes, and the same peak. The three flows with most bytes are its first three culprits, in their order where
// they are clearly apart, if each has above 5 % of the bytes; no sum is off by more than Space-Saving's bound, a 32nd of all.
func TestEpisodesAreThoseOfASlowCount(t *testing.T) {
	auto := event.Thresholds{CongestionFactor: 8, CongestionLatency: 100_000, CongestionQuota: 32, CongestionTimeout: 100 * ms}
	number := event.Thresholds{CongestionRaise: 8000, CongestionClear: 1000, CongestionQuota: 32, CongestionTimeout: s}
	byLatency, byOccupancy := Rise{Latency: 100_000, Half: 50_000, Timeout: time.Second, Hold: 100 * time.Millisecond, Longest: time.Minute}, Rise{Raise: 8000, Clear: 1000, Timeout: time.Second}
	for _, c := range []struct {
		name    string
		bitmap  uint16
		workers int
		reload  bool
		th      event.Thresholds
		rise    Rise
	}{
		{"by default", intgen.DefaultBitmap, 1, false, auto, byLatency},
		{"two workers", intgen.DefaultBitmap, 2, false, auto, byLatency},
		{"reloads, two workers", intgen.DefaultBitmap, 2, true, auto, byLatency},
		{"nodes and queues alone", bitNode | bitQueue, 1, false, number, byOccupancy},
	} {
		t.Run(c.name, func(t *testing.T) {
			named, episodes := 0, 0
			for seed := range uint64(6) {
				bursts := inBursts(capture(t, seed, c.bitmap, 8), c.workers)
				got := playEpisodes(t, bursts, c.workers, c.reload, c.th)
				want := CountSlowly(slices.Concat(bursts...), c.rise)
				if len(got) != len(want) || len(want) < 4 {
					t.Fatalf("seed %d: %d episodes, want %d", seed, len(got), len(want))
				}
				for i := range got {
					named += checkEpisode(t, &got[i], want)
				}
				episodes += len(got)
			}
			if t.Logf("%d episodes, %d culprits above 5 %%", episodes, named); named < episodes {
				t.Errorf("%d culprits of %d episodes: the captures are too easy", named, episodes)
			}
		})
	}
}

// checkEpisode compares an episode with that of the slow count, and returns how many of its three largest flows have above 5 %.
func checkEpisode(t *testing.T, got *episode.Record, all []*SlowEpisode) (named int) {
	t.Helper()
	name := QueueName{uint32(got.Queue[0] >> 32), uint16(got.Queue[0]), uint8(got.Queue[1])}
	i := slices.IndexFunc(all, func(e *SlowEpisode) bool { return e.QueueName == name && e.Begin == got.Begin })
	if i < 0 {
		t.Errorf("%+v at %d: the slow count has none", name, got.Begin-Epoch)
		return 0
	}
	want := all[i]
	if got.End != want.End || (got.Ended == episode.Silent) != want.Silent || got.Packets != want.Packets || got.Bytes != want.Bytes ||
		got.Bursts != want.Bursts || got.PeakLatency != want.Latency || got.PeakOccupancy != want.Occupancy || got.PeakAt != want.PeakAt {
		t.Errorf("%+v: %d to %d, %v, %d packets, %d bytes, peak %d %d at %d\nwant %+v", name, got.Begin, got.End, got.Ended, got.Packets, got.Bytes,
			got.PeakLatency, got.PeakOccupancy, got.PeakAt, want)
	}
	named = checkFlows(t, "culprits", &got.Culprits, want.OfFlow)
	waited := map[string]uint64{}
	for flow, all := range want.Waited {
		for _, ns := range all {
			if ns > got.UsualLatency {
				waited[flow] += uint64(ns - got.UsualLatency)
			}
		}
	}
	checkFlows(t, "victims", &got.Victims, waited)
	return named
}

// checkFlows compares the flows that an episode names with the sums of all.
func checkFlows(t *testing.T, what string, top *episode.Top, sums map[string]uint64) (named int) {
	t.Helper()
	total := uint64(0)
	var order []string
	for flow, n := range sums {
		total += n
		order = append(order, flow)
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	bound, kept := total/episode.Counters, 2*total/episode.Unshared // by two workers
	most := top.Most(episode.Counters)
	if top.Total != total {
		t.Errorf("%s: %d in all, want %d", what, top.Total, total)
	}
	for place, flow := range order[:min(3, len(order))] {
		if sums[flow]*20 <= total {
			break
		}
		named++
		at := slices.IndexFunc(most, func(c episode.Counter) bool { return inspect.FlowID(&c.Flow) == flow })
		if at < 0 || at > 2 && sums[order[2]] > sums[order[min(3, len(order)-1)]]+bound {
			t.Errorf("%s: %s is number %d with %d of %d, and stands at %d", what, flow, place+1, sums[flow], total, at+1)
		}
	}
	for _, c := range most {
		if is := sums[inspect.FlowID(&c.Flow)]; c.Sum+kept < is || c.Sum-c.Over > is || c.Sum > is+bound {
			t.Errorf("%s: %s has %d, over by %d at most, and is %d of %d", what, inspect.FlowID(&c.Flow), c.Sum, c.Over, is, total)
		}
	}
	return named
}
