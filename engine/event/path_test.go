package event

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// TestWayIsTheCurrentPath: a detector that compares paths word by word finds the same events as
// one that hashes the path of each packet. Paths change and come back, nodes are elsewhere or
// twice, words are unknown, and some paths have more hops than a flow stores.
func TestWayIsTheCurrentPath(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	told := 0
	for seed := range uint64(200) {
		p := defaults(NewFlow, PathChange, HopLatency, EndToEnd, Refresh)
		p.Thresholds.EndToEnd = Deadband{Absolute: 50_000, Relative: 0.5, K: 2, N: 4, Interval: 100 * ms}
		p.Thresholds.PathRate, p.Thresholds.Paths, p.Thresholds.ReportKnown = r.IntN(3), r.IntN(4), r.IntN(2) == 0
		a, b := New([]Policy{p}, seed), New([]Policy{p}, seed)
		var f, g flows.Flow
		ways := someWays(r)
		hops := ways[0]
		for now, n := 10*second, 0; n < 300; n++ {
			if now += r.Int64N(second / 10); r.IntN(8) == 0 {
				hops = ways[r.IntN(len(ways))]
			}
			for i := range hops {
				hops[i].latency = 20_000 + uint32(r.IntN(1000))
				if r.IntN(100) == 0 {
					hops[i].latency = r.Uint32()
				}
			}
			o := observe(hops)
			o.Info.MTUExceeded = r.IntN(20) == 0
			want := b.Packet(now, &g, n == 0, 0, o)
			o.Common = !o.Info.MTUExceeded
			if got := a.Packet(now, &f, n == 0, 0, o); got != want {
				t.Fatalf("seed %d, packet %d: events %b, want %b", seed, n, got, want)
			}
			if want != 0 {
				told++
			}
			if f.PathHash != g.PathHash || f.PathSeen != g.PathSeen || f.NumPaths != g.NumPaths || f.EndRef != g.EndRef || f.NextRefresh != g.NextRefresh {
				t.Fatalf("seed %d, packet %d: the flow is\n%+v, want\n%+v", seed, n, f, g)
			}
		}
	}
	if told < 2000 {
		t.Errorf("%d packets gave events", told)
	}
}

// someWays are paths that differ in little.
func someWays(r *rand.Rand) (ways [][]hop) {
	base := make([]hop, 1+r.IntN(flows.MaxHops+3))
	for i := range base {
		base[i] = hop{node: uint32(100 + i), ports: uint32(i)<<16 | 7}
	}
	for range 5 {
		way := append([]hop(nil), base[r.IntN(len(base)):]...)
		switch h := &way[r.IntN(len(way))]; r.IntN(8) {
		case 0:
			h.ports ^= 1 << r.IntN(32)
		case 1:
			h.node = way[0].node
		case 2:
			h.ports = unknown32
		case 3:
			h.node = unknown32
		case 4:
			r.Shuffle(len(way), func(i, j int) { way[i], way[j] = way[j], way[i] })
		}
		ways = append(ways, way)
	}
	return append(ways, base)
}

// TestWayWithoutAHop: another node has taken the place of one of the path in the flow's hops. A
// packet by that node is on another path all the same.
func TestWayWithoutAHop(t *testing.T) {
	f := start(t, defaults(PathChange, HopLatency))
	way := make([]hop, flows.MaxHops)
	for i := range way {
		way[i] = hop{node: uint32(100 + i), latency: 20_000}
	}
	o := observe(way)
	o.Common = true
	f.observed(0, o, 0)
	way[3].node = 200
	cut := observe(way)
	cut.Info.MTUExceeded = true // no evidence of its path
	f.observed(ms, cut, 0)
	if f.f.Hops[3].ID() != 200 {
		t.Fatalf("hops %+v", f.f.Hops)
	}
	o = observe(way)
	o.Common = true
	f.observed(ms, o, PathChange.Set())
}

// TestStorePath: a path is stored if the flow has room for its hops and, where latencies are watched, knows them all.
func TestStorePath(t *testing.T) {
	for _, c := range []struct {
		name    string
		events  Set
		hops    int
		known   int // of those of the flow
		want    uint8
		numHops uint8
	}{
		{"as many hops as there is room for", PathChange.Set(), flows.MaxHops, 0, flows.MaxHops, flows.MaxHops},
		{"one more", PathChange.Set(), flows.MaxHops + 1, 0, 0, 0},
		{"all known", PathChange.Set() | HopLatency.Set(), 3, 3, 3, 3},
		{"others known, too", PathChange.Set() | HopLatency.Set(), 3, 5, 3, 5},
		{"known to another watch, whose references stay", PathChange.Set(), 3, 5, 3, 5},
		{"two known to another watch", PathChange.Set(), 3, 2, 3, 3},
		{"one not known", PathChange.Set() | HopLatency.Set(), 3, 2, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			way := make([]hop, c.hops)
			for i := range way {
				way[i] = hop{node: uint32(100 + i), ports: uint32(i)<<16 | 7}
			}
			o := observe(way)
			var f flows.Flow
			for i := range c.known { // in the opposite order
				f.Hops[c.known-1-i] = flows.Hop{Node: bits.ReverseBytes32(uint32(100 + i)), Ref: uint32(i)}
				f.SetWindow(c.known-1-i, uint8(i))
			}
			f.NumHops = uint8(c.known)
			storePath(&f, &Policy{Events: c.events}, o)
			if f.PathHops != c.want || f.NumHops != c.numHops {
				t.Fatalf("%d hops stored of %d, want %d of %d", f.PathHops, f.NumHops, c.want, c.numHops)
			}
			for i := range int(c.want) {
				want := flows.Hop{Node: bits.ReverseBytes32(uint32(100 + i)), Interfaces: bits.ReverseBytes32(uint32(i)<<16 | 7), Ref: unknown32}
				if i < c.known {
					want.Ref = uint32(i)
				}
				if f.Hops[i] != want || i < c.known && f.Window(i) != uint8(i) {
					t.Errorf("hop %d: %+v, window %d; want %+v", i, f.Hops[i], f.Window(i), want)
				}
			}
		})
	}
}

// TestWhatIsEvidenceOfAPath: node and interfaces alone are, and level-2 interfaces if both are known.
func TestWhatIsEvidenceOfAPath(t *testing.T) {
	const short = inthdr.BitNodeID | inthdr.BitLevel1Interfaces
	for _, c := range []struct {
		name   string
		bitmap uint16
		first  []uint32
		second []uint32
		want   Set
	}{
		{"as before", short, []uint32{101, 0x10002}, []uint32{101, 0x10002}, 0},
		{"another interface", short, []uint32{101, 0x10002}, []uint32{101, 0x10003}, PathChange.Set()},
		{"another level-2 ingress", short | inthdr.BitLevel2Interfaces, []uint32{101, 0x10002, 5, 6}, []uint32{101, 0x10002, 7, 6}, PathChange.Set()},
		{"another level-2 egress", short | inthdr.BitLevel2Interfaces, []uint32{101, 0x10002, 5, 6}, []uint32{101, 0x10002, 5, 7}, PathChange.Set()},
		{"unknown level-2 ingress", short | inthdr.BitLevel2Interfaces, []uint32{101, 0x10002, 5, 6}, []uint32{101, 0x10002, unknown32, 6}, 0},
		{"unknown level-2 egress", short | inthdr.BitLevel2Interfaces, []uint32{101, 0x10002, 5, 6}, []uint32{101, 0x10002, 5, unknown32}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, defaults(PathChange))
			defer f.d.Close()
			for n, words := range [][]uint32{c.first, c.second} {
				var b []byte
				for _, w := range words {
					b = binary.BigEndian.AppendUint32(b, w)
				}
				layout := inthdr.LayoutOf(c.bitmap, inthdr.Format2)
				if int(layout.HopLen) != len(b) {
					t.Fatalf("a hop of %d bytes, want %d", layout.HopLen, len(b))
				}
				f.observed(ms, &Observation{Frame: b, Layout: &layout, Info: &inthdr.Info{
					Type: inthdr.MD, Bitmap: c.bitmap, HopLen: uint16(len(b)), Hops: 1, StackLen: uint16(len(b)),
				}}, Set(n)*c.want)
			}
		})
	}
}

// TestFullFlowKeepsThePath: where a flow knows as many hops as it can, a new one takes the place of one that the packet does
// not pass.
func TestFullFlowKeepsThePath(t *testing.T) {
	var f flows.Flow
	for i := range f.Hops {
		f.Hops[i] = flows.Hop{Node: bits.ReverseBytes32(uint32(100 + i)), Ref: uint32(i)}
	}
	f.NumHops = flows.MaxHops
	o := observe([]hop{{node: 999, ports: 7}, {node: 100, ports: 7}, {node: 101, ports: 7}})
	storePath(&f, &Policy{Events: PathChange.Set()}, o)
	for i, ref := range []uint32{unknown32, 0, 1} {
		if f.PathHops != 3 || f.Hops[i].Ref != ref || f.Hops[i].Interfaces != bits.ReverseBytes32(7) {
			t.Errorf("%d hops are stored, hop %d is %+v; want 3, reference %d", f.PathHops, i, f.Hops[i], ref)
		}
	}
}

// TestWhichPathIsForgotten: where a flow has no room for another path, the one of the others that it was not on for longest
// goes, wherever it stands.
func TestWhichPathIsForgotten(t *testing.T) {
	for _, c := range []struct {
		paths int
		ways  string // a letter is a path: a packet on it, then
		known string // these are remembered,
		gone  string // and this is not
	}{
		{4, "ABCDE", "DCB", "A"},
		{4, "ABCDAE", "ADC", "B"},
		{4, "ABCDABE", "BAD", "C"},
		{4, "ABCDBAE", "ABD", "C"},
		{4, "ABCDEF", "EDC", "B"},
		{2, "ABC", "B", "A"},
		{1, "AB", "", "A"},
	} {
		t.Run(c.ways, func(t *testing.T) {
			p := defaults(PathChange)
			p.Thresholds.Paths, p.Thresholds.PathRate = c.paths, 0
			f := start(t, p)
			defer f.d.Close()
			on := func(ways string, want func(way string) Set) {
				t.Helper()
				for _, way := range ways {
					if set := f.look(10*ms, observe(path(uint32(way), 0))); set != want(string(way)) {
						t.Errorf("on %c: %b, want %b", way, set, want(string(way)))
					}
				}
			}
			seen := c.ways[:1]
			on(c.ways, func(way string) Set {
				if strings.Contains(seen, way) {
					return 0
				}
				seen += way
				return PathChange.Set()
			})
			on(c.known, func(string) Set { return 0 })
			on(c.gone, func(string) Set { return PathChange.Set() })
		})
	}
}

// TestPathMemory: a path that is seen again after its memory, to the unit of flows.LongTick, is known; later it is not.
func TestPathMemory(t *testing.T) {
	const tick = int64(1 << 20)
	for _, c := range []struct {
		after int64
		want  Set
	}{{60_000 * tick, 0}, {60_001 * tick, PathChange.Set()}} {
		p := defaults(PathChange)
		p.Thresholds.PathMemory = 60_000 * tick
		f := start(t, p)
		f.now = 1000 * tick
		f.look(0, observe(path(2, 0)))
		f.look(tick, observe(path(3, 0)))
		if set := f.look(c.after-tick, observe(path(2, 0))); set != c.want {
			t.Errorf("after %d ticks: %b, want %b", c.after/tick, set, c.want)
		}
		f.d.Close()
	}
}
