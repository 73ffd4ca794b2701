package collect

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"intsink/engine/wire/report"
	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// toldGap is a gap record.
type toldGap struct {
	Type   string `json:"type"`
	NodeID uint32 `json:"node_id"`
	HwID   uint8  `json:"hw_id"`
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Count  uint64 `json:"count"`
}

// gapKeeper is an output that keeps gap records.
type gapKeeper struct {
	slowOutput
	mu   sync.Mutex
	gaps []toldGap
}

func (o *gapKeeper) Send(d *Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n := range d.Count() {
		text := d.Record(JSON, d.Index(n))
		var g toldGap
		if strings.Contains(string(text[:min(len(text), 40)]), `"gap"`) && json.Unmarshal(text, &g) == nil {
			o.gaps = append(o.gaps, g)
		}
	}
	d.Delivered(d.Count())
}

// member is one collector of several behind an address.
type member struct {
	*admitter
	out  *gapKeeper
	dead bool
}

// group is the collectors, and what a fleet of sinks sends to them.
type group struct {
	t       *testing.T
	mu      sync.Mutex // guards dead of members
	members []*member
	live    []int
	next    map[worker]uint64
	first   map[worker]uint64
	stored  map[worker]map[uint64]bool
	known   bool // packets say which sink sent them
	r       *rand.Rand
}

type worker struct {
	node uint32
	hwID uint8
}

// kill has a member receive and answer nothing more. The others wait for it for two seconds.
func (g *group) kill(i int) {
	g.mu.Lock()
	g.members[i].dead = true
	g.mu.Unlock()
	for _, m := range g.members {
		m.c.mu.Lock()
		m.c.peers.most = 2 * time.Second
		m.c.mu.Unlock()
	}
}

// eventually waits until done returns true.
func (g *group) eventually(what string, done func() bool) {
	g.t.Helper()
	for end := time.Now().Add(5 * time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			g.t.Fatalf("waited for: %s", what)
		}
	}
}

func newGroup(t *testing.T, known bool, members int) *group {
	g := &group{t: t, known: known, next: map[worker]uint64{}, first: map[worker]uint64{}, stored: map[worker]map[uint64]bool{}, r: rand.New(rand.NewPCG(1, 2))}
	for range members {
		g.members = append(g.members, &member{})
	}
	for i := range members {
		g.start(i)
	}
	return g
}

// start starts member i, with all others as its peers.
func (g *group) start(i int) {
	m := &member{out: &gapKeeper{}}
	quiet := NewLog(slog.New(slog.NewTextHandler(io.Discard, nil)))
	o := Options{
		Listens: []Listen{{Name: "r", Address: "127.0.0.1:0", Sockets: 1, Buffer: 1 << 16, Streams: 1 << 14}},
		Outputs: []NamedOutput{{"out", m.out}}, Log: quiet, Flush: 10 * time.Second,
		Decoder: func() Decoder { return record.NewDecoder(record.Options{}) },
	}
	for j := range g.members {
		if j != i {
			o.Peers = append(o.Peers, Peer{Name: string(rune('a' + j)), Ask: func(_ context.Context, q []PeerQuestion) ([]streams.Answer, error) {
				g.mu.Lock()
				other := g.members[j]
				dead := other.admitter == nil || other.dead
				g.mu.Unlock()
				if dead {
					return nil, errors.New("connection refused")
				}
				return other.c.Answer(q), nil
			}})
		}
	}
	c := Start(o)
	c.mu.Lock()
	c.peers.most = time.Hour                                                         // whatever else the machine does
	c.listens[0].streams.Remember(time.Now().Add(-time.Hour).UnixNano(), c.peers.id) // as if it had run for an hour
	c.mu.Unlock()
	g.t.Cleanup(func() { c.Stop() })
	m.admitter = &admitter{c: c, l: c.listens[0], m: newMaker(record.NewDecoder(record.Options{}), nil)}
	g.mu.Lock()
	g.members[i] = m
	g.mu.Unlock()
}

// packet is the next report packet of a worker.
func (g *group) packet(w worker) (p []byte, number uint64) {
	number = g.next[w]
	g.next[w]++
	var b report.Packet
	b.Open(make([]byte, 200))
	if g.known {
		b.Identify(uint64(w.node)<<8|7, 1)
	}
	inner := []byte{0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 0, 8, 0, 0}
	b.Append(&report.Individual{RepType: report.InnerOnly, InType: report.IPv4, Inner: inner})
	return b.Seal(report.GroupHeader{NodeID: w.node, HwID: w.hwID, Sequence: uint32(number)}), number
}

// send has each worker send so many packets to the member that its hash says, now and then to another one; some are lost, and so
// are those to a member that is dead.
func (g *group) send(fleet []worker, packets int, loss float64) {
	for range packets {
		for _, w := range fleet {
			p, n := g.packet(w)
			to := g.live[(uint64(w.node)*31+uint64(w.hwID)*7)%uint64(len(g.live))]
			if g.r.IntN(20) == 0 {
				to = g.live[g.r.IntN(len(g.live))]
			}
			m := g.members[to]
			if m.dead || g.r.Float64() < loss {
				continue
			}
			if g.stored[w] == nil {
				g.stored[w], g.first[w] = map[uint64]bool{}, n
			}
			g.stored[w][n] = true
			d := datagram{from: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(w.node)}), 40000), arrived: time.Now().UnixNano(), payload: p}
			taken, gaps := m.c.admit(m.l, m.l.sockets[0], m.m, []datagram{d}, nil, nil)
			if len(taken) != 1 {
				g.t.Fatal("a packet was refused")
			}
			m.c.deliver(m.l, m.m, taken, gaps)
		}
	}
}

// settled waits until all that is missing has been asked for, and told.
func (g *group) settled() {
	g.t.Helper()
	for _, m := range g.members {
		if m.admitter == nil || m.dead {
			continue
		}
		g.eventually("all gaps are told", func() bool {
			m.c.mu.Lock()
			defer m.c.mu.Unlock()
			return len(m.c.peers.pending) == 0 && m.l.streams.Whole()
		})
		g.eventually("all records are delivered", func() bool {
			a := m.c.Snapshot().Outputs[0]
			return a.Queued+a.Waiting == 0
		})
	}
}

// check compares what was told with what was stored. It returns how many numbers are missing, and how many of them stand only in
// gaps of unknown length.
func (g *group) check() (missing, unknown int) {
	g.t.Helper()
	told, from := map[worker]map[uint64]bool{}, map[worker]uint64{}
	for _, m := range g.members {
		if m.admitter == nil {
			continue
		}
		m.out.mu.Lock()
		for _, x := range m.out.gaps {
			w := worker{x.NodeID, x.HwID}
			if x.Count == 0 {
				if first, ok := from[w]; !ok || x.First < first {
					from[w] = x.First
				}
				continue
			}
			for n := x.First; n <= x.Last; n++ {
				if g.stored[w][n] {
					g.t.Fatalf("worker %v: %d to %d is told as lost, but %d is stored", w, x.First, x.Last, n)
				}
				if told[w] == nil {
					told[w] = map[uint64]bool{}
				}
				told[w][n] = true
			}
		}
		m.out.mu.Unlock()
	}
	for w, has := range g.stored {
		last := g.next[w] - 1
		for !has[last] {
			last-- // nothing came behind it
		}
		for n := g.first[w]; n < last; n++ {
			if has[n] || told[w][n] {
				continue
			}
			if first, ok := from[w]; !ok || first > n {
				g.t.Fatalf("worker %v: %d is neither stored nor told", w, n)
			}
			unknown++
		}
		missing += len(told[w])
	}
	return missing + unknown, unknown
}

// TestStreamsThatMove: 100 sinks of 8 workers send to collectors behind one address. Streams move to other collectors and back, a
// collector is added, and one is killed: what was stored by any of them is told as lost by none, and what was lost is told.
func TestStreamsThatMove(t *testing.T) {
	g := newGroup(t, true, 4)
	var fleet []worker
	for i := range uint32(800) {
		fleet = append(fleet, worker{1 + i/8, uint8(i % 8)})
		g.next[fleet[i]] = 4194290
	}
	g.live = []int{0, 1, 2}
	g.send(fleet, 8, 0.03)
	g.live = []int{0, 1, 2, 3} // added: most streams move
	g.send(fleet, 8, 0.03)
	g.settled()
	if missing, unknown := g.check(); missing < 200 || unknown != 0 {
		t.Fatalf("%d missing, %d of them in gaps of unknown length", missing, unknown)
	}
	g.kill(1)
	g.send(fleet, 2, 0) // a quarter goes to nobody
	g.live = []int{0, 2, 3}
	g.send(fleet, 8, 0.03)
	g.settled()
	missing, unknown := g.check()
	if unknown == 0 || unknown == missing {
		t.Errorf("%d missing, %d of them in gaps of unknown length", missing, unknown)
	}
	var elsewhere uint64
	for _, l := range g.members[0].c.Snapshot().Listens {
		elsewhere += l.Elsewhere
	}
	if elsewhere == 0 {
		t.Error("nothing is counted as elsewhere")
	}
}

// TestStreamsThatMoveWithoutIdentity: the same of sinks that do not say who they are, over the wrap of their numbers.
func TestStreamsThatMoveWithoutIdentity(t *testing.T) {
	g := newGroup(t, false, 2)
	var fleet []worker
	for i := range uint32(40) {
		fleet = append(fleet, worker{1 + i/8, uint8(i % 8)})
		g.next[fleet[i]] = 4194290
	}
	g.live = []int{0, 1}
	g.send(fleet, 30, 0.03)
	g.settled()
	missing := 0
	for i, m := range g.members {
		for _, s := range m.c.Snapshot().Listens[0].Streams {
			if s.Unknown > 0 {
				t.Errorf("member %d: %+v", i, s)
			}
			missing += int(s.Lost)
		}
	}
	lost := 0
	for w, has := range g.stored {
		last := slices.Max(keys(has))
		for n := g.first[w]; n < last; n++ {
			if !has[n] {
				lost++
			}
		}
	}
	// Neither knows what came in front of its own first packet.
	if missing > lost || missing < lost/2 || lost == 0 {
		t.Errorf("%d told as lost, %d were", missing, lost)
	}
}

func keys(m map[uint64]bool) (all []uint64) {
	for n := range m {
		all = append(all, n)
	}
	return all
}

// TestLyingPeer: ranges that end before they begin, and more than one that is well tells, make nothing missing that came, and
// nothing grow.
func TestLyingPeer(t *testing.T) {
	q := &question{}
	q.take([]streams.Span{{First: 9, Last: 3}, {First: 5, Last: 6}})
	if left := (streams.Span{First: 1, Last: 10}).Without(q.spans); len(left) != 2 || left[0] != (streams.Span{First: 1, Last: 4}) || left[1] != (streams.Span{First: 7, Last: 10}) {
		t.Errorf("left %v", left)
	}
	if q.take(make([]streams.Span, 1<<16)); len(q.spans) > streams.MaxSpans+1 {
		t.Errorf("%d ranges", len(q.spans))
	}
}
