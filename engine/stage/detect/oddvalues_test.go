package detect

import "testing"

func counted(o *OddValues) map[uint32]uint64 {
	all := map[uint32]uint64{}
	for node, n := range o.All {
		all[node] = n
	}
	return all
}

// TestMadeUpNodesTakeNoRoom: a sender makes up a node for each packet; those that are there stay, and one that comes later, as
// often as all that are made up, finds room and stays, too.
func TestMadeUpNodesTakeNoRoom(t *testing.T) {
	var o OddValues
	for node := range uint32(mostOdd - 1) {
		for range 10 {
			o.count(node)
		}
	}
	const later = 500
	for k := range uint32(100_000) {
		o.count(1000 + k)
		o.count(later)
		o.count(later)
		if k%1000 == 0 {
			for node := range uint32(mostOdd - 2) {
				o.count(node)
			}
		}
	}
	all := counted(&o)
	for node := range uint32(mostOdd - 2) {
		if all[node] != 110 {
			t.Errorf("node %d: %d hops, want 110", node, all[node])
		}
	}
	if all[later] < 190_000 || len(all) > mostOdd || o.Others() == 0 {
		t.Errorf("%d hops of the later node; %d nodes; %d others", all[later], len(all), o.Others())
	}
}

// TestOddNodesMakeRoom: nodes that were there often and come no more go, some day.
func TestOddNodesMakeRoom(t *testing.T) {
	var o OddValues
	for node := range uint32(mostOdd) {
		for range 2 * mostVotes {
			o.count(node)
		}
	}
	for range mostVotes + 10 {
		o.count(99)
	}
	if all := counted(&o); all[99] == 0 || len(all) != mostOdd {
		t.Errorf("node 99 has no room in %v", all)
	}
}
