// State: which configuration is in force, and the outcome of the last reload.

package control

import (
	"sync"
	"time"
)

// State is which configuration is in force, and what became of the last reload. Safe from
// any goroutine.
type State struct {
	mu   sync.Mutex
	last Result // of all reloads
	good Result // of those that were not refused; the start counts as one
}

// NewState is the state after a start at now with the configuration at path.
func NewState(path, sha256 string, now time.Time) *State {
	r := Result{OK: true, Generation: 1, Time: now.UTC(), Config: path, SHA256: sha256, By: "start"}
	return &State{last: r, good: r}
}

// Done keeps the result of a reload, whose generation it fills in.
func (s *State) Done(r *Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Generation = s.good.Generation
	if r.OK {
		r.Generation++
		s.good = *r
	}
	s.last = *r
}

// Last is the result of the last reload, and of the last that was not refused. Before the
// first both tell of the start.
func (s *State) Last() (last, good Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.good
}
