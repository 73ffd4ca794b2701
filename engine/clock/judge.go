// Judge: which clocks are wrong, and by how much.

package clock

import (
	"cmp"
	"slices"
)

// What a clock is judged by.
const (
	limit     = 10_000 // nanoseconds that a clock may be off, and a time negative
	fresh     = 10e9   // how long ago a pair was seen that counts
	forget    = 60e9   // how long a clock stays wrong that nothing tells of
	learning  = 10     // looks at which both clocks of a pair are believed before what its line takes is known
	follow    = 1000   // nanoseconds by which that moves at a look, at most: what moves faster is a clock
	wellAfter = 3      // looks at which a clock has to be right
	apartFor  = 3e9    // how long two neighbours disagree before that is said: a clock that jumps shows at one pair first
	manyApart = 30e9   // how long they do where other neighbours of theirs disagree, too: whose clock it is will be known soon
)

// Verdict is a clock that is wrong.
type Verdict struct {
	Node   uint32
	Offset int64 // how far it is ahead of its neighbours', nanoseconds; negative: behind
	Drift  int64 // by how much that grows in a second
	Since  int64 // Unix nanoseconds
	Pairs  int   // neighbours that show it

	first, firstAt int64 // the first offset that was found, and when
	seen           int64
	well           int
}

// Disagreement is two neighbours between which time runs backwards, where nothing tells whose clock is wrong.
type Disagreement struct {
	From, To uint32
	Ns       int64
	Since    int64
}

// shift is what one pair says of a node's clock.
type shift struct {
	pair     *seenPair
	ahead    int64 // of the other one
	evidence bool  // the pair cannot be as it is, or is not as it was
}

type seenPair struct {
	from, to uint32
	*pair
	ns     int64 // the shortest time of the last
	spread int64 // by how much the longest of them is longer
}

// Judge finds the clocks that are wrong now, and the pairs of neighbours that disagree.
func (c *Clocks) Judge(now int64) (wrong []Verdict, rest []Disagreement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []seenPair
	c.pairs.Walk(0, maxPairs, func(key [2]uint64, _ uint32, p *pair) {
		if p.n >= lately && now-p.seen < fresh {
			least := slices.Min(p.last[:])
			all = append(all, seenPair{uint32(key[0] >> 32), uint32(key[0]), p, least, slices.Max(p.last[:]) - least})
		}
	})
	slices.SortFunc(all, func(a, b seenPair) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	found := map[uint32]bool{}
	for range len(all) {
		node, v := worst(all, found)
		if v == nil {
			break
		}
		found[node] = true
		c.take(now, v)
	}
	c.heal(now, all, found)
	doubted := map[uint32]bool{}
	for node, v := range c.verdicts {
		doubted[node] = true
		wrong = append(wrong, *v)
	}
	odd := map[uint32]int{} // pairs, by node
	for i := range all {
		if p := &all[i]; p.odd != 0 {
			odd[p.from]++
			odd[p.to]++
		}
	}
	for i := range all {
		p := &all[i]
		switch {
		case c.verdicts[p.from] != nil || c.verdicts[p.to] != nil:
		case p.ns >= -limit:
			p.learn()
		default:
			doubted[p.from], doubted[p.to] = true, true
			alone := odd[p.from] == 1 && odd[p.to] == 1
			if lasts := now - p.odd; p.odd != 0 && lasts >= apartFor && (alone || lasts >= manyApart) {
				rest = append(rest, Disagreement{p.from, p.to, p.ns, p.odd})
			}
		}
	}
	if c.wrong.Store(nil); len(doubted) > 0 {
		c.wrong.Store(&doubted)
	}
	slices.SortFunc(wrong, func(a, b Verdict) int { return cmp.Compare(a.Node, b.Node) })
	return wrong, rest
}

// worst returns the node whose clock explains the most pairs, besides those that are known; nil: none does.
func worst(all []seenPair, known map[uint32]bool) (node uint32, v *Verdict) {
	at := map[uint32][]shift{}
	for i := range all {
		p := &all[i]
		if known[p.from] || known[p.to] {
			continue
		}
		usual := int64(0) // nobody knows: short, beside what a clock is off by
		if p.isKnown() {
			usual = p.usual
		}
		ahead, evidence := p.ns-usual, p.ns < -limit || p.isKnown() && off(p.ns-usual) > limit
		at[p.to] = append(at[p.to], shift{p, ahead, evidence})
		at[p.from] = append(at[p.from], shift{p, -ahead, evidence})
	}
	best := 0
	for id, shifts := range at {
		if x := explain(id, shifts); x != nil && (x.Pairs > best || x.Pairs == best && id < node) {
			node, v, best = id, x, x.Pairs
		}
	}
	return node, v
}

// explain returns what a node's clock would be off by, where that explains three of four of its pairs, two at least; nil: it does
// not: times that differ by as much as that are noise. What all of them took from the beginning is only held against the clock where time runs backwards.
func explain(node uint32, shifts []shift) *Verdict {
	ahead := make([]int64, len(shifts))
	for i := range shifts {
		ahead[i] = shifts[i].ahead
	}
	slices.Sort(ahead)
	offset := ahead[len(ahead)/2]
	if off(offset) <= limit {
		return nil
	}
	v := &Verdict{Node: node, Offset: offset}
	odd := false
	for i := range shifts {
		s := &shifts[i]
		if off(s.ahead-offset) > limit+off(offset)/4 || 2*s.pair.spread > off(offset) {
			continue
		}
		v.Pairs++
		v.seen = max(v.seen, s.pair.seen)
		if odd = odd || s.evidence; s.pair.odd != 0 && (v.Since == 0 || s.pair.odd < v.Since) {
			v.Since = s.pair.odd
		}
	}
	if !odd || v.Pairs < 2 || 4*v.Pairs < 3*len(shifts) {
		return nil
	}
	return v
}

// take keeps what was found of a clock.
func (c *Clocks) take(now int64, v *Verdict) {
	old := c.verdicts[v.Node]
	if old == nil {
		if v.firstAt, v.first = now, v.Offset; v.Since == 0 {
			v.Since = now
		}
		c.verdicts[v.Node] = v
		return
	}
	old.Offset, old.Pairs, old.seen, old.well = v.Offset, v.Pairs, v.seen, 0
	if passed := now - old.firstAt; passed >= 5e9 {
		old.Drift = int64(float64(old.Offset-old.first) / (float64(passed) / 1e9))
	}
}

// heal ends what is not found any more: at once where other packets tell so at some looks, or after a while where none tells.
func (c *Clocks) heal(now int64, all []seenPair, found map[uint32]bool) {
	for node, v := range c.verdicts {
		if found[node] {
			continue
		}
		told := slices.ContainsFunc(all, func(p seenPair) bool { return p.from == node || p.to == node })
		if told {
			v.well++
		}
		if v.well >= wellAfter || now-v.seen > forget {
			delete(c.verdicts, node)
		}
	}
}

// isKnown reports whether it is known what the line takes.
func (p *pair) isKnown() bool { return p.believed >= learning }

// learn follows what the line takes.
func (p *seenPair) learn() {
	if p.isKnown() {
		p.usual += max(min(p.ns-p.usual, follow), -follow)
		return
	}
	if p.believed++; p.believed == 1 || p.ns < p.usual {
		p.usual = p.ns
	}
}

// off is how far x is from 0.
func off(x int64) int64 { return max(x, -x) }
