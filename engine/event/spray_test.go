package event

import (
	"math/rand/v2"
	"testing"
)

// sprayed is a flow that meets packets on ways by their numbers, one each gap.
type sprayed struct {
	*feed
	reports, both int
}

func spray(t *testing.T) *sprayed {
	p := defaults(PathChange)
	p.Thresholds.Paths = 16
	return &sprayed{feed: start(t, p)}
}

// on has packets of the flow come on a way, and returns how many were reported.
func (s *sprayed) on(way, packets int, gap int64) (reported int) {
	for range packets {
		s.f.Count(100)
		if set := s.look(gap, observe(path(uint32(100+way), 0))); set.Has(PathChange) {
			reported++
			if set.Has(PathSwitch) {
				s.both++
			}
		}
	}
	s.reports += reported
	return reported
}

func (s *sprayed) is() bool { return IsSprayed(s.now, &s.f) }

// TestSprayedIsSaidOnce: packets, or bursts, that go over some ways give a report for each way and one that they do. At most as many
// ways as a flow remembers are counted.
func TestSprayedIsSaidOnce(t *testing.T) {
	for _, c := range []struct {
		name         string
		ways, burst  int
		gap          int64
		least, most  int // reports
		paths        uint8
		more, random bool
	}{
		{"by packet, in turn", 8, 1, ms, 8, 8, 8, false, false},
		{"by packet, at random", 8, 1, ms, 8, 8, 8, false, true},
		{"by packet, one in ten seconds", 8, 1, 10 * second, 8, 16, 8, false, true},
		{"bursts of twenty", 8, 20, 10 * ms, 8, 8, 8, false, true},
		{"two ways", 2, 1, ms, 2, 2, 2, false, false},
		{"more ways than there is room for", 64, 1, 100 * ms, 12, 24, 16, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r := spray(t), rand.New(rand.NewPCG(1, uint64(c.ways)))
			defer s.d.Close()
			for n := range 2000 {
				way := n % c.ways
				if c.random {
					way = r.IntN(c.ways)
				}
				s.on(way, c.burst, c.gap)
			}
			if s.reports < c.least || s.reports > c.most || s.both != 1 {
				t.Errorf("%d reports, %d of them of a sprayed flow; want %d to %d, and 1", s.reports, s.both, c.least, c.most)
			}
			if x := &s.f.Cold().Spray; !s.is() || s.f.NumPaths != c.paths || x.More != c.more {
				t.Errorf("sprayed %v over %d paths, more %v", s.is(), s.f.NumPaths, x.More)
			}
		})
	}
}

// TestWaysOfASprayedFlow: a new way is told, one that comes back is not, one that is lost is, once, and its return.
func TestWaysOfASprayedFlow(t *testing.T) {
	s, r := spray(t), rand.New(rand.NewPCG(3, 4))
	defer s.d.Close()
	go_ := func(n, ways int, gap int64) (reported int) {
		for range n {
			reported += s.on(r.IntN(ways), 1, gap)
		}
		return reported
	}
	go_(500, 8, 100*ms)
	if n := go_(5000, 8, 100*ms); n != 0 {
		t.Errorf("%d reports of eight ways that are known", n)
	}
	if n := s.on(8, 1, ms); n != 1 {
		t.Errorf("%d reports of a new way", n)
	}
	if n := go_(400, 8, 100*ms); n != 0 || s.f.NumPaths != 9 { // a minute is not over
		t.Errorf("%d reports before it is lost, %d paths", n, s.f.NumPaths)
	}
	if n := go_(5000, 8, 100*ms); n != 1 || s.f.NumPaths != 8 {
		t.Errorf("%d reports that it is lost, %d paths", n, s.f.NumPaths)
	}
	if n := s.on(8, 1, ms); n != 1 {
		t.Errorf("%d reports that it is back", n)
	}
	if n := go_(100, 8, 10*second); n != 0 { // a way may be seen minutes ago, when packets are few
		t.Errorf("%d reports of few packets", n)
	}
	if s.on(0, 100, second); s.is() {
		t.Error("sprayed, on one way for a hundred seconds")
	}
}

// TestMovesAreNoSpray: a flow that moves, a link that fails every ten seconds, and one that flaps ten times in as many seconds: told
// at once, and not as sprayed.
func TestMovesAreNoSpray(t *testing.T) {
	for name, ways := range map[string]func(s *sprayed){
		"moves": func(s *sprayed) { s.on(0, 1000, 10*ms); s.on(1, 1000, 10*ms) },
		"a flap every ten seconds": func(s *sprayed) {
			for n := range 60 {
				s.on(n%2, 1000, 10*ms)
			}
		},
		"ten flaps": func(s *sprayed) {
			s.on(0, 100, 10*ms)
			for n := range 10 {
				s.on(1-n%2, 100, 10*ms)
			}
			s.on(0, 1000, 10*ms)
		},
	} {
		s := spray(t)
		if ways(s); s.reports != 1 || s.both != 0 || s.is() {
			t.Errorf("%s: %d reports, %d as sprayed, sprayed %v", name, s.reports, s.both, s.is())
		}
		s.d.Close()
	}
}
