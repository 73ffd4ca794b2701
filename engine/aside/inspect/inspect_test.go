package inspect

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

func key(n int) (k flows.Key) {
	k.SetIPv4(10<<24|uint32(n), 11<<24|uint32(n%7))
	k.SetPorts(4, uint8(6+11*(n%2)), uint16(1000+n), 80)
	return k
}

// source has n flows with random counts.
func source(t *testing.T, n int) (*Source, []*flows.Flow) {
	table := flows.New(flows.Config{Capacity: 4 * n, Seed: 9, IdleTimeout: 1e9})
	t.Cleanup(table.Close)
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]*flows.Flow, n)
	for i := range n {
		k := key(i)
		table.LookupBurst(int64(i+1)*1e6, []flows.Key{k}, []uint64{table.Hash(&k)}, all[i:i+1])
		f := all[i]
		for range r.IntN(4) + 1 { // few values: ties
			f.Count(100)
		}
		f.SetEndRef(uint32(r.IntN(5)) * 1000)
		if i%3 == 0 {
			l, _ := f.Loss()
			l.Lost = uint64(i % 5)
		}
		f.Hops[0], f.NumHops = flows.Hop{Node: 7 << 24, Ref: uint32(r.IntN(100))}, 1
		f.PathHash, f.NumPaths, f.Generation, f.Watch = uint64(i%3)+1, 1, 1, uint8(i%2)
	}
	return &Source{Table: table, Generation: 1}, all
}

func answer(q *Query, s *Source, watch, budget int) *Query {
	q.Begin(watch)
	for done := false; !done; {
		_, done = q.Step(s, 1e12, budget)
	}
	return q
}

// TestPagesAreTheOrder: page after page gives every flow once, in order, for every
// order and any size of slices.
func TestPagesAreTheOrder(t *testing.T) {
	s, all := source(t, 200)
	for _, order := range []Order{ByPackets, ByBytes, ByLastSeen, ByLatency, ByHopLatency, ByLost} {
		want := make([]Position, len(all))
		for i, f := range all {
			want[i] = Position{order.of(f), f.Key}
		}
		slices.SortFunc(want, func(a, b Position) int {
			if a.Before(&b) {
				return -1
			}
			return 1
		})
		var got []Position
		var after *Position
		for page := 0; len(got) < len(want); page++ {
			q := New(BestFlows, 7)
			q.Order, q.After = order, after
			answer(q, s, -1, 1+page*13)
			if q.Scanned != 200 || q.Matched != 200 || len(q.Best()) == 0 {
				t.Fatalf("order %d: scanned %d, matched %d, found %d", order, q.Scanned, q.Matched, len(q.Best()))
			}
			for _, f := range q.Best() {
				got = append(got, f.Position)
			}
			after = &got[len(got)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("order %d: the pages are not the order", order)
		}
	}
}

func TestFilters(t *testing.T) {
	s, all := source(t, 200)
	u8 := func(v uint8) *uint8 { return &v }
	u16 := func(v uint16) *uint16 { return &v }
	u32 := func(v uint32) *uint32 { return &v }
	prefix := func(p string) Prefix { return PrefixOf(netip.MustParsePrefix(p)) }
	for name, c := range map[string]struct {
		filter Filter
		watch  int
		want   func(i int, f *flows.Flow) bool
	}{
		"all":         {Filter{}, -1, func(int, *flows.Flow) bool { return true }},
		"watch":       {Filter{Watch: "x"}, 1, func(i int, _ *flows.Flow) bool { return i%2 == 1 }},
		"no watch":    {Filter{Watch: "x"}, -1, func(int, *flows.Flow) bool { return false }},
		"source":      {Filter{Source: prefix("10.0.0.64/26")}, -1, func(i int, _ *flows.Flow) bool { return i/64 == 1 }},
		"everywhere":  {Filter{Source: prefix("0.0.0.0/0")}, -1, func(int, *flows.Flow) bool { return true }},
		"ipv6":        {Filter{Source: prefix("::/0")}, -1, func(int, *flows.Flow) bool { return false }},
		"destination": {Filter{Destination: prefix("11.0.0.3/32")}, -1, func(i int, _ *flows.Flow) bool { return i%7 == 3 }},
		"protocol":    {Filter{Protocol: u8(17)}, -1, func(i int, _ *flows.Flow) bool { return i%2 == 1 }},
		"port":        {Filter{Port: u16(1005)}, -1, func(i int, _ *flows.Flow) bool { return i == 5 }},
		"either port": {Filter{Port: u16(80)}, -1, func(int, *flows.Flow) bool { return true }},
		"source port": {Filter{SourcePort: u16(80)}, -1, func(int, *flows.Flow) bool { return false }},
		"latency":     {Filter{MinLatency: 3000}, -1, func(_ int, f *flows.Flow) bool { return f.EndRef >= 3000 }},
		"hop latency": {Filter{MinHop: 50}, -1, func(_ int, f *flows.Flow) bool { return f.Hops[0].Ref >= 50 }},
		"paths":       {Filter{ByPath: true, OnPaths: []uint64{1, 3}}, -1, func(i int, _ *flows.Flow) bool { return i%3 != 1 }},
		"no path":     {Filter{ByPath: true, Node: u32(7)}, -1, func(int, *flows.Flow) bool { return false }},
	} {
		q := New(BestFlows, 500)
		q.Filter = c.filter
		answer(q, s, c.watch, 100)
		got := map[flows.Key]bool{}
		for _, f := range q.Best() {
			got[f.Key] = true
		}
		for i, f := range all {
			if got[f.Key] != c.want(i, f) {
				t.Errorf("%s: flow %d selected: %v", name, i, got[f.Key])
				break
			}
		}
	}
	s.Table.Find(&all[3].Key).NumPaths = 0
	q := New(BestFlows, 500)
	q.Filter = Filter{ByPath: true, Node: u32(7)}
	if answer(q, s, -1, 100); q.Matched != 1 || q.Best()[0].Key != all[3].Key {
		t.Errorf("%d flows without a path match by their hops, want 1", q.Matched)
	}
}

func TestIPv6Prefixes(t *testing.T) {
	for _, c := range []struct {
		prefix, addr string
		want         bool
	}{
		{"2001:db8::/32", "2001:db8:ffff::1", true}, {"2001:db8::/32", "2001:db9::1", false},
		{"2001:db8::/64", "2001:db8::1:0:0:1", true}, {"2001:db8::/65", "2001:db8::8000:0:0:1", false},
		{"2001:db8::1/128", "2001:db8::1", true}, {"2001:db8::1/128", "2001:db8::2", false}, {"::/0", "::1", true},
	} {
		a := netip.MustParseAddr(c.addr).As16()
		var w [2]uint64
		for i, b := range a {
			w[i/8] = w[i/8]<<8 | uint64(b)
		}
		p := PrefixOf(netip.MustParsePrefix(c.prefix))
		if p.contains(6, w) != c.want || p.contains(4, w) {
			t.Errorf("%s contains %s: want %v", c.prefix, c.addr, c.want)
		}
	}
}

func TestTotalsOfPaths(t *testing.T) {
	s, all := source(t, 200)
	all[0].NumPaths = 0
	q := answer(New(PathTotals, 0), s, -1, 50)
	flowsOn, packets := map[uint64]uint64{}, uint64(0)
	for p := range q.Totals.All {
		flowsOn[p.Hash] += p.Flows
		packets += p.Packets
	}
	if q.Totals.Pathless != 1 || flowsOn[1] != 66 || flowsOn[2] != 67 || flowsOn[3] != 66 || packets == 0 {
		t.Errorf("%v, %d pathless", flowsOn, q.Totals.Pathless)
	}
	var full Totals = newTotals()
	for i := range 3 * totalSlots {
		full.add(&flows.Flow{NumPaths: 1, PathHash: uint64(i) * 0x9e3779b97f4a7c15})
	}
	n := uint64(0)
	for p := range full.All {
		n += p.Flows
	}
	if full.Left == 0 || n+full.Left != 3*totalSlots {
		t.Errorf("%d flows on paths, %d left, of %d", n, full.Left, 3*totalSlots)
	}
}

// TestDescribe: three hops, the newest first on the wire, and the source's first
// in the description; the format of June 2016 has each port on its own.
func TestDescribe(t *testing.T) {
	two := inthdr.LayoutOf(inthdr.BitNodeID|inthdr.BitLevel1Interfaces, inthdr.Format2)
	old := inthdr.LayoutOf(inthdr.BitNodeID|inthdr.BitLevel1Interfaces|inthdr.BitEgressTimestamp, inthdr.Format2016)
	for _, c := range []struct {
		layout inthdr.Layout
		stack  []byte
	}{
		{two, []byte{0, 0, 0, 9, 0, 3, 0, 4, 0, 0, 0, 8, 0, 1, 0, 2}},
		{old, []byte{0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 4, 0x80, 0, 0, 8, 0x80, 0, 0, 1, 0x80, 0, 0, 2}},
	} {
		o := &event.Observation{Frame: c.stack, Layout: &c.layout, Info: &inthdr.Info{
			StackLen: uint16(len(c.stack)), HopLen: uint16(len(c.stack) / 2), Hops: 2}}
		var p, q Path
		p.Describe(o)
		want := []PathHop{{8, 1, 2}, {9, 3, 4}}
		if !slices.Equal(p.Known(), want) {
			t.Errorf("%v, want %v", p.Known(), want)
		}
		c.stack[7]++ // another interface
		if q.Describe(o); q.ID == p.ID {
			t.Error("two paths have one ID")
		}
	}
	long := make([]byte, 8*20)
	o := &event.Observation{Frame: long, Layout: &two, Info: &inthdr.Info{StackLen: 160, HopLen: 8, Hops: 20}}
	var p, q Path
	p.Describe(o)
	long[3]++ // the last hop of twenty
	if q.Describe(o); len(p.Known()) != MaxWay || p.Way != q.Way || p.ID == q.ID {
		t.Errorf("%d hops known; two long paths must differ in their ID", len(p.Known()))
	}
}

// TestPathsMakeRoom: the table of descriptions is bounded.
func TestPathsMakeRoom(t *testing.T) {
	layout := inthdr.LayoutOf(inthdr.BitNodeID|inthdr.BitLevel1Interfaces, inthdr.Format2)
	o := &event.Observation{Frame: make([]byte, 8), Layout: &layout, Info: &inthdr.Info{StackLen: 8, HopLen: 8, Hops: 1}}
	paths := NewPaths(1)
	for i := range uint64(3 * MaxPaths) {
		Learn(paths, 1e9, i, o)
	}
	if paths.Len() > MaxPaths || paths.Evictions() == 0 {
		t.Errorf("%d paths, %d evicted", paths.Len(), paths.Evictions())
	}
	s, _ := source(t, 1)
	s.Paths = paths
	if q := answer(New(Ways, 0), s, -1, 100); len(q.Ways) != paths.Len() {
		t.Errorf("%d of %d paths", len(q.Ways), paths.Len())
	}
}
