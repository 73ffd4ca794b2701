package clock

import (
	"fmt"
	"math/rand"
	"testing"
)

// net is a network of three leaves, four spines and two last nodes, whose clocks and lines a test sets; time passes by
// seconds.
type net struct {
	t     *testing.T
	r     *rand.Rand
	c     *Clocks
	now   int64
	ahead map[uint32]int64    // of clocks
	slow  map[[2]uint32]int64 // of lines
	noise int64               // by which each time is wrong
	chain bool                // one way only: 101 > 201 > 301
}

func newNet(t *testing.T, seed int64) *net {
	n := &net{t: t, r: rand.New(rand.NewSource(seed)), c: New(uint64(seed)), now: 1700000000e9, ahead: map[uint32]int64{}, slow: map[[2]uint32]int64{}}
	t.Cleanup(n.c.Close)
	return n
}

// pass sends so many packets in each of so many seconds, and judges after each. change is called before each second.
func (n *net) pass(seconds, packets int, change func()) (wrong []Verdict, apart []Disagreement) {
	for range seconds {
		if change != nil {
			change()
		}
		for range packets {
			n.now += 1e9 / int64(packets)
			way := []uint32{101 + n.r.Uint32()%3, 201 + n.r.Uint32()%4, 301 + n.r.Uint32()%2}
			if n.chain {
				way = []uint32{101, 201, 301}
			}
			var all []Crossing
			for i := range 2 {
				a, b := way[i], way[i+1]
				ns := 700 + n.r.Int63n(60) + n.ahead[b] - n.ahead[a] + n.slow[[2]uint32{a, b}]
				if n.noise > 0 {
					ns += n.r.Int63n(2*n.noise) - n.noise
				}
				all = append(all, Crossing{a, b, ns})
			}
			n.c.See(n.now, all)
		}
		wrong, apart = n.c.Judge(n.now)
	}
	return wrong, apart
}

// want fails unless these clocks alone are wrong, by so much within a tenth.
func (n *net) want(what string, wrong []Verdict, clocks map[uint32]int64) {
	n.t.Helper()
	ok := len(wrong) == len(clocks)
	for _, v := range wrong {
		true, known := clocks[v.Node]
		ok = ok && known && off(v.Offset-true) <= off(true)/10+limit
	}
	if !ok {
		n.t.Errorf("%s: %+v, want %v", what, wrong, clocks)
	}
	if got := !n.c.Believes(201, 301); got != (clocks[201] != 0 || clocks[301] != 0) {
		n.t.Errorf("%s: 201 to 301 is not believed: %v", what, got)
	}
}

// TestJudge: whichever clock is wrong, from the beginning or from some moment on, ahead, behind, by a jump or by and by, is
// found with its offset, alone, and no more once it is right.
func TestJudge(t *testing.T) {
	for seed := range int64(20) {
		n := newNet(t, seed)
		node, by := uint32(201+seed%4), int64(20_000+n.r.Int63n(9_000_000))
		if seed%2 == 0 {
			by = -by
		}
		if seed%5 == 0 {
			by = 37e9 // TAI for UTC
		}
		n.ahead[node] = by
		wrong, apart := n.pass(3, 100, nil)
		n.want(fmt.Sprint("from the beginning, ", seed), wrong, map[uint32]int64{node: by})
		if len(apart) > 0 {
			t.Errorf("apart: %v", apart)
		}
		n.ahead[node] = 0
		wrong, _ = n.pass(5, 100, nil)
		n.want("right again", wrong, nil)
		wrong, _ = n.pass(20, 100, nil)
		n.want("calm", wrong, nil)
		for _, jumped := range []uint32{node, 101, 302} { // of 101 all segments jump alike
			n.ahead[jumped] = by
			wrong, _ = n.pass(3, 100, nil)
			n.want(fmt.Sprint("jump of ", jumped), wrong, map[uint32]int64{jumped: by})
			n.ahead[jumped] = 0
			n.pass(5, 100, nil)
		}
		drift := int64(150_000)
		wrong, _ = n.pass(30, 100, func() { n.ahead[node] += drift })
		n.want("drift", wrong, map[uint32]int64{node: 30 * drift})
		if len(wrong) == 1 && off(wrong[0].Drift-drift) > drift/5 {
			t.Errorf("drift %d, want %d", wrong[0].Drift, drift)
		}
	}
}

// TestCompared: nodes with fresh times to and from neighbours are compared, those whose packets are long gone are not.
func TestCompared(t *testing.T) {
	n := newNet(t, 4)
	n.pass(3, 100, nil)
	if got := n.c.Compared(n.now); got[202] < 2 || got[7] != 0 {
		t.Errorf("%v", got)
	}
	if got := n.c.Compared(n.now + fresh + 1); len(got) > 0 {
		t.Errorf("too old, but %v", got)
	}
}

// TestJudgeNot: lines that are long, or become slow, clocks that are noisy, and what one pair of neighbours cannot tell are
// no clock that is wrong.
func TestJudgeNot(t *testing.T) {
	n := newNet(t, 1)
	n.slow[[2]uint32{101, 202}], n.slow[[2]uint32{202, 301}] = 3_000_000, 5_000_000
	wrong, apart := n.pass(30, 100, nil)
	n.slow[[2]uint32{103, 204}] = 2_000_000
	after, _ := n.pass(30, 100, nil)
	if len(wrong)+len(after)+len(apart) > 0 {
		t.Errorf("lines: %v %v %v", wrong, after, apart)
	}
	n = newNet(t, 2)
	n.noise = 200_000
	if wrong, _ = n.pass(30, 100, nil); len(wrong) > 0 {
		t.Errorf("noise: %+v", wrong)
	}
	n = newNet(t, 3)
	n.chain, n.ahead[301] = true, -50_000
	if wrong, apart = n.pass(10, 100, nil); len(wrong) > 0 || len(apart) != 1 || apart[0].From != 201 || apart[0].To != 301 || n.c.Believes(201, 301) || !n.c.Believes(101, 7) {
		t.Errorf("one pair: %+v %+v", wrong, apart)
	}
}

// TestDriftOfFewPackets: a clock that drifts is said to be its node's, though packets pass that node only now and then.
func TestDriftOfFewPackets(t *testing.T) {
	for seed := range int64(20) {
		n := newNet(t, seed)
		n.pass(60, 12, nil)
		told := 0
		for range 60 {
			wrong, apart := n.pass(1, 12, func() { n.ahead[202] -= 300_000 })
			if len(apart) > 0 {
				t.Errorf("%d: apart %+v", seed, apart)
			}
			told += len(wrong)
		}
		if told < 30 {
			t.Errorf("%d: told at %d of 60 looks", seed, told)
		}
	}
}

// TestManyClocks: two that are wrong in different ways are both found; whoever makes pairs up makes no more of them than there is room
// for.
func TestManyClocks(t *testing.T) {
	n := newNet(t, 4)
	n.ahead[201], n.ahead[203] = 4_000_000, -300_000
	wrong, _ := n.pass(4, 200, nil)
	n.want("two", wrong, map[uint32]int64{201: 4_000_000, 203: -300_000})
	for i := range uint32(3 * maxPairs) {
		n.c.See(n.now, []Crossing{{i, i + 1, -1 << 60}, {i + 1, i, 1 << 60}})
	}
	if n.c.Judge(n.now); n.c.pairs.Len() > maxPairs {
		t.Errorf("%d pairs", n.c.pairs.Len())
	}
}
