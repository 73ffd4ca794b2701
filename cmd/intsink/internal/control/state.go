// State: which configuration is in force, and the outcome of the last reload.

package control

import (
	"sync"
	"time"
)

// State keeps which configuration is in force, its trial, and the outcome of the last reload.
// Any goroutine may call its methods.
type State struct {
	mu   sync.Mutex
	last Result // result of the last reload
	good Result // result of the last reload that was not refused; the start counts as one

	trial     *Trial // of good; nil: it is confirmed, or needs no confirmation
	ended     [NumTrialEnds]uint64
	lastTrial *EndedTrial // nil: no trial has ended
}

// EndedTrial is a trial that has ended, and how.
type EndedTrial struct {
	Trial
	Generation uint64 // that was on trial
	End        TrialEnd
	Why        string
	Time       time.Time
}

// TrialEnd says how a trial ended.
type TrialEnd uint8

const (
	TrialConfirmed TrialEnd = iota
	TrialTimeout            // nobody confirmed in time
	TrialBack               // somebody asked to go back
	TrialReports            // there were more reports than its limit
	TrialPollGap            // a worker polled later than its limit
	TrialStuck              // a worker did not poll
	NumTrialEnds
)

// String is the value of the result label.
func (e TrialEnd) String() string {
	return [...]string{"confirmed", "timeout", "back", "reports", "poll_gap", "stuck"}[e]
}

// BeginTrial puts the configuration in force on trial.
func (s *State) BeginTrial(t Trial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trial = &t
}

// EndTrial ends the trial at now; why is for people.
func (s *State) EndTrial(e TrialEnd, why string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastTrial = &EndedTrial{Trial: *s.trial, Generation: s.trial.BackTo + 1, End: e, Why: why, Time: now.UTC()}
	s.trial = nil
	s.ended[e]++
}

// LastTrial is the last trial that has ended; nil: none has.
func (s *State) LastTrial() *EndedTrial {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastTrial
}

// Trial is that of the configuration in force; nil: it is on none.
func (s *State) Trial() *Trial {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trial
}

// Trials returns how many trials ended so.
func (s *State) Trials(e TrialEnd) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended[e]
}

// NewState returns the state after a start at now with the configuration at path.
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

// Last returns the result of the last reload, and of the last one that was not refused. Before
// the first reload both describe the start.
func (s *State) Last() (last, good Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.good
}
