package looptest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/eal"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
	"intsink/dpdk/mempool"
	"intsink/dpdk/ring"
	"intsink/engine"
	"intsink/engine/aside/mitigate"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/selector"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

func TestMain(m *testing.M) { dpdktest.Main(m) }

const (
	fromNetwork = 20000
	fromHost    = 700
)

// watched counts the bursts that Go receives and transmits itself; C uses the queue behind it.
type watched struct {
	*ethdev.Queue
	bursts *atomic.Int64
}

func (q watched) RxBurst(v *mbuf.Vec) int {
	n := q.Queue.RxBurst(v)
	q.count(n)
	return n
}

func (q watched) count(n int) {
	if n > 0 {
		q.bursts.Add(1)
	}
}

// outcome is what must be the same whoever polls.
type outcome struct {
	Links   []engine.LinkCounters
	Fired   any
	Flows   uint64
	Reports uint64
	frames  [burst.NumDirections][][]byte
}

// TestLoopInC: a worker that C polls for forwards the same bytes, counts the same and reports the
// same events as one that polls in Go; Go itself receives few bursts then.
func TestLoopInC(t *testing.T) {
	dir := t.TempDir()
	network, host := frames(t)
	in, back := filepath.Join(dir, "network.pcap"), filepath.Join(dir, "host.pcap")
	dpdktest.WritePcap(t, in, network)
	dpdktest.WritePcap(t, back, host)
	offset, err := eal.MonotonicOffset()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("no rules", func(t *testing.T) { sameInC(t, dir, 0, in, back, offset, nil) })
	first := intgen.NthFlow(3, false, false).Src
	t.Run("rules of mitigation", func(t *testing.T) {
		sameInC(t, dir, 2, in, back, offset, &selector.Match{Source: []netip.Prefix{netip.PrefixFrom(first, first.BitLen())}})
	})
}

func sameInC(t *testing.T, dir string, n int, in, back string, offset int64, drops *selector.Match) {
	inGo, bursts := run(t, dir, n, in, back, 0, drops)
	inC, ofGo := run(t, dir, n+1, in, back, offset, drops)
	for i, of := range inGo.frames {
		if !slices.EqualFunc(of, inC.frames[i], bytes.Equal) {
			t.Errorf("other frames to the %v: %d in Go, %d in C", burst.Direction(i), len(of), len(inC.frames[i]))
		}
	}
	if d := cmp.Diff(inGo, inC, cmpopts.IgnoreUnexported(outcome{})); d != "" {
		t.Errorf("in Go (-) and C (+):\n%s", d)
	}
	if n := len(inC.frames[burst.ToHost]); n < fromNetwork*9/10 {
		t.Errorf("%d of %d frames have reached the host", n, fromNetwork)
	}
	if dropped := inC.Links[1].Direction[burst.ToHost].Dropped[burst.DropRule]; drops != nil && dropped < fromNetwork/100 {
		t.Errorf("%d packets were dropped by the rule", dropped)
	}
	if ofGo*10 > bursts {
		t.Errorf("Go received %d bursts while C polled, %d without it", ofGo, bursts)
	}
}

// run has a worker take all frames from one capture to the other, both ways. It returns how many
// bursts Go received.
func run(t *testing.T, dir string, n int, in, back string, offset int64, drops *selector.Match) (o outcome, received int64) {
	pool, reports := dpdktest.Pool(t, fmt.Sprint("packets", n)), dpdktest.Pool(t, fmt.Sprint("reports", n))
	outs := []string{filepath.Join(dir, fmt.Sprint("tonetwork", n)), filepath.Join(dir, fmt.Sprint("tohost", n))}
	var bursts atomic.Int64
	network, host := dpdktest.Start(t, dpdktest.Pcap(2*n, in, outs[0]), dpdktest.OnePair(pool)), dpdktest.Start(t, dpdktest.Pcap(2*n+1, back, outs[1]), dpdktest.OnePair(pool))
	idle := dpdktest.Start(t, dpdktest.Sink(80+n), dpdktest.OnePair(pool))
	w := newWorker(idle, watched{network.Queue(0), &bursts}, watched{host.Queue(0), &bursts}, pool, reports, offset)
	if drops != nil {
		now := eal.Nanotime()
		engine.AsideOf[*mitigate.Aside](w.Worker).Mitigate(mitigate.New([]*mitigate.Rule{mitigate.NewRule(1, *drops, mitigate.Drop, 0, now, math.MaxInt64, 1)}))
		w.Tick(now)
	}
	ended := dpdktest.Worker(func() { w.Run(engine.Idle{}) })
	deadline := time.Now().Add(time.Minute)
	for { // until it has taken all, and polled once more
		c := w.Snapshot()
		d := c.Links[1].Direction
		if d[burst.ToHost].Received >= fromNetwork && d[burst.ToNetwork].Received >= fromHost && c.Pace.Polls[0] > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute: %+v, %+v", d, c.Pace)
		}
		time.Sleep(time.Millisecond)
	}
	w.Stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	c := w.Snapshot()
	w.release(reports)
	for _, p := range []ethdev.Port{idle, network, host} {
		p.Close()
	}
	if p := c.Pace; p.BurstPackets != fromNetwork+fromHost || p.Polls[0] == 0 || p.Polls[1] == 0 || p.BusyNs <= 0 || p.BusyNs > p.TotalNs || p.Bursts == [engine.BurstSizes]uint64{} {
		t.Errorf("pace of worker %d: %+v", n, p)
	}
	return outcome{
		frames: [burst.NumDirections][][]byte{burst.ToHost: dpdktest.ReadPcap(t, outs[1]), burst.ToNetwork: dpdktest.ReadPcap(t, outs[0])},
		Links:  c.Links, Fired: c.Detector.Fired, Flows: c.Flows, Reports: c.Collectors[0].Reports,
	}, bursts.Load()
}

// TestNoSleepBehindABurst: a worker that had nothing to do does not sleep after a poll that found a
// packet for Go.
func TestNoSleepBehindABurst(t *testing.T) {
	offset, err := eal.MonotonicOffset()
	if err != nil {
		t.Fatal(err)
	}
	pool, reports := dpdktest.Pool(t, "looped"), dpdktest.Pool(t, "reports of looped")
	network, host := dpdktest.Start(t, dpdktest.Ring(90), dpdktest.OnePair(pool)), dpdktest.Start(t, dpdktest.Sink(91), dpdktest.OnePair(pool))
	idle := dpdktest.Start(t, dpdktest.Sink(92), dpdktest.OnePair(pool))
	w := newWorker(idle, network.Queue(0), host.Queue(0), pool, reports, offset)
	s := &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	const packets = 50
	var frames [packets][]byte
	for i := range frames {
		if frames[i], err = s.Insert(intgen.NthFlow(i, false, false).Frame(100, 1), []intgen.Hop{{NodeID: 1, LatencyNs: 5}}); err != nil {
			t.Fatal(err)
		}
	}
	sleeps, v := 0, mbuf.NewVec()
	sleep := engine.Idle{Sleep: func() {
		if sleeps++; sleeps > packets || !pool.AllocBulk(v, 1) {
			w.Stop()
			return
		}
		f := frames[sleeps-1]
		copy(v[0].SetLen(len(f)), f)
		network.Queue(0).TxBurst(v, 1)
	}}
	if err := <-dpdktest.Worker(func() { w.Run(sleep) }); err != nil {
		t.Fatal(err)
	}
	c := w.Snapshot()
	w.release(reports)
	for _, p := range []ethdev.Port{idle, network, host} {
		p.Close()
	}
	if c.Links[1].Direction[burst.ToHost].Forwarded != packets || c.Flows != packets || c.Pace.Polls[0] != uint64(sleeps) || c.Pace.Polls[1] != packets {
		t.Errorf("%d sleeps, %v polls that found nothing and something, %d flows, %+v", sleeps, c.Pace.Polls, c.Flows, c.Links[1].Direction)
	}
}

// worker is a worker of two links, with the ring of its report packets. The first has nothing to do.
type worker struct {
	*engine.Worker
	sealed *ring.Ring
}

func newWorker(idle ethdev.Port, network, host burst.Queue, pool, reports *mempool.Mempool, offset int64) worker {
	sealed := ring.New(4096)
	return worker{engine.NewWorker(engine.WorkerConfig{
		Links:   []burst.Link{{Name: "idle", Network: idle.Queue(0), Host: idle.Queue(0), NetworkID: 3, HostID: 4}, {Name: "edge", Network: network, Host: host, NetworkID: 1, HostID: 2, Droppable: true}},
		Outlets: []reporting.Outlet{{Ring: sealed}}, PacketPool: pool, ReportPool: reports,
		Seed: 7, Rules: rules(), Flows: flows.Config{Capacity: 4096, Seed: 7, IdleTimeout: 300e9},
		Clock: eal.Nanotime, LoopClock: offset,
	}), sealed}
}

// release frees what the worker has left behind.
func (w worker) release(reports *mempool.Mempool) {
	v := mbuf.NewVec()
	for n := w.sealed.Pop(v, mbuf.MaxBurst); n > 0; n = w.sealed.Pop(v, mbuf.MaxBurst) {
		reports.FreeBulk(v, n)
	}
	w.Release()
}

// rules report events that do not depend on when packets come.
func rules() *engine.Rules {
	port := uint16(5000)
	p := event.Policy{Events: event.NewFlow.Set() | event.PathChange.Set() | event.HopLatency.Set()}
	p.Thresholds = event.Thresholds{
		NewFlowRate: 1e6, Paths: 4, PathMemory: 600e9, PathRate: 1e6,
		Latency: event.Deadband{Absolute: 10_000, K: 1, N: 1},
	}
	return &engine.Rules{
		INT:        inthdr.Config{UDPPort: &port, Version2: true},
		Watches:    []watch.Watch{{Name: "all", Policy: p, Collectors: 1}},
		Collectors: []reporting.Collector{{Address: netip.MustParseAddrPort("192.0.2.10:8555"), MaxPayload: 1358}},
		Report:     reporting.Rules{Fragment: 128, MaxDelay: 1e6},
	}
}

// frames are those of many flows, most of them as their flow's last one: some have another path or
// latency, no INT, or broken INT. From the host some have INT, which leaks.
func frames(t *testing.T) (network, host [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	s := &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	hops := make([][]intgen.Hop, 50)
	for i := range hops {
		for h := range 3 {
			hops[i] = append(hops[i], intgen.Hop{NodeID: uint32(10*i + h), Ingress: 1, Egress: 2, LatencyNs: 50_000})
		}
	}
	mx := &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Type: intgen.TypeMX, Bitmap: intgen.DefaultBitmap}
	insert := func(i int, f []byte) []byte {
		source, hops := s, hops[i]
		if i%10 == 9 {
			source, hops = mx, nil
		}
		f, err := source.Insert(f, hops)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for n := range fromNetwork {
		i := r.IntN(len(hops))
		f := intgen.NthFlow(i, false, i%5 == 0).Frame(100+r.IntN(400), uint32(n))
		if n%8 != 0 {
			hops[i][1].LatencyNs = 50_000 + uint32(r.IntN(500))
		}
		switch r.IntN(4000) {
		case 0:
			hops[i][1].Egress ^= 4
		case 1:
			hops[i][0].LatencyNs ^= 1 << 20
		}
		if r.IntN(10) > 0 {
			f = insert(i, f)
		}
		if r.IntN(2000) == 0 {
			f = f[:len(f)-len(f)/3] // malformed
		}
		network = append(network, f)
	}
	for n := range fromHost {
		f := intgen.NthFlow(n%70, n%2 == 0, false).Frame(200, uint32(n))
		if n%100 == 99 {
			f = insert(0, intgen.NthFlow(1, false, false).Frame(200, uint32(n)))
		}
		host = append(host, f)
	}
	return network, host
}
