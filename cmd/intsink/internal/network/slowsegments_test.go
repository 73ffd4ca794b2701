package network

import (
	"log/slog"
	"slices"
	"testing"

	"intsink/cmd/internal/problem"
	"intsink/engine/usual"
)

// TestSlowSegments: segments that have a node in common are one problem, others one each; those of a node whose clock
// is not believed are none.
func TestSlowSegments(t *testing.T) {
	x := New()
	k := &Known{Slow: []usual.Slow{slowSegmentAt(10, 101, 202), slowSegmentAt(10, 102, 202), slowSegmentAt(10, 202, 301), slowSegmentAt(10, 103, 203)}}
	want(t, 11, x.Look(nil, k, at(11))) // it may be a clock yet
	signs := x.Look(nil, k, at(11.5))
	want(t, 11.5, signs, "slow_segment node 202", "slow_segment from 103 to 203")
	keys := []string{signs[0].Key, signs[1].Key}
	signs = x.Look(nil, &Known{Slow: k.Slow[1:]}, at(12))
	want(t, 12, signs, "slow_segment node 202", "slow_segment from 103 to 203")
	if !slices.Equal(keys, []string{signs[0].Key, signs[1].Key}) || keys[0] == keys[1] {
		t.Errorf("they are other problems: %v, %s, %s", keys, signs[0].Key, signs[1].Key)
	}
	k.Believes = func(from, to uint32) bool { return from != 202 && to != 202 }
	want(t, 14, x.Look(nil, k, at(14)), "slow_segment from 103 to 203")
}

// segmentsAt are segments that became slow at a time, each two nodes.
func segmentsAt(second float64, nodes ...uint32) (all []usual.Slow) {
	for i := 0; i < len(nodes); i += 2 {
		all = append(all, slowSegmentAt(second, nodes[i], nodes[i+1]))
	}
	return all
}

// leafSpine are the segments of three leaves, four spines and two leaves.
func leafSpine() (nodes []uint32) {
	for spine := uint32(201); spine <= 204; spine++ {
		for leaf := uint32(101); leaf <= 103; leaf++ {
			nodes = append(nodes, leaf, spine)
		}
		nodes = append(nodes, spine, 301, spine, 302)
	}
	return nodes
}

// TestSegmentThatFlaps: a segment that comes and goes is one problem, however long it is well in between: none other is open beside it,
// and what begins again within minutes is the one from before. One that is slow alone after several were is named itself.
func TestSegmentThatFlaps(t *testing.T) {
	for _, well := range []int{1, 2, 4, 6, 9, 60} {
		x, l := New(), problem.New(func() *slog.Logger { return slog.New(slog.DiscardHandler) }, nil)
		second := 10.0
		look := func(slow []usual.Slow) {
			second++
			l.Look("network", x.Look(nil, &Known{Slow: slow}, at(second)), at(second))
			if all := l.Answer().Items; len(all) > 1 {
				t.Errorf("well for %d s: %d problems at %v s", well, len(all), second)
			}
		}
		for range 10 {
			since := second
			for range 4 {
				look(segmentsAt(since, 101, 202))
			}
			for range well {
				look(nil)
			}
		}
		all := l.Answer().Items
		if len(all) != 1 || all[0].Where() != "between node 101 and node 202" || well > 5 && all[0].Times != 10 {
			t.Errorf("well for %d s: %+v", well, all)
		}
	}
	x := New()
	want(t, 12, x.Look(nil, &Known{Slow: segmentsAt(10, 101, 202, 103, 202)}, at(12)), "slow_segment node 202")
	want(t, 13, x.Look(nil, &Known{Slow: segmentsAt(10, 103, 202)}, at(13)), "slow_segment node 202") // gets well
	want(t, 19, x.Look(nil, &Known{}, at(19)))
	want(t, 22, x.Look(nil, &Known{Slow: segmentsAt(20, 103, 202)}, at(22)), "slow_segment from 103 to 202")
}

// TestCommonCauseOfSegments: two nodes with slow segments are two problems, though a leaf has one of each; all lines are one; what lies
// between two nodes is no node, whichever way packets take; a place has all its segments from the first word on.
func TestCommonCauseOfSegments(t *testing.T) {
	var used []usual.Sight
	for _, s := range segmentsAt(10, leafSpine()...) {
		used = append(used, usual.Sight{Place: s.Place, At: s.Since})
	}
	for name, c := range map[string]struct {
		slow []uint32
		want []string
	}{
		"two spines": {leafSpine()[:20], []string{"slow_segment node 201", "slow_segment node 202"}},
		"all":        {leafSpine(), []string{"slow_segment"}},
		"a leaf":     {[]uint32{101, 201, 101, 202, 101, 203}, []string{"slow_segment node 101"}},
		"one line":   {[]uint32{101, 201, 201, 101}, []string{"slow_segment from 101 to 201"}},
		"a way":      {[]uint32{101, 201, 201, 301}, []string{"slow_segment node 201"}},
		"two lines":  {[]uint32{101, 201, 102, 202}, []string{"slow_segment from 101 to 201", "slow_segment from 102 to 202"}},
	} {
		x := New()
		for second := 14.0; second < 18; second++ {
			signs := x.Look(nil, &Known{Slow: segmentsAt(10, c.slow...), Segments: used}, at(second))
			if got := kinds(signs); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
			if name == "all" && (len(signs) != 1 || signs[0].Evidence.Why != "20 of the 20 segments that packets pass are slow") {
				t.Errorf("%+v", signs)
			}
		}
	}
	x := New()
	want(t, 11.6, x.Look(nil, &Known{Slow: append(segmentsAt(10, 101, 202), segmentsAt(11, 102, 202)...), Segments: used}, at(11.6)), "slow_segment node 202")
	x = New()
	want(t, 12, x.Look(nil, &Known{Slow: segmentsAt(10.3, leafSpine()[:22]...), Segments: used}, at(12))) // there may be more
	want(t, 13, x.Look(nil, &Known{Slow: append(segmentsAt(10.3, leafSpine()[:22]...), segmentsAt(12, leafSpine()[22:]...)...), Segments: used}, at(13)), "slow_segment")
	want(t, 20, x.Look(nil, &Known{Slow: segmentsAt(10.3, 101, 201), Segments: used}, at(20)), "slow_segment") // they get well one after the other
	want(t, 21, x.Look(nil, &Known{Segments: used}, at(21)))
}

// TestSlowEverywhereIsOneProblem: where all segments come and go together, one problem is told.
func TestSlowEverywhereIsOneProblem(t *testing.T) {
	x, l := New(), problem.New(func() *slog.Logger { return slog.New(slog.DiscardHandler) }, nil)
	var used []usual.Sight
	for _, s := range segmentsAt(10, leafSpine()...) {
		used = append(used, usual.Sight{Place: s.Place, At: s.Since})
	}
	for second := 10; second < 100; second++ {
		k := &Known{Segments: used}
		if second%10 > 3 {
			k.Slow = segmentsAt(float64(second-second%10), leafSpine()...)
		}
		l.Look("network", x.Look(nil, k, at(float64(second))), at(float64(second)))
	}
	if all := l.Answer().Items; len(all) != 1 || all[0].Where() != "" {
		t.Errorf("%+v", all)
	}
}
