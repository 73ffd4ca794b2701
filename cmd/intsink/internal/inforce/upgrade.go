// Hands over to another program, and takes over from one: package upgrade.

package inforce

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/upgrade"
)

// Upgrade implements control.Sink. Once the program is ready, nothing is put into force any more, and the sink stops.
func (s *Sink) Upgrade(who string, q *control.Request) (*control.Result, error) {
	s.inReload.Lock()
	ready := false
	defer func() {
		if !ready { // else no reload is to come between
			s.inReload.Unlock()
		}
	}()
	if err := s.mayHandOver(); err != nil {
		return nil, err
	}
	own, err := upgrade.Own()
	if err != nil {
		return nil, err
	}
	info := control.Trial{Until: time.Now().UTC().Add(time.Duration(q.Confirm)), Limit: q.Limit, Tolerate: q.Tolerate, By: who, Program: s.Version}
	next, err := upgrade.Start(upgrade.Next(own), upgrade.Socket(s.config.Load().HTTP.SocketPath(os.Getenv)), &upgrade.Trial{Trial: info, Early: !s.RoomForTwo(), Paces: s.Problems.Paces()})
	if err != nil {
		return nil, err
	}
	ready = true
	r := s.newResult(who)
	_, good := s.State.Last()
	r.OK, r.Generation, r.Time, r.SHA256, r.Trial = true, good.Generation, time.Now().UTC(), good.SHA256, &info
	slog.Warn("upgrade: another program takes over, on trial", "by", who, "new", next.Version, "until", info.Until.Format(time.RFC3339))
	s.successor.Store(next)
	time.AfterFunc(answerPatience, func() { close(s.ends) })
	return r, nil
}

// Successor is the program that takes over; nil: none does.
func (s *Sink) Successor() *upgrade.Successor { return s.successor.Load() }

// Dismiss lets no program take over.
func (s *Sink) Dismiss() { s.successor.Store(nil) }

// answerPatience is for the answer to who asked for the upgrade: the stop ends its connection.
const answerPatience = 100 * time.Millisecond

// mayHandOver says what has to be done before another program can take over.
func (s *Sink) mayHandOver() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, good := s.State.Last()
	note := s.restartNote(good.SHA256)
	switch {
	case s.stopping.Load() || s.successor.Load() != nil:
		return errors.New("stopping")
	case s.trial != nil:
		return errors.New(s.trial.busy() + ", and then upgrade")
	case note != "":
		return errors.New(note + " than the one in force: copy that over it (intsink config), or reload, and then upgrade")
	}
	return nil
}

// StartTrial puts a program that took the place of another on trial. The caller has Hold.
func (s *Sink) StartTrial() {
	if e := upgrade.WentBack(os.Getenv); e != nil {
		s.State.WentBack(e)
		slog.Error("upgrade: undone", "new", e.Tried, "why", e.Why)
	}
	if s.Turn == nil {
		return
	}
	now := time.Now()
	first := reading{now: now}
	t := &trial{info: s.Turn.Trial.Trial, done: make(chan struct{}), mark: s.Problems.Mark(now).Before(s.Turn.Paces), first: first}
	_, t.of = s.State.Last()
	s.trial = t
	s.State.BeginTrial(t.info)
	slog.Warn("upgrade: this program is on trial, the one before it comes back unless intsink confirm comes", "version", s.Version, "until", t.info.Until.Format(time.RFC3339), "back", t.info.Program)
	go s.watchTrial(t)
	go func() {
		s.Turn.Follow(s.kept)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.trial == t && !s.stopping.Load() {
			s.leave(t, control.TrialCrashed, "the program before it has gone, which watched over it")
		}
	}()
}

// kept ends the trial of this program, which who has confirmed to the one before it. It returns what is worse than before.
func (s *Sink) kept(who string) (worse []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.trial; t != nil && t.was == nil && !s.stopping.Load() {
		return s.confirmed(t, who).Worse
	}
	return nil
}

// leave ends the trial of this program: it stops, and the one before it comes back. The caller holds s.mu.
func (s *Sink) leave(t *trial, end control.TrialEnd, why string) *control.Result {
	slog.Error("upgrade: the trial has ended, the program before this one comes back", "why", why, "back", t.info.Program)
	e := &control.EndedTrial{Trial: t.info, Tried: s.Version, End: end, Why: why, Time: time.Now().UTC()}
	s.Turn.GoBack(e)
	s.State.EndTrial(end, why, e.Time)
	close(s.ends)
	r := s.newResult(endOfTrial + why)
	_, good := s.State.Last()
	r.OK, r.Time, r.Generation, r.SHA256 = true, e.Time, good.Generation, good.SHA256
	return r
}
