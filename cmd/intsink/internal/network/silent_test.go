package network

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/usual"
	"intsink/flows"
)

// scene is a network of three leaves, four spines and two last nodes, whose flows a test has pass, move, or vanish; a look a second.
type scene struct {
	t     *testing.T
	x     *Network
	now   int64
	flows []*sceneFlow
	ways  map[uint64]inspect.Path
	stale bool // no flow came onto its way lately
}

type sceneFlow struct {
	key         flows.Key
	nodes       []uint32
	every, next int64
	seen        int64
	packets     uint64
	silent      bool
}

func newScene(t *testing.T, seed int64, n int) *scene {
	r := rand.New(rand.NewSource(seed))
	s := &scene{t: t, x: New(), now: 1_700_000_000e9, ways: map[uint64]inspect.Path{}}
	for i := range n {
		f := &sceneFlow{key: key(i), nodes: []uint32{uint32(101 + i%3), uint32(201 + i/3%4), uint32(301 + i/12%2)}, every: 10e6 * int64(1+r.Intn(40))}
		f.key.SetIPv4(0x0a000001+uint32(i), 0x0a090001+uint32(i%6))
		f.next = s.now + r.Int63n(f.every)
		s.flows = append(s.flows, f)
	}
	return s
}

// pass lets seconds pass, and returns what the last look found.
func (s *scene) pass(seconds int, change func()) (signs []problem.Sign) {
	for range seconds {
		if change != nil {
			change()
		}
		s.now += 1e9
		q := &inspect.PendingQuery{Query: inspect.New(What, 0)}
		q.Now = s.now
		s.ways = map[uint64]inspect.Path{}
		for _, f := range s.flows {
			for ; f.next <= s.now; f.next += f.every {
				if !f.silent {
					f.packets, f.seen = f.packets+1, f.next
				}
			}
			p := path(f.nodes...)
			s.ways[p.ID] = p
			if f.packets > 0 && s.now-f.seen < 30e9 { // else it is no flow any more
				q.Followed = append(q.Followed, inspect.Followed{Key: f.key.Canonical(), Path: p.ID, Seen: f.seen, Packets: f.packets, Bytes: 1000 * f.packets})
			}
		}
		for id, p := range s.ways {
			row := inspect.Row[inspect.Path]{Key: [2]uint64{id}, Seen: flows.Tick(s.now), Value: p}
			if s.stale {
				row.Seen = flows.Tick(1_700_000_000e9)
			}
			q.Ways = append(q.Ways, row)
		}
		signs = s.x.Look([]*inspect.PendingQuery{q}, &Known{Hops: s.hops()}, time.Unix(0, s.now))
	}
	return signs
}

// hops are the nodes that packets passed lately.
func (s *scene) hops() (all []usual.Sight) {
	last := map[uint32]int64{}
	for _, f := range s.flows {
		for _, id := range f.nodes {
			last[id] = max(last[id], f.seen)
		}
	}
	for _, id := range sortedKeys(last) {
		if s.now-last[id] < hopLately {
			all = append(all, usual.Sight{Place: usual.Place{Kind: usual.Hop, Key: usual.HopKey(id, 1, 2)}, At: last[id]})
		}
	}
	return all
}

// through calls do with the flows whose ways have all of these nodes, and returns how many there are.
func (s *scene) through(do func(*sceneFlow), nodes ...uint32) (n int) {
	for _, f := range s.flows {
		if !slices.ContainsFunc(nodes, func(id uint32) bool { return !slices.Contains(f.nodes, id) }) {
			do(f)
			n++
		}
	}
	return n
}

func (s *scene) want(what string, signs []problem.Sign, all ...string) {
	s.t.Helper()
	var got []string
	for i := range signs {
		p := problem.Problem{Place: signs[i].Place}
		got = append(got, string(signs[i].Kind)+" "+p.Where())
	}
	if !slices.Equal(got, all) {
		s.t.Errorf("%s: %q, want %q", what, got, all)
	}
}

// TestSilent: whichever node or link swallows its packets is told within 8 s, alone, with how many flows passed it, for as long as it
// does, and no longer.
func TestSilent(t *testing.T) {
	for seed := range int64(8) {
		for _, nodes := range [][]uint32{{202}, {102, 203}, {204, 301}} {
			s := newScene(t, seed, 60+int(seed))
			place := fmt.Sprintf("flows_silent between node %d and node %d", nodes[0], nodes[len(nodes)-1])
			if len(nodes) == 1 {
				place = fmt.Sprintf("flows_silent node %d", nodes[0])
			}
			s.want("calm", s.pass(20, nil))
			n := s.through(func(f *sceneFlow) { f.silent = true }, nodes...)
			signs := s.pass(7, nil)
			if s.want(fmt.Sprint("seed ", seed), signs, place); len(signs) == 1 && (int(*signs[0].Value) != n || !strings.Contains(signs[0].Evidence.Why, "a second are gone")) {
				t.Errorf("%v of %d flows: %q", *signs[0].Value, n, signs[0].Evidence.Why)
			}
			s.want("it lasts", s.pass(60, nil), place)
			told := 0
			s.x.EachSilent(func(_ time.Time, _ string, way *inspect.Path) {
				if told++; !slices.Contains(nodesOf(way), nodes[0]) {
					t.Errorf("a flow on %v", way.Known())
				}
			})
			if told != n {
				t.Errorf("%d flows are told of, want %d", told, n)
			}
			s.through(func(f *sceneFlow) { f.silent = false }, nodes...)
			s.want("over", s.pass(2, nil))
		}
	}
}

// TestOwnLinkGoesDown: what falls silent as a link of the sink goes down is no silence of a node; what does while one has been down for
// long is.
func TestOwnLinkGoesDown(t *testing.T) {
	for name, c := range map[string]struct {
		before int // seconds that the link has been down
		want   []string
	}{
		"just now":      {0, nil},
		"a second ago":  {1, nil},
		"for a minute":  {60, []string{"flows_silent node 202"}},
		"not, any more": {-1, []string{"flows_silent node 202"}},
	} {
		s := newScene(t, 5, 60)
		look := func() {
			if down := []string{"up0"}; c.before >= 0 {
				s.x.Deaf(time.Unix(0, s.now), down)
			}
		}
		s.pass(20, nil)
		if c.before < 0 {
			s.x.Deaf(time.Unix(0, s.now), []string{"up0"})
			s.pass(10, func() { s.x.Deaf(time.Unix(0, s.now), nil) })
		}
		s.pass(c.before, look)
		s.through(func(f *sceneFlow) { f.silent = true }, 202)
		s.want(name, s.pass(15, look), c.want...)
	}
}

// TestNotSilent: flows that end all over the network, all flows at once, one host's, flows that pause by themselves, and those
// that go on with other ports are no silence of a place.
func TestNotSilent(t *testing.T) {
	for name, change := range map[string]func(s *scene, second int){
		"every other": func(s *scene, _ int) {
			for i, f := range s.flows {
				f.silent = f.silent || i%2 == 1
			}
		},
		"all": func(s *scene, _ int) { s.through(func(f *sceneFlow) { f.silent = true }) },
		"one host's": func(s *scene, _ int) {
			s.through(func(f *sceneFlow) { f.key.SetIPv4(0x0a010101, 0x0a090001); f.silent = true }, 101, 202)
		},
		"pauses": func(s *scene, second int) {
			for i, f := range s.flows {
				f.silent = (second+i*7)%9 < 5
			}
		},
		"other ports": func(s *scene, second int) {
			for i, f := range s.flows {
				if second%5 == 0 {
					was := *f
					f.silent = true
					was.key, was.packets = key(1000*second+i), 0
					s.flows[i] = &was
				}
			}
		},
	} {
		s := newScene(t, 1, 72)
		if name == "one host's" {
			s.through(func(f *sceneFlow) { f.key.SetIPv4(0x0a010101, 0x0a090001) }, 101, 202)
		}
		s.want(name+": calm", s.pass(20, nil))
		for second := range 25 {
			s.want(fmt.Sprintf("%s, second %d", name, second), s.pass(1, func() { change(s, second) }))
		}
	}
}

// TestSprayedSilence: of flows whose packets take all spines in turn, those that one swallows are missed; a spine that is taken out
// is not.
func TestSprayedSilence(t *testing.T) {
	for _, swallows := range []bool{true, false} {
		s, look := newScene(t, 3, 60), 0
		r := rand.New(rand.NewSource(1))
		spray := func() {
			look++
			for _, f := range s.flows {
				f.nodes[1] = 201 + r.Uint32()%4
				if look > 60 && f.nodes[1] == 202 {
					f.nodes[1] = 203
				}
				if look == 61 && swallows {
					f.every = f.every * 4 / 3
				}
			}
		}
		s.want("calm", s.pass(60, spray))
		signs := s.pass(8, spray)
		if swallows {
			s.want("swallows", signs, "flows_silent node 202")
		} else {
			s.want("taken out", slices.DeleteFunc(signs, func(s problem.Sign) bool { return s.Kind == problem.PathChanged }))
		}
	}
}

// TestLinkLeft: a link that its flows leave is told as that link, with few flows, too; their way back is no warning.
func TestLinkLeft(t *testing.T) {
	for _, n := range []int{60, 600} {
		s := newScene(t, 5, n)
		s.want("calm", s.pass(20, nil))
		var gone []*sceneFlow
		s.through(func(f *sceneFlow) { gone = append(gone, f); f.nodes = []uint32{101, 204, f.nodes[2]} }, 101, 202)
		signs := s.pass(4, nil)
		s.want(fmt.Sprint(n, " flows"), signs, "path_changed between node 101 and node 202")
		if len(signs) == 1 && int(*signs[0].Value) != len(gone) {
			t.Errorf("%v of %d flows", *signs[0].Value, len(gone))
		}
		s.pass(20, nil)
		for _, f := range gone {
			f.nodes = []uint32{101, 202, f.nodes[2]}
		}
		s.want("back", s.pass(4, nil))
	}
}

// TestBackAfterLong: flows that come back after minutes leave nothing; those that leave for the place that others left before do.
func TestBackAfterLong(t *testing.T) {
	s := newScene(t, 5, 300)
	s.want("calm", s.pass(20, nil))
	var gone []*sceneFlow
	s.through(func(f *sceneFlow) { gone = append(gone, f); f.nodes = []uint32{101, 204, f.nodes[2]} }, 101, 202)
	s.want("it is how the network is", s.pass(200, nil))
	for _, f := range gone {
		f.nodes = []uint32{101, 202, f.nodes[2]}
	}
	s.want("back", s.pass(10, nil))
	s.want("calm", s.pass(10, nil))
	s.through(func(f *sceneFlow) { f.nodes = []uint32{101, 204, f.nodes[2]} }, 101, 202)
	s.want("another time", s.pass(4, nil), "path_changed between node 101 and node 202")
	s.pass(100, nil)
	s.through(func(f *sceneFlow) { f.nodes = []uint32{101, 202, f.nodes[2]} }, 101, 203)
	s.want("others come", s.pass(4, nil), "path_changed between node 101 and node 203")
}

// TestEdges: the only flow of a leaf that comes by another one is no dead node; nor is a node that writes no INT any more.
func TestEdges(t *testing.T) {
	s := newScene(t, 6, 60)
	s.through(func(f *sceneFlow) { f.nodes[0] = 101 }, 103)
	s.flows[2].nodes = []uint32{103, s.flows[2].nodes[1], s.flows[2].nodes[2]}
	s.want("calm", s.pass(20, nil))
	s.flows[2].nodes = []uint32{101, s.flows[2].nodes[1], s.flows[2].nodes[2]}
	s.want("a host moves", s.pass(20, nil))
	s.through(func(f *sceneFlow) { f.nodes = []uint32{f.nodes[0], f.nodes[2]} }, 203)
	signs := s.pass(20, nil)
	if s.want("no INT", signs, "path_changed node 203"); len(signs) == 1 && !strings.HasPrefix(signs[0].What, "it writes no INT") {
		t.Errorf("%q", signs[0].What)
	}
}

// TestLoopLasts: a flow that passes a node twice does so for as long as it sends packets, whenever it came onto that way.
func TestLoopLasts(t *testing.T) {
	s := newScene(t, 7, 12)
	s.flows[0].nodes, s.stale = []uint32{101, 201, 202, 201, 301}, true
	for range 4 {
		s.want("it lasts", s.pass(60, nil), "loop node 201")
	}
	s.flows[0].nodes = []uint32{101, 201, 301}
	s.want("over", s.pass(1, nil))
}

// TestReportBeforeRow: what a worker told of a flow before a report of its new way is no way back, though it is taken up later.
func TestReportBeforeRow(t *testing.T) {
	s := newScene(t, 5, 60)
	s.pass(20, nil)
	for _, f := range s.flows {
		f.every, f.next = 10e9, s.now+9e9 // rows of the next looks are of before the reports
	}
	n := s.through(func(f *sceneFlow) {
		s.x.Observe(&inspect.Notice{Time: s.now + 1, Events: event.PathChange.Set(), Tracked: true, Known: true, WasOn: true, Key: f.key, Was: path(f.nodes...), Path: path(101, 204, f.nodes[2])})
	}, 101, 202)
	signs := s.pass(1, nil)
	if s.want("left", signs, "path_changed between node 101 and node 202"); len(signs) == 1 && int(*signs[0].Value) != n {
		t.Errorf("%v of %d flows", *signs[0].Value, n)
	}
}
