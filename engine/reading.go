// reading: how INT of a link is read, with the templates that were made so; links whose rules are the same share one.

package engine

import (
	"intsink/engine/fast"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/quote"
)

// INTRules say how INT of a link is read, and what becomes of what is none.
type INTRules struct {
	INT           inthdr.Config
	DropMalformed bool
	Leak          LeakPolicy
	LeakMark      MarkPolicy
}

// own are the rules of link i if it has some of its own, else nil.
func (r *Rules) own(i int) *INTRules {
	if i < len(r.Own) {
		return r.Own[i]
	}
	return nil
}

// domains is a configuration of the domains of all links.
func (r *Rules) domains() *inthdr.Config {
	c := inthdr.Config{Domains: r.INT.Domains}
	for _, own := range r.Own {
		if own != nil {
			c.Domains = append(c.Domains[:len(c.Domains):len(c.Domains)], own.INT.Domains...)
		}
	}
	return &c
}

// reading is what is made of INTRules.
type reading struct {
	*INTRules
	locator *inthdr.Locator
	quoter  *quote.Quoter
	fast    *fast.Path
}

func (w *Worker) newReading() *reading {
	return &reading{fast: fast.New(w.table.Index(), w.detector.View())}
}

// set makes x read by other rules: it forgets its templates.
func (x *reading) set(r *INTRules) {
	x.INTRules, x.locator, x.quoter = r, inthdr.NewLocator(r.INT), newQuoter(&r.INT)
	x.fast.Configure(x.locator.Marks())
}

// setReadings gives each link the reading that r asks for; the first is that of all links without rules of their own.
// A reading that no link needs any more is kept for the next rules: C has the memory of its templates for good.
func (w *Worker) setReadings(r *Rules) {
	w.readings[0].set(&INTRules{r.INT, r.DropMalformed, r.Leak, r.LeakMark})
	w.paths = append(w.paths[:0], w.readings[0].fast)
	for i := range w.links {
		x := w.readings[0]
		if own := r.own(i); own != nil {
			n := len(w.paths)
			if n == len(w.readings) {
				w.readings = append(w.readings, w.newReading())
			}
			x = w.readings[n]
			x.set(own)
			w.paths = append(w.paths, x.fast)
		}
		w.links[i].reading = x
		if w.loop != nil {
			w.loop.SetPath(i, x.fast)
		}
	}
	w.reading = nil
	w.turnTo(&linkState{reading: w.readings[0]})
}

// turnTo makes the reading of p that of the burst at hand.
func (w *Worker) turnTo(p *linkState) {
	if w.reading == p.reading {
		return
	}
	w.reading = p.reading
	w.locator, w.quoter, w.fast = p.reading.locator, p.reading.quoter, p.reading.fast
	w.burst.fast = w.fast
}
