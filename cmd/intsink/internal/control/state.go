// State: which configuration is in force, its trial, and the outcome of the last reload;
// Result, the JSON of that outcome.

package control

import (
	"sync"
	"time"

	"intsink/conf"
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
	Generation uint64 // that was on trial; of a program: 0
	Tried      string // version of the program that was on trial; "": a configuration was
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
	TrialProblem            // something became wrong
	TrialCrashed            // the new program ended, or did not forward
	NumTrialEnds
)

// String is the value of the result label.
func (e TrialEnd) String() string {
	return [...]string{"confirmed", "timeout", "back", "reports", "poll_gap", "stuck", "problem", "crashed"}[e]
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
	s.lastTrial = &EndedTrial{Trial: *s.trial, End: e, Why: why, Time: now.UTC()}
	if s.trial.Program == "" {
		s.lastTrial.Generation = s.trial.BackTo + 1
	}
	s.trial = nil
	s.ended[e]++
}

// WentBack takes up that the trial of another program ended before the start of this one, and how.
func (s *State) WentBack(e *EndedTrial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastTrial = e
	s.ended[e.End]++
}

// LastTrial is the last trial that has ended; nil: none has.
func (s *State) LastTrial() *EndedTrial {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastTrial
}

// Trial returns the trial of the configuration in force; nil: it is on none.
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

// Result is the answer of POST /api/v1/reload: what the reload changed, or why it was
// refused.
type Result struct {
	OK           bool          `json:"ok"`
	Generation   uint64        `json:"generation"` // of the configuration in force: 1 at start, one more with each reload
	Time         time.Time     `json:"time"`
	Config       string        `json:"config"` // path
	SHA256       string        `json:"sha256"` // of what was read there
	By           string        `json:"by"`     // who asked
	Error        string        `json:"error,omitempty"`
	Changes      []conf.Change `json:"changes"`       // changes that were made; none if it was refused
	NeedsRestart []conf.Change `json:"needs_restart"` // changes that take a restart, for which it was refused
	Diagnostics  []Diagnostic  `json:"diagnostics"`   // errors, for which it was refused, and warnings
	Trial        *Trial        `json:"trial"`         // null: the configuration in force needs no confirmation
	DryRun       bool          `json:"dry_run,omitempty"`
	Note         string        `json:"note,omitempty"`  // what a restart would bring, where that is something else
	Worse        []string      `json:"worse,omitempty"` // of a confirmation: what is worse than before the trial
}

// Diagnostic is a mistake in the configuration.
type Diagnostic struct {
	Severity string `json:"severity"` // "error" or "warning"
	File     string `json:"file"`
	Line     int    `json:"line"`   // from 1; 0: about the file as a whole
	Column   int    `json:"column"` // from 1, in characters
	Message  string `json:"message"`
	Snippet  string `json:"snippet"` // the line with the place underlined; "" where there is none
}

// Diagnostics returns the diagnostics of d as JSON structs.
func Diagnostics(d *conf.Diagnostics) []Diagnostic {
	all := []Diagnostic{}
	for _, list := range [][]conf.Diagnostic{d.Errors, d.Warnings} {
		for _, x := range list {
			all = append(all, Diagnostic{x.Severity.String(), x.File, x.Line, x.Column, x.Message, x.Snippet})
		}
	}
	return all
}
