package series

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"intsink/engine/usual"
)

// was adds samples of a place for two hours until noon, with gaps; every is one in so many seconds.
func was(p *Places, place usual.Place, every int) {
	for s := -7200; s <= 0; s++ {
		if s%every == 0 && (s < -3000 || s > -2400) {
			x := uint32(1000 + s%977*s%977)
			p.Add(noon+int64(s)*second+400e6, []usual.Reading{{Place: place, Latency: x, Occupancy: x / 9}})
		}
	}
}

// TestPlacesOutliveARestart: what was before it is as it was, by seconds and by minutes; samples that come after it, in the
// same minute too, stand beside.
func TestPlacesOutliveARestart(t *testing.T) {
	hop := usual.Place{Kind: usual.Hop, Key: usual.HopKey(1, 2, 3)}
	before, after := newTest(t, 8), newTest(t, 8)
	was(before, queue(1), 1)
	was(before, queue(2), 7)
	was(before, hop, 13)
	if err := after.Decode(before.Encode(), noon+5*second); err != nil {
		t.Fatal(err)
	}
	for _, now := range []int64{noon + 5*second, noon + 100*second, noon + 3600*second} {
		for _, place := range []usual.Place{queue(1), queue(2), hop} {
			for _, s := range []*Span{span(t, now, 10*time.Minute, time.Second), span(t, now, 24*time.Hour, time.Minute)} {
				if got, want := after.Of(place, s), before.Of(place, s); !reflect.DeepEqual(got, want) {
					t.Fatalf("%v at %d: %d and %d points differ", place, now-noon, len(got.Latency), len(want.Latency))
				}
			}
		}
		for _, p := range []*Places{before, after} { // at noon + 6 s: in the minute of the restart
			p.Add(max(now, noon+6*second), []usual.Reading{{Place: hop, Latency: 7, Occupancy: unknown}})
		}
	}
	at := span(t, noon+120*second, 20*time.Minute, time.Minute)
	if m := after.Of(hop, at).Latency[18]; m.Max < 900 || m.Median > 7 || !m.Known {
		t.Errorf("the minute of the restart: %+v", m)
	}
}

// TestPlacesFromTomorrow: what is later than now is not taken, and the room that is there is enough.
func TestPlacesFromTomorrow(t *testing.T) {
	before, after := newTest(t, 8), newTest(t, 2)
	for n := range uint64(5) {
		was(before, queue(n), 60)
	}
	text := before.Encode()
	if err := after.Decode(text, noon-24*3600*second); err != nil {
		t.Fatal(err)
	}
	if l := after.Of(queue(0), span(t, noon, 24*time.Hour, time.Minute)); l == nil || Join(l.Latency).Known {
		t.Errorf("from tomorrow: %+v", l)
	}
	for n := range len(text) { // wherever it is cut, it is an error, or some places and no more
		p := newTest(t, 8)
		if err := p.Decode(text[:n], noon); err != nil && (!errors.Is(err, errState) || len(p.keys()) > 0) {
			t.Fatalf("cut at %d: %v, %v", n, err, p.keys())
		}
	}
}

// keys are those of all queues.
func (p *Places) keys() [][2]uint64 {
	keys, _ := p.Keys(usual.Queue, 0)
	return keys
}

// TestCountsOutliveARestart: growth of before is as it was; a counter that begins anew, or goes on, adds nothing for the time
// in which nobody looked; one that nobody has looked at for a day is forgotten.
func TestCountsOutliveARestart(t *testing.T) {
	before, after := NewCounts(), NewCounts()
	t.Cleanup(before.Close)
	t.Cleanup(after.Close)
	for s := range int64(5000) {
		before.Look(noon+s*second, "b", uint64(s*s))
		if s < 100 {
			before.Look(noon+s*second, "a", uint64(7*s))
		}
	}
	end := noon + 4999*second
	if err := after.Decode(before.Encode(), end+3*second); err != nil {
		t.Fatal(err)
	}
	seconds, minutes := span(t, end+2*second, 10*time.Minute, time.Second), span(t, end+90*second, 2*time.Hour, time.Minute)
	for _, name := range []string{"a", "b"} {
		if !reflect.DeepEqual(after.Of(name, seconds), before.Of(name, seconds)) || !reflect.DeepEqual(after.Of(name, minutes), before.Of(name, minutes)) {
			t.Errorf("%s differs", name)
		}
	}
	after.Look(end+10*second, "b", 1_000_000) // of a NIC that counts on
	after.Look(end+11*second, "b", 1_000_007)
	if c := after.Of("b", span(t, end+12*second, 5*time.Second, time.Second)); fmt.Sprint(c) != "[{false 0} {false 0} {false 0} {false 0} {true 7}]" {
		t.Errorf("after the restart: %v", c)
	}
	late := NewCounts()
	t.Cleanup(late.Close)
	if err := late.Decode(before.Encode(), noon+(100+Minutes*60)*second); err != nil || len(late.names) != 1 {
		t.Errorf("%v, %v", err, late.names)
	}
	text := before.Encode()
	for n := 1; n < len(text); n += 37 {
		c := NewCounts()
		if err := c.Decode(text[:n], end); err != nil && len(c.names) > 0 {
			t.Errorf("cut at %d: %v, %v", n, err, c.names)
		}
		c.Close()
	}
}

// TestLinksOutliveARestart: after Decode, Links returns the links that Encode saved, in their order, although LookAtLink
// was not called since.
func TestLinksOutliveARestart(t *testing.T) {
	before, after := NewCounts(), NewCounts()
	t.Cleanup(before.Close)
	t.Cleanup(after.Close)
	want := [][2]string{{"west", "to_host"}, {"west", "to_network"}, {"an edge", "to_host"}}
	for _, l := range want {
		before.LookAtLink(noon, l[0], l[1], 1, 2, 3)
	}
	before.Look(noon, "link packets", 4)
	if err := after.Decode(before.Encode(), noon+second); err != nil || !reflect.DeepEqual(after.Links(), want) {
		t.Errorf("%v, %v, want %v", err, after.Links(), want)
	}
	if err := after.Decode(before.Encode()[:50], noon+second); err == nil || after.Links() != nil {
		t.Errorf("of what is cut: %v, %v", err, after.Links())
	}
}

// FuzzDecode: no state makes Decode fail otherwise than by an error, and what it took can be read and added to.
func FuzzDecode(f *testing.F) {
	p := newPlaces(7, &[usual.NumKinds]int{2, 2, 2, 2})
	was(p, queue(1), 60)
	f.Add(p.Encode())
	s, err := NewSpan(time.Unix(0, noon), time.Unix(0, noon).Add(-time.Hour), time.Unix(0, noon), time.Minute)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, c := newPlaces(7, &[usual.NumKinds]int{2, 2, 2, 2}), NewCounts()
		defer p.Close()
		defer c.Close()
		if err != nil || p.Decode(b, noon) != nil && len(p.keys()) > 0 {
			t.Error("not empty")
		}
		for _, k := range append(p.keys(), queue(1).Key) {
			p.Of(usual.Place{Kind: usual.Queue, Key: k}, s)
			p.Add(noon+second, []usual.Reading{{Place: usual.Place{Kind: usual.Queue, Key: k}, Latency: 5, Occupancy: 6}})
		}
		c.Decode(b, noon)
		for name := range c.names {
			c.Of(name, s)
			c.Look(noon+second, name, 5)
		}
	})
}
