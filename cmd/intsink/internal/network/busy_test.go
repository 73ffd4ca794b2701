package network

import (
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/event"
	"intsink/engine/usual"
)

// TestNodeIDTwice: a node that packets pass and that has the sink's own id is told, none where the sink has no id of its own.
func TestNodeIDTwice(t *testing.T) {
	for _, own := range []uint32{102, 103, 0} {
		x := New()
		k := &Known{Own: own, Hops: []usual.Sight{{Place: usual.Place{Kind: usual.Hop, Key: usual.HopKey(102, 1, 2)}, At: time.Unix(1009, 0).UnixNano()}}}
		var told []string
		if own == 102 {
			told = append(told, "node_id_twice node 102")
		}
		want(t, 10, x.Look(nil, k, time.Unix(1010, 0)), told...)
		want(t, 60, x.Look(nil, &Known{Own: own}, time.Unix(1060, 0)))
	}
}

// TestBusyInterfaces: an interface that is busy for five seconds is a problem, in per cent where its unit is known; not while a queue of it
// is congested, and not where it was not seen for long.
func TestBusyInterfaces(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, int64(s*1e9)) }
	x := New()
	x.full[[2]uint64{102<<32 | 3}] = at(9)
	k := &Known{Busy: map[[2]uint64]event.Interface{}}
	for egress, i := range [][2]float64{1: {0, 9}, 2: {8, 10}, 3: {0, 10}, 4: {-100, -40}} {
		if egress > 0 {
			k.Busy[[2]uint64{102<<32 | uint64(egress)}] = event.Interface{Utilization: 95, Percent: true, Busy: true, Since: at(i[0]).UnixNano(), Seen: at(i[1]).UnixNano()}
		}
	}
	want(t, 4, x.Look(nil, k, at(4)))
	signs := x.Look(nil, k, at(10))
	want(t, 10, signs, "interface_busy node 102 egress 1")
	if s := signs[0]; *s.Value != 95 || s.Unit != "%" || !s.Since.Equal(at(0)) {
		t.Errorf("%+v", s)
	}
}

// TestBusyInterfaceStays: an interface that is told stays so while a queue of it is congested; its load is that of when it was high, and
// it was over when it fell.
func TestBusyInterfaceStays(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, int64(s*1e9)) }
	x := New()
	key := [2]uint64{102<<32 | 1}
	look := func(second float64, v event.Interface) []problem.Sign {
		v.Busy, v.Percent, v.Since, v.Seen = true, true, at(0).UnixNano(), at(second).UnixNano()
		return x.Look(nil, &Known{Busy: map[[2]uint64]event.Interface{key: v}}, at(second))
	}
	want(t, 6, look(6, event.Interface{Utilization: 97}), "interface_busy node 102 egress 1")
	x.full[key] = at(7)
	want(t, 7, look(7, event.Interface{Utilization: 98}), "interface_busy node 102 egress 1")
	signs := look(9, event.Interface{Utilization: 20, Below: at(8).UnixNano()})
	want(t, 9, signs, "interface_busy node 102 egress 1")
	if s := signs[0]; *s.Value != 98 || !s.Seen.Equal(at(8)) {
		t.Errorf("%v %%, seen %v", *s.Value, s.Seen)
	}
}
