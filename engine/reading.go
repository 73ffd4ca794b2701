// INTRules: how INT of a link is read; links whose rules are the same share a reading, with the templates that were
// made so.

package engine

import (
	"intsink/engine/burst"
	"intsink/engine/fast"
	"intsink/engine/stage/parse"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/quote"
)

// INTRules say how INT of a link is read, and what becomes of what is none.
type INTRules struct {
	INT           inthdr.Config
	DropMalformed bool
	Leak          tonetwork.LeakPolicy
	LeakMark      tonetwork.MarkPolicy
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

// readings are those that links have, and others that are kept for the next rules: C has the memory of their templates
// for good. The first is that of links without rules of their own.
type readings struct {
	all   []*burst.Reading
	paths []*fast.Path // of those that links have
}

// set makes reading n read by r: it forgets its templates.
func (x *readings) set(n int, r *INTRules, newPath func() *fast.Path) *burst.Reading {
	if n == len(x.all) {
		x.all = append(x.all, &burst.Reading{Fast: newPath()})
	}
	one := x.all[n]
	one.Locator, one.DropMalformed = inthdr.NewLocator(r.INT), r.DropMalformed
	one.Fast.Configure(one.Locator.Marks())
	x.paths = append(x.paths, one.Fast)
	return one
}

// setReadings gives each link the reading that r asks for, and parse and tonetwork their part by link.
func (w *Worker) setReadings(r *Rules) {
	newPath := func() *fast.Path { return fast.New(w.table.Index(), w.detector.View()) }
	shared := &INTRules{r.INT, r.DropMalformed, r.Leak, r.LeakMark}
	w.readings.paths = w.readings.paths[:0]
	first, quoter := w.readings.set(0, shared, newPath), parse.QuoterOf(shared.INT)
	quoters, policies := make([]*quote.Quoter, len(w.links)), make([]tonetwork.Rules, len(w.links))
	for i := range w.links {
		l, rules := &w.links[i], shared
		l.Reading, quoters[i] = first, quoter
		if own := r.own(i); own != nil {
			rules = own
			l.Reading, quoters[i] = w.readings.set(len(w.readings.paths), own, newPath), parse.QuoterOf(own.INT)
		}
		policies[i] = tonetwork.Rules{Leak: rules.Leak, Mark: rules.LeakMark}
		if w.loop != nil {
			w.loop.SetPath(i, l.Fast)
		}
	}
	w.burst.Fast = first.Fast
	w.stages.parse.Adopt(quoters, r.InnerKeys)
	w.stages.fromHost.Adopt(policies)
}
