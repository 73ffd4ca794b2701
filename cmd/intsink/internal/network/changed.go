// Places at which what is usual has changed, so that what is held against it has, too: one problem for a node, or a segment.

package network

import (
	"fmt"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/usual"
)

// changedPlace is a node, or what lies between two of them.
type changedPlace struct {
	from, to uint32 // the same of a node
	all      []usual.Change
}

// usualChanged lists the places. The caller holds x.mu.
func (x *Network) usualChanged(k *Known, now time.Time) []problem.Sign {
	at := map[[2]uint32]int{}
	var places []changedPlace
	for _, c := range k.Changed {
		from := uint32(c.Key[0] >> 32)
		ends := [2]uint32{from, from}
		if c.Kind == usual.Segment {
			ends[1] = uint32(c.Key[1] >> 32)
			if k.Believes != nil && !k.Believes(ends[0], ends[1]) {
				continue
			}
		}
		i, known := at[ends]
		if !known {
			i, at[ends] = len(places), len(places)
			places = append(places, changedPlace{from: ends[0], to: ends[1]})
		}
		places[i].all = append(places[i].all, c)
	}
	var all []found
	for i := range places {
		p := &places[i]
		node := p.from
		if x.elder(p.from, p.to) < 0 {
			node = p.to // the one that is known for less long
		}
		all = append(all, found{node, uint64(len(p.all)), p.sign})
	}
	return x.choose(problem.UsualChanged, all, now)
}

// sign is of the change that is the largest, and says how many there are.
func (p *changedPlace) sign() problem.Sign {
	worst, since, queues := &p.all[0], p.all[0].Since, 0
	for i := range p.all {
		c := &p.all[i]
		since = min(since, c.Since)
		if c.Occupancy {
			queues++
		}
		if float64(c.Is)*float64(worst.Was) > float64(worst.Is)*float64(c.Was) {
			worst = c
		}
	}
	s := problem.Sign{
		Kind: problem.UsualChanged, Key: fmt.Sprintf("usual at %d-%d", p.from, p.to), Subject: "network", Place: place("node", p.from), Since: time.Unix(0, since), Settle: settle,
		What: "what is usual at it has changed, and with it what counts as too much", Over: "it is near what it was before, or has been so for a week",
		Value: new(float64(worst.Is)), Usual: new(float64(worst.Was)), Unit: "ns",
		Todo: "see whether that is as it should be: a node, a line or traffic that changed; if not, it may be a fault that grew, or made-up packets",
	}
	if worst.Occupancy {
		s.Unit = "of occupancy"
	}
	switch ways := len(p.all) - queues; {
	case p.from != p.to:
		s.Place = place("from", p.from, "to", p.to)
	case ways == 0 && queues == 1:
		s.Place = place("node", p.from, "egress", uint16(worst.Key[0]), "queue", uint8(worst.Key[1]))
	default:
		s.Evidence.Why = fmt.Sprintf("of %d ways through it and %d queues", ways, queues)
	}
	return s
}
