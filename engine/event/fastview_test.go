package event

import (
	"math/bits"
	"runtime"
	"testing"
)

// TestUnitsOfNodes: the fast path multiplies by the units of a node's model, by those of the model without nodes for
// all others, and by 1 where there is none; new rules leave nothing of the old ones.
func TestUnitsOfNodes(t *testing.T) {
	type units struct{ latency, queue uint32 }
	d := New([]Policy{defaults(HopLatency)}, 42)
	defer d.Close()
	for _, c := range []struct {
		name   string
		models []NodeModel
		want   map[uint32]units
	}{
		{"as the node says", nil, map[uint32]units{0: {1, 1}, 101: {1, 1}, 0xfffffffe: {1, 1}}},
		{"of listed nodes and all others", []NodeModel{
			{Nodes: only(101, 101), LatencyUnit: 2, QueueUnit: 80},
			{Nodes: only(200, 299), LatencyUnit: 1000},
			{LatencyUnit: 5, QueueUnit: 7},
		}, map[uint32]units{0: {5, 7}, 100: {5, 7}, 101: {2, 80}, 102: {5, 7}, 199: {5, 7}, 200: {1000, 1}, 255: {1000, 1}, 299: {1000, 1}, 300: {5, 7}, 0xfffffffe: {5, 7}}},
		{"of listed nodes alone", []NodeModel{{Nodes: only(0, 1), QueueUnit: 64}}, map[uint32]units{0: {1, 64}, 1: {1, 64}, 2: {1, 1}, 101: {1, 1}, 255: {1, 1}}},
		{"of all nodes", []NodeModel{{LatencyUnit: 8, QueueUnit: 9}}, map[uint32]units{0: {8, 9}, 1: {8, 9}, 101: {8, 9}}},
		{"as the node says again", nil, map[uint32]units{0: {1, 1}, 1: {1, 1}, 101: {1, 1}, 255: {1, 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.SetRules(d.policies, c.models)
			for node, want := range c.want {
				if latency, queue := d.view.Units(node); (units{latency, queue}) != want {
					t.Errorf("node %d: latency in %d ns, queue in %d; want %v", node, latency, queue, want)
				}
			}
		})
	}
}

// TestBitsOfQueues: the queues of an interface have a bit each. Neither the ingress interface nor what is as it was
// changes a bit, and the key in the table gives the bit that the words on the wire give.
func TestBitsOfQueues(t *testing.T) {
	d := New([]Policy{defaults()}, 42)
	defer d.Close()
	first := func(node uint32, ingress, egress uint16) uint64 { // as a little endian load of the big endian words
		return uint64(bits.ReverseBytes32(node)) | uint64(bits.ReverseBytes16(ingress))<<32 | uint64(bits.ReverseBytes16(egress))<<48
	}
	v, seen := d.view, map[uint32]bool{}
	for queue := range 256 {
		bit := v.Bit(first(7, 1, 2), uint8(queue))
		if seen[bit] = true; bit >= hotBits || bit != v.Bit(first(7, 9, 2), uint8(queue)) || bit != v.bitOfKey([2]uint64{7<<32 | 2, uint64(queue)}) {
			t.Errorf("queue %d: bit %d, from another ingress interface %d, by its key %d", queue, bit, v.Bit(first(7, 9, 2), uint8(queue)), v.bitOfKey([2]uint64{7<<32 | 2, uint64(queue)}))
		}
	}
	if len(seen) != 256 {
		t.Errorf("256 queues have %d bits", len(seen))
	}
	seen = map[uint32]bool{}
	for node := range uint32(32) {
		for egress := range uint16(32) {
			seen[v.Bit(first(node, 1, egress), 0)] = true
		}
	}
	if len(seen) < 1000 { // of 1024: a filter that takes most interfaces for one in an episode spares little
		t.Errorf("1024 interfaces have %d bits", len(seen))
	}
	var set HotSet
	set.set(hotBits - 1)
	set.set(64)
	for bit := range hotBits {
		if set.Has(bit) != (bit == 64 || bit == hotBits-1) {
			t.Errorf("bit %d is %v", bit, set.Has(bit))
		}
	}
}

// TestFullTablesLeaveRoomInTheFilters: while as many queues and interfaces are in an episode as there is room for,
// such as some packets of many hops can make, few others share their bits.
func TestFullTablesLeaveRoomInTheFilters(t *testing.T) {
	d := New([]Policy{defaults()}, 42)
	defer d.Close()
	key := func(n int) [2]uint64 { return [2]uint64{uint64(n/16+1)<<32 | uint64(n%16+1)} } // nodes of 16 interfaces
	for n := range MaxInterfaces {
		d.markInterface(key(n))
	}
	for n := range MaxQueues {
		k := key(n / 8)
		k[1] = uint64(n % 8)
		d.markQueue(k)
	}
	interfaces, queues := 0, 0
	for n := range 10_000 {
		bit := d.view.bitOfKey(key(MaxInterfaces + n))
		if d.view.Interfaces.Has(bit) {
			interfaces++
		}
		if d.view.Queues.Has(bit) {
			queues++
		}
	}
	if interfaces > 500 || queues > 1000 {
		t.Errorf("of 10,000 interfaces in no episode %d have a bit in the filter of interfaces, %d in that of queues", interfaces, queues)
	}
}

// TestModelsOutliveTheirCompilation: C finds the units of nodes as long as the detector has their models, and none
// of those that it had before.
func TestModelsOutliveTheirCompilation(t *testing.T) {
	d := New([]Policy{defaults(HopLatency)}, 42)
	defer d.Close()
	for unit := uint32(2); unit < 12; unit++ {
		d.Adopt(d.policies, CompileModels([]NodeModel{{Nodes: only(1, 5000), LatencyUnit: unit}}))
		runtime.GC()
		for node := uint32(0); node < 5002; node++ {
			want := uint32(1)
			if node > 0 && node <= 5000 {
				want = unit
			}
			if latency, _ := d.view.Units(node); latency != want {
				t.Fatalf("node %d: %d, want %d", node, latency, want)
			}
		}
	}
}
