// Store: keeps the rules in force, ends them in time, hands them to the workers.

package mitigation

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"intsink/cmd/internal/statefile"
	"intsink/engine/aside/mitigate"
)

// Worker is what rules are handed to.
type Worker interface {
	Mitigate(*mitigate.Table)
	Mitigates(*mitigate.Table) bool // they are in force
}

// Store is the rules of a running sink. Safe from any goroutine.
type Store struct {
	workers []Worker
	links   []string     // with mitigation
	clock   func() int64 // of the workers, nanoseconds
	wall    func() int64 // what the wall clock is ahead of it
	keeper  *statefile.Keeper

	mu     sync.Mutex
	rules  []*entry // in order
	lastID uint64
	timer  *time.Timer // runs expire when the next rule ends; nil: no rule was ever added
	closed bool
}

// entry is one rule.
type entry struct {
	rule    *mitigate.Rule
	request Request
	by      string
	created int64
	attack  *attack // where /aggAttack added it
}

// Errors of Add for requests that are right, but cannot be fulfilled.
var (
	errNoLink = errors.New("no link has mitigation: set link { mitigation = true } and restart")
	errFull   = fmt.Errorf("there are %d rules already: remove some, or wait until they end", mitigate.MaxRules)
)

// NewStore makes a Store for workers, whose time clock tells; wall is by how much the wall
// clock is ahead of that; links have mitigation.
func NewStore[W Worker](workers []W, links []string, clock, wall func() int64) *Store {
	s := &Store{links: links, clock: clock, wall: wall}
	for _, w := range workers {
		s.workers = append(s.workers, w)
	}
	return s
}

// Close ends all rules; those that are kept hold again after the next start.
func (s *Store) Close() {
	s.keeper.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.rules = true, nil
	if s.timer != nil {
		s.timer.Stop()
	}
	s.handOver()
}

// Add puts a rule behind those that there are. A repeated attack is one rule, which then
// lasts longer.
func (s *Store) Add(r *Request, by string, a *attack) (Rule, error) {
	rule, err := s.add(r, by, a)
	if err == nil {
		s.keeper.Changed()
	}
	return rule, err
}

func (s *Store) add(r *Request, by string, a *attack) (Rule, error) {
	m, action, err := r.compile()
	if err != nil {
		return Rule{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	s.removeEnded(now)
	end := now + int64(r.TTL)
	if i := s.ofAttack(a); i >= 0 {
		s.rules[i].rule.Extend(end)
		s.arm(now)
		return s.show(s.rules[i]), nil
	}
	switch {
	case len(s.links) == 0 || s.closed:
		return Rule{}, errNoLink
	case len(s.rules) >= mitigate.MaxRules:
		return Rule{}, errFull
	}
	s.lastID++
	e := &entry{mitigate.NewRule(s.lastID, m, action, r.Rate, now, end, len(s.workers)), *r, by, now, a}
	s.rules = append(s.rules, e)
	s.handOver()
	s.arm(now)
	return s.show(e), nil
}

// ofAttack is the place of the rule of a; -1: there is none.
func (s *Store) ofAttack(a *attack) int {
	return slices.IndexFunc(s.rules, func(e *entry) bool { return a != nil && e.attack != nil && a.same(e.attack) })
}

// Remove ends the first rule that which tells, and returns it as it was.
func (s *Store) Remove(which func(*entry) bool) (Rule, bool) {
	rule, ok := s.remove(which)
	if ok {
		s.keeper.Changed()
	}
	return rule, ok
}

func (s *Store) remove(which func(*entry) bool) (Rule, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeEnded(s.clock())
	i := slices.IndexFunc(s.rules, which)
	if i < 0 {
		return Rule{}, false
	}
	e := s.rules[i]
	s.rules = slices.Delete(s.rules, i, i+1)
	s.handOver()
	return s.show(e), true
}

// List is all rules, in order.
func (s *Store) List() List {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeEnded(s.clock())
	l := List{Rules: []Rule{}, Capacity: mitigate.MaxRules, Links: append([]string{}, s.links...)}
	for _, e := range s.rules {
		l.Rules = append(l.Rules, s.show(e))
	}
	return l
}

// Rules counts those that there are, by action.
func (s *Store) Rules() (n [mitigate.NumActions]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeEnded(s.clock())
	for _, e := range s.rules {
		n[e.rule.Action]++
	}
	return n
}

// expire runs when a rule has ended.
func (s *Store) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	s.removeEnded(now)
	s.arm(now)
}

// arm sets the timer to the end of the rule that ends next. Workers look at the end
// themselves: the timer only spares them rules that have ended.
func (s *Store) arm(now int64) {
	if len(s.rules) == 0 || s.closed {
		return
	}
	next := s.rules[0].rule.Expires()
	for _, e := range s.rules {
		next = min(next, e.rule.Expires())
	}
	wait := time.Duration(max(next-now, 0)) + time.Millisecond
	if s.timer == nil {
		s.timer = time.AfterFunc(wait, s.expire)
		return
	}
	s.timer.Reset(wait)
}

func (s *Store) removeEnded(now int64) {
	before := len(s.rules)
	s.rules = slices.DeleteFunc(s.rules, func(e *entry) bool {
		ended := now >= e.rule.Expires()
		if ended {
			c := e.rule.Counters()
			slog.Info("mitigation: a rule has ended", "id", e.rule.ID, "comment", e.request.Comment, "packets", c.Packets, "dropped", c.DroppedPackets)
		}
		return ended
	})
	if len(s.rules) != before {
		s.handOver()
	}
}

// adoption is how long workers may take to take rules over: mostly it is a millisecond.
const adoption = 200 * time.Millisecond

// handOver gives the rules to the workers, and waits until they hold.
func (s *Store) handOver() {
	t := s.offer()
	for late := time.Now().Add(adoption); !s.hold(t) && time.Now().Before(late); {
		time.Sleep(time.Millisecond / 4)
	}
}

// offer gives the rules to the workers, which take them over in their next tick.
func (s *Store) offer() *mitigate.Table {
	rules := make([]*mitigate.Rule, len(s.rules))
	for i, e := range s.rules {
		rules[i] = e.rule
	}
	t := mitigate.New(rules)
	for _, w := range s.workers {
		w.Mitigate(t)
	}
	return t
}

// hold tells whether t is in force in all workers.
func (s *Store) hold(t *mitigate.Table) bool {
	for _, w := range s.workers {
		if !w.Mitigates(t) {
			return false
		}
	}
	return true
}

// show is e as the API tells it.
func (s *Store) show(e *entry) Rule {
	c := e.rule.Counters()
	at := func(ns int64) time.Time { return time.Unix(0, ns+s.wall()).UTC().Truncate(time.Millisecond) }
	return Rule{
		ID: e.rule.ID, Request: e.request, By: e.by, Created: at(e.created), Expires: at(e.rule.Expires()),
		Packets: c.Packets, Bytes: c.Bytes, DroppedPackets: c.DroppedPackets, DroppedBytes: c.DroppedBytes,
	}
}
