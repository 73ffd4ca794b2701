package event

import (
	"maps"
	"testing"

	"intsink/flows"
)

// numbered is a flow of packets with sequence numbers of so many bits.
type numbered struct {
	*feed
	bits uint8
}

func (n *numbered) send(after int64, numbers ...uint64) {
	n.t.Helper()
	for _, v := range numbers {
		o := observe(path(2, 0))
		o.Sequence, o.SequenceBits = v, n.bits
		n.observed(after, o, 0)
	}
}

// lost lets time pass and returns how many numbers each report that comes says are
// lost.
func (n *numbered) lost(after int64) (all []uint32) {
	n.now += after
	n.d.Lossy(n.now, func(*flows.Flow) {}, func(f *flows.Flow) {
		l, _ := f.Loss()
		all = append(all, l.Reported)
	})
	return all
}

func TestSequence(t *testing.T) {
	const top = 1<<32 - 1
	run := func(from, to uint64) (all []uint64) {
		for v := from; v <= to; v++ {
			all = append(all, v&top)
		}
		return all
	}
	for name, c := range map[string]struct {
		numbers []uint64
		lost    uint32 // in the one report; 0: there is none
		want    Counters
	}{
		"in order":                {run(5, 3000), 0, Counters{}},
		"over the wrap":           {run(top-5, top+5), 0, Counters{}},
		"holes":                   {[]uint64{1, 2, 4, 7, 8}, 3, Counters{Lost: 3}},
		"filled in time":          {[]uint64{1, 3, 2, 4, 7, 6, 5, 8}, 0, Counters{Reordered: 3}},
		"partly filled":           {[]uint64{1, 5, 3, 6}, 2, Counters{Lost: 2, Reordered: 1}},
		"duplicates":              {[]uint64{1, 2, 2, 1, 4, 3, 3, 4}, 0, Counters{Duplicates: 4, Reordered: 1}},
		"late before the first":   {[]uint64{10, 9, 9}, 0, Counters{Reordered: 1, Duplicates: 1}},
		"hole over the wrap":      {[]uint64{top - 2, 2}, 4, Counters{Lost: 4}},
		"all ones late":           {[]uint64{top - 1, 0, top, 1, top}, 0, Counters{Reordered: 1, Duplicates: 1}},
		"all ones unknown":        {[]uint64{top, 5005, 5006, top, 5007, top}, 0, Counters{}},
		"the widest jump":         {[]uint64{1, 1025}, 1023, Counters{Lost: 1023}},
		"beyond the window":       {[]uint64{1, 1026, 1027}, 0, Counters{Restarts: 1}},
		"backwards, last of all":  {[]uint64{2000, 977}, 0, Counters{Reordered: 1}},
		"backwards beyond":        {[]uint64{2000, 976, 977}, 0, Counters{Restarts: 1}},
		"a restart forgets holes": {[]uint64{1, 3, 90_000, 90_001, 90_003, 90_002}, 0, Counters{Restarts: 1, Reordered: 1}},
		"again behind":            {append(run(1, 1100), 500, 77), 0, Counters{Duplicates: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			n := &numbered{start(t, watching(Loss)), 32}
			n.send(10_000, c.numbers...)
			if got := n.lost(190 * ms); got != nil {
				t.Errorf("lost %v before it was time", got)
			}
			got := n.lost(20 * ms)
			if c.lost == 0 && got != nil || c.lost != 0 && (len(got) != 1 || got[0] != c.lost) {
				t.Errorf("lost %v, want %d", got, c.lost)
			}
			have := n.d.Counters
			if have.Lost != c.want.Lost || have.Reordered != c.want.Reordered || have.Duplicates != c.want.Duplicates || have.Restarts != c.want.Restarts {
				t.Errorf("lost %d, reordered %d, duplicates %d, restarts %d, want %d %d %d %d", have.Lost, have.Reordered, have.Duplicates, have.Restarts,
					c.want.Lost, c.want.Reordered, c.want.Duplicates, c.want.Restarts)
			}
			if n.lost(second) != nil || len(n.d.lossy) != 0 {
				t.Errorf("%d flows are still looked after", len(n.d.lossy))
			}
		})
	}
}

// TestLossHasAnInterval: one summary a second has what was lost since.
func TestLossHasAnInterval(t *testing.T) {
	n := &numbered{start(t, watching(Loss)), 64}
	n.send(0, 1<<63, 1<<63+2)
	if got := n.lost(201 * ms); len(got) != 1 || got[0] != 1 {
		t.Errorf("lost %v, want 1", got)
	}
	n.send(ms, 1<<63+5, 1<<63+6, 1<<63+8)
	if got := n.lost(900 * ms); got != nil {
		t.Errorf("lost %v within the interval", got)
	}
	if got := n.lost(100 * ms); len(got) != 1 || got[0] != 3 {
		t.Errorf("lost %v, want 3", got)
	}
	if c := n.d.Counters; c.Fired[Loss] != 2 || c.Lost != 4 || n.f.Cold().Lost != 4 {
		t.Errorf("counters %+v, flow %+v", c, n.f.Cold())
	}
}

// TestManyHoles: more than are timed at once are joined, and none is lost early or
// twice.
func TestManyHoles(t *testing.T) {
	n := &numbered{start(t, watching(Loss)), 32}
	n.send(0, 0)
	for v := uint64(2); v <= 100; v += 2 {
		n.send(ms, v)
	}
	n.send(ms, 51, 53, 55)
	total := uint32(0)
	for range 500 {
		for _, v := range n.lost(ms) {
			total += v
		}
	}
	for _, v := range n.lost(second) {
		total += v
	}
	if total != 47 || n.d.Counters.Lost != 47 || n.d.Counters.Reordered != 3 {
		t.Errorf("%d reported as lost, counters %+v, want 47 and 3 reordered", total, n.d.Counters)
	}
}

// TestLossOfMoreFlowsThanAreLookedAfter is found with their next packets, and each
// flow of the list has its turn.
func TestLossOfMoreFlowsThanAreLookedAfter(t *testing.T) {
	d := New([]Policy{watching(Loss)}, 1)
	all := make([]flows.Flow, maxLossy+10)
	send := func(now int64, v uint64) (reported int) {
		for i := range all {
			o := observe(path(2, 0))
			o.Sequence, o.SequenceBits = v, 32
			if d.Packet(now, &all[i], v == 1, 0, o) == Loss.Set() {
				reported++
			}
		}
		return reported
	}
	send(second, 1)
	send(second, 3)
	if n := send(second+300*ms, 4); n != 10 {
		t.Errorf("%d found with their next packet, want 10", n)
	}
	seen := map[*flows.Flow]bool{}
	for range maxLossy / lossyStep {
		d.Lossy(second+300*ms, func(*flows.Flow) {}, func(f *flows.Flow) { seen[f] = true })
	}
	if len(seen) != maxLossy || d.Counters.Lost != maxLossy+10 || len(d.lossy) != 0 {
		t.Errorf("%d reported, %d lost, %d still looked after", len(seen), d.Counters.Lost, len(d.lossy))
	}
}

// TestWhichFlowsLossyLooksAt: those with a hole or a loss that waits for its report, all in one call while they are few.
func TestWhichFlowsLossyLooksAt(t *testing.T) {
	d := New([]Policy{watching(Loss)}, 1)
	defer d.Close()
	var all [5]flows.Flow
	send := func(i int, now int64, v uint64) {
		o := observe(path(2, 0))
		o.Sequence, o.SequenceBits = v, 32
		d.Packet(now, &all[i], v == 1, 0, o)
	}
	for i := range all {
		send(i, second, 1)
		send(i, second+ms, 2)
	}
	if len(d.lossy) != 0 {
		t.Errorf("%d flows without a hole are looked at", len(d.lossy))
	}
	for i := range 3 {
		send(i, second+2*ms, 4)
	}
	l, _ := all[3].Loss()
	l.Pending = 7
	send(3, second+2*ms, 3)
	if len(d.lossy) != 4 || !l.Listed {
		t.Errorf("%d flows are looked at, want 4", len(d.lossy))
	}
	lost := map[*flows.Flow]uint32{}
	d.Lossy(second+202*ms+1, func(*flows.Flow) {}, func(f *flows.Flow) { l, _ := f.Loss(); lost[f] = l.Reported })
	want := map[*flows.Flow]uint32{&all[0]: 1, &all[1]: 1, &all[2]: 1, &all[3]: 7}
	if !maps.Equal(lost, want) || len(d.lossy) != 0 {
		t.Errorf("lost %v, want %v; %d still looked at", lost, want, len(d.lossy))
	}
	for i := range 3 { // holes that stay open keep them all in the list
		send(i, 3*second, 10)
	}
	looks := map[*flows.Flow]int{}
	d.Lossy(3*second+1, func(f *flows.Flow) { looks[f]++ }, func(*flows.Flow) { t.Error("lost too early") })
	if !maps.Equal(looks, map[*flows.Flow]int{&all[0]: 1, &all[1]: 1, &all[2]: 1}) || len(d.lossy) != 3 {
		t.Errorf("looked at %v, want each of three once; %d in the list", looks, len(d.lossy))
	}
}
