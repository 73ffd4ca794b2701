package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/distribute"
	"intsink/engine/enginetest"
	"intsink/engine/event"
	"intsink/engine/intgen"
)

// driver is a port in memory as package distribute has it.
type driver struct{ *memQueue }

func (driver) Depth() int { return -1 }

// handler is what the worker of b answers with as the owner of its network port.
func (b *bed) handler() *dealing {
	return &dealing{worker: b.Worker, link: &b.links[0], burst: newBurst(b.fast)}
}

// hashOf is the hash of one frame.
func (b *bed) hashOf(d *dealing, frame []byte) uint8 {
	b.t.Helper()
	b.network.RX = [][]byte{frame}
	v, h := mbuf.NewVec(), [mbuf.MaxBurst]uint8{}
	n := b.network.RxBurst(v)
	d.Hash(v, n, &h)
	b.pool.FreeBulk(v, n)
	return h[0]
}

// In every encapsulation, a packet with INT is hashed by the flow that is watched, parsed or
// by a template, and the same packet without INT goes to the same worker.
func TestPacketsAreHashedByTheFlowThatIsWatched(t *testing.T) {
	forEachEncapsulation(t, func(t *testing.T, e *enclosed) {
		orig, marked := e.frames(t, false)
		b := e.bed(t)
		d := b.handler()
		want := partOf(b.table.Hash(&e.key))
		for _, c := range []struct {
			what  string
			frame []byte
		}{{"with INT", marked}, {"again", marked}, {"without INT", orig}, {"with INT after that", marked}, {"without INT again", orig}} {
			if got := b.hashOf(d, c.frame); got != want {
				t.Errorf("%s: %d, want %d", c.what, got, want)
			}
		}
		for cut := 1; cut < len(marked); cut += 7 { // in two buffers
			v, h := mbuf.NewVec(), [mbuf.MaxBurst]uint8{}
			b.pool.AllocBulk(v, 2)
			copy(v[0].SetLen(cut), marked)
			copy(v[1].SetLen(len(marked)-cut), marked[cut:])
			v[0].Chain(v[1])
			if d.Hash(v, 1, &h); h[0] != want {
				t.Errorf("cut at %d: %d, want %d", cut, h[0], want)
			}
			b.pool.FreeBulk(v, 1)
		}
		b.balance()
	})
}

// A tunnel without INT of its own does not hide the flows in it.
func TestFlowsInTunnelsAreSpread(t *testing.T) {
	b := newBed(t, nil)
	d := b.handler()
	for _, encap := range []intgen.Encap{intgen.VXLAN, intgen.OverGRE, intgen.Geneve} {
		seen := map[uint8]bool{}
		for n := range 200 {
			f, err := tunnel(encap, true, nil).Wrap(plain(n))
			if err != nil {
				t.Fatal(err)
			}
			h := b.hashOf(d, f)
			if inner := b.hashOf(d, plain(n)); h != inner {
				t.Errorf("flow %d in a tunnel: %d, outside %d", n, h, inner)
			}
			seen[h] = true
		}
		if len(seen) < 100 {
			t.Errorf("encapsulation %d: 200 flows have %d hashes", encap, len(seen))
		}
	}
	b.balance()
}

// Random packets of every marking: the hash is that of the key that the worker looks up.
func TestHashesOfRandomPackets(t *testing.T) {
	for m := range intgen.ByGeneve + 1 {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			g := giveBack{bed: newBed(t, nil)}
			g.begin(m)
			r := rand.New(rand.NewPCG(uint64(m), 2))
			sources := g.sources(r, m, 12)
			g.begin(m)
			d := g.handler()
			for range 300 {
				_, frame := sources[r.IntN(len(sources))].next(t, r)
				got := g.hashOf(d, frame)
				g.network.RX = [][]byte{frame}
				g.Poll()
				g.sealed()
				if g.fast.Len() == 1 && got != partOf(g.table.Hash(&g.fast.Keys[0])) {
					t.Errorf("hash %d of\n%x, flow %+v", got, frame, g.fast.Keys[0])
				}
			}
		})
	}
}

// Fragments of a packet go one way, and what is no IP has a worker, too.
func TestHashesOfFragmentsAndOthers(t *testing.T) {
	b := newBed(t, nil)
	d := b.handler()
	first, later := plain(1), plain(1)
	binary.BigEndian.PutUint16(first[20:], 0x2000)
	binary.BigEndian.PutUint16(later[20:], 0x0010)
	binary.BigEndian.PutUint32(later[34:], 0x12345678) // where ports would be
	if x, y := b.hashOf(d, first), b.hashOf(d, later); x != y {
		t.Errorf("fragments of one packet: %d and %d", x, y)
	}
	arp := append(make([]byte, 12), 8, 6)
	for _, f := range [][]byte{arp, append(arp, make([]byte, 46)...), plain(1)[:20], {1}} {
		b.hashOf(d, f)
	}
	b.balance()
}

// twoWorkers are two workers between two ports in memory. The first worker receives from the
// network for both, the second from the hosts.
type twoWorkers struct {
	beds    [2]*bed
	network *memQueue
	host    *memQueue
	ports   [2]*distribute.Port // network, host
	pool    *mbuf.Arena
}

func newTwoWorkers(t *testing.T, room int, ownQueues bool, change func(*Rules)) *twoWorkers {
	pool := arena(t, 2048)
	w := &twoWorkers{pool: pool, network: enginetest.NewPort(pool), host: enginetest.NewPort(pool)}
	driversOf := func(p *memQueue) (all []distribute.Driver) {
		all = append(all, driver{p})
		if ownQueues {
			all = append(all, driver{p})
		}
		return all
	}
	for i, p := range []*memQueue{w.network, w.host} {
		c := distribute.Config{Workers: 2, Owner: i, Rx: []distribute.Driver{driver{p}}, Tx: driversOf(p), Room: room, Pool: pool}
		if i == 0 {
			c.Sharers = []int{0}
		}
		w.ports[i] = distribute.New(c)
	}
	for i := range w.beds {
		b := newBed(t, change)
		b.remake(func(c *WorkerConfig) {
			c.Links = []Link{{Name: "edge", Network: w.ports[0].Queue(i), Host: w.ports[1].Queue(i), NetworkID: 1, HostID: 2}}
			c.PacketPool, c.QueueID, c.Seed = pool, uint8(i), uint64(i)
			c.Flows.Seed = uint64(i)
		})
		w.beds[i] = b
	}
	return w
}

// balance checks that counters of both workers add up, and that all mbufs came home.
func (w *twoWorkers) balance(t *testing.T) (sum LinkCounters) {
	t.Helper()
	for _, b := range w.beds {
		b.Close()
		b.sealed()
		sum.Add(&b.Snapshot().Links[0])
	}
	for d, x := range sum.Direction {
		total := x.Forwarded
		for _, n := range x.Dropped {
			total += n
		}
		if x.Received != total {
			t.Errorf("%v: received %d, forwarded and dropped %d", Direction(d), x.Received, total)
		}
	}
	if n := w.pool.InUse(); n != 0 {
		t.Errorf("%d mbufs did not come home", n)
	}
	return sum
}

// Two workers in software: bytes in are bytes out, flows in order and at one worker each,
// with queues of their own to send by and without, and while rules change.
func TestTwoWorkersInSoftware(t *testing.T) {
	for _, ownQueues := range []bool{true, false} {
		t.Run(fmt.Sprintf("own queues %v", ownQueues), func(t *testing.T) {
			w := newTwoWorkers(t, 256, ownQueues, nil)
			want, back := map[string]int{}, plain(9)
			const flowsOf, packets = 100, 30
			for number := range packets {
				for n := range flowsOf {
					orig := plain(n)
					binary.BigEndian.PutUint32(orig[len(orig)-4:], uint32(number))
					orig[40], orig[41] = 0, 0
					want[string(orig)]++
					w.network.RX = append(w.network.RX, withINT(t, orig, nil))
				}
				w.host.RX = append(w.host.RX, back, back)
				if number == packets/2 {
					for _, b := range w.beds {
						b.Reload(b.config.Rules)
					}
				}
				for range 4 {
					for _, b := range w.beds {
						b.Poll()
						b.step(300_000)
						b.sealed()
					}
				}
			}
			for range 4 {
				w.beds[1].Poll()
				w.beds[0].Poll()
			}
			last := map[uint16]uint32{}
			for _, f := range w.host.TX {
				want[string(f)]--
				flow, number := binary.BigEndian.Uint16(f[28:]), binary.BigEndian.Uint32(f[len(f)-4:])
				if was, ok := last[flow]; ok && number != was+1 {
					t.Errorf("flow %d: packet %d after %d", flow, number, was)
				}
				last[flow] = number
			}
			for f, n := range want {
				if n != 0 {
					t.Fatalf("%d too few of %x", n, f)
				}
			}
			if len(w.network.TX) != 2*packets || !bytes.Equal(w.network.TX[0], back) {
				t.Errorf("%d packets to the network", len(w.network.TX))
			}
			a, b := w.beds[0].table.Len(), w.beds[1].table.Len()
			if a+b != flowsOf || a == 0 || b == 0 {
				t.Errorf("%d and %d flows of %d", a, b, flowsOf)
			}
			if c := w.balance(t); c.Direction[ToHost].Forwarded != flowsOf*packets || c.Direction[ToNetwork].Forwarded != 2*packets {
				t.Errorf("%+v", c.Direction)
			}
		})
	}
}

// A worker that does not poll loses the packets of its flows, which are counted and reported
// as such; the flows of the other one lose none.
func TestFullRingOfAWorker(t *testing.T) {
	w := newTwoWorkers(t, 64, true, func(r *Rules) { r.Watches[0].Policy.Events |= event.Drop.Set() })
	const packets = 512
	for n := range packets {
		w.network.RX = append(w.network.RX, withINT(t, plain(n), nil))
	}
	for range packets {
		w.beds[0].Poll()
	}
	reports := w.beds[0].Snapshot
	w.beds[0].step(2e6)
	c, k := reports(), w.ports[0].Counters(1)
	d := c.Links[0].Direction[ToHost]
	if k.Waiting != 64 || k.Dropped == 0 || d.Dropped[DropRingFull] != k.Dropped || d.Received != packets-64 || d.Forwarded != d.Received-k.Dropped {
		t.Errorf("%+v, %+v", k, d)
	}
	if c.Detector.Fired[event.Drop] != k.Dropped || c.Reported[event.Drop] == 0 {
		t.Errorf("%d events, %d reports of drops, want an event for each of %d", c.Detector.Fired[event.Drop], c.Reported[event.Drop], k.Dropped)
	}
	w.beds[1].Poll()
	if sum := w.balance(t); sum.Direction[ToHost].Received != packets {
		t.Errorf("%+v", sum.Direction[ToHost])
	}
}

// What was handed over to be sent and has not left when all is over counts as dropped.
func TestUnsent(t *testing.T) {
	w := newTwoWorkers(t, 64, false, nil)
	w.host.Room = 0
	for n := range 64 {
		w.network.RX = append(w.network.RX, withINT(t, plain(n), nil))
	}
	w.beds[0].Poll() // hands to the other worker what is its, and its own packets to be sent
	w.beds[1].Poll() // is the owner of the host port, which takes nothing
	for _, b := range w.beds {
		b.Close()
	}
	unsent := 0
	w.ports[1].Free(func(worker, n int) {
		unsent += n
		w.beds[worker].Unsent(w.ports[1].Queue(worker), n)
	})
	sum := w.balance(t)
	if d := sum.Direction[ToHost]; unsent == 0 || d.Forwarded != 0 || d.Dropped[DropTxFull] != 64 {
		t.Errorf("%d were unsent; %+v", unsent, d)
	}
}

// A poll whose packets all went to others is not idle.
func TestDealtPollIsNotIdle(t *testing.T) {
	w := newTwoWorkers(t, 256, true, nil)
	b := w.beds[0]
	var mine, theirs []byte
	for n := 0; mine == nil || theirs == nil; n++ {
		f := withINT(t, plain(n), nil)
		w.network.RX = [][]byte{f}
		if b.Poll() > 0 {
			mine = f
		} else {
			theirs = f
		}
	}
	w.network.RX, b.dealt = [][]byte{theirs}, false
	idle := 0
	b.Run(Idle{Sleep: func() {
		if idle++; idle == 1 {
			b.Stop()
		}
		if b.empty != 1 {
			t.Errorf("%d empty polls in a row", b.empty)
		}
	}})
	c := b.Snapshot()
	if c.Pace.Polls[1] != 1 || c.Pace.Polls[0] != 1 {
		t.Errorf("%v polls without and with packets, want one each", c.Pace.Polls)
	}
	w.beds[1].Poll()
	w.balance(t)
}

// The hash of a packet costs no allocation, whatever it is.
func TestHashDoesNotAllocate(t *testing.T) {
	b := newBed(t, nil)
	d := b.handler()
	tunnelled, err := tunnel(intgen.VXLAN, true, nil).Wrap(plain(3))
	if err != nil {
		t.Fatal(err)
	}
	b.network.RX = [][]byte{withINT(t, plain(1), nil), plain(2), tunnelled, append(make([]byte, 12), 8, 6)}
	v, h := mbuf.NewVec(), [mbuf.MaxBurst]uint8{}
	n := b.network.RxBurst(v)
	if allocs := testing.AllocsPerRun(100, func() { d.Hash(v, n, &h) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	b.pool.FreeBulk(v, n)
	b.balance()
}

// TestDealingOfDamagedFrames: whatever a frame's bytes are, the worker that receives it deals it by the
// hash that the flow table has for its flow.
func TestDealingOfDamagedFrames(t *testing.T) {
	frames := [][]byte{plain(1), withINT(t, plain(1), nil)}
	for _, e := range encapsulations() {
		_, marked := e.frames(t, false)
		frames = append(frames, marked)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, frame := range frames {
		for range 20 {
			damaged := bytes.Clone(frame)
			for range 1 + r.IntN(4) {
				damaged[r.IntN(len(damaged))] = byte(r.Uint32())
			}
			dealDamaged(t, damaged[:1+r.IntN(len(damaged))])
			dealDamaged(t, damaged)
		}
	}
}

func dealDamaged(t *testing.T, frame []byte) {
	t.Helper()
	b := newBed(t, func(r *Rules) { r.INT = everyMarking() })
	got := b.hashOf(b.handler(), frame)
	b.network.RX = [][]byte{frame}
	b.Poll()
	if b.fast.Len() == 1 {
		if k := b.fast.Keys[0]; got != partOf(b.table.Hash(&k)) {
			t.Errorf("hash %d of\n%x, flow %+v", got, frame, k)
		}
	}
	b.balance()
	b.Release()
}
