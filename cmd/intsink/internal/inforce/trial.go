// Runs a configuration, or a new program, on trial: judges what workers report, goes back by itself
// unless somebody confirms it.

package inforce

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/control"
	"intsink/conf"
)

// judgeEvery is how often a trial is looked at.
const judgeEvery = 250 * time.Millisecond

// trial is a configuration in force, or a program, that goes by itself unless somebody confirms it.
type trial struct {
	info control.Trial
	was  *conf.Config   // comes back; nil: the program does that was before
	of   control.Result // that it came into force with
	done chan struct{}

	mark  *problem.Mark // what was wrong before it
	pace  float64       // reports a second before it
	first reading       // of the trial
}

// beginTrial puts the configuration that has just come into force on trial; was is the one to go
// back to, mark and first are of the moment before. The caller holds s.mu.
func (s *Sink) beginTrial(r *control.Result, q *control.Request, was *conf.Config, mark *problem.Mark, first reading) {
	_, good := s.State.Last()
	info := control.Trial{Until: time.Now().UTC().Add(time.Duration(q.Confirm)), BackTo: good.Generation, Limit: q.Limit, Tolerate: q.Tolerate, By: r.By}
	s.trial = &trial{info: info, was: was, of: good, done: make(chan struct{}), mark: mark, pace: pace(&s.adopted, &first), first: first}
	r.Trial = &info
	s.State.BeginTrial(info)
	slog.Warn("reload: on trial, the configuration before it comes back unless intsink confirm comes", "by", r.By, "until", info.Until.Format(time.RFC3339), "back_to", info.BackTo)
	go s.watchTrial(s.trial)
}

// watchTrial ends t when its time is over, or a limit is exceeded.
func (s *Sink) watchTrial(t *trial) {
	j := newJudge(&t.info, s.readingOf(t))
	if t.was == nil {
		j.start = t.first.now
	}
	tick := time.NewTicker(judgeEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.done:
			return
		case <-tick.C:
		}
		if end, why := j.look(s.readingOf(t)); why != "" {
			s.mu.Lock()
			if s.trial == t && !s.stopping.Load() {
				s.goBack(end, why)
			}
			s.mu.Unlock()
			return
		}
	}
}

// Confirm implements control.Sink.
func (s *Sink) Confirm(who string, back bool) (*control.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trial
	switch {
	case s.stopping.Load():
		return nil, errors.New("stopping")
	case t == nil:
		return nil, s.nothingOnTrial()
	case back:
		return s.goBack(control.TrialBack, "asked for by "+who), nil
	}
	if t.was == nil {
		return nil, errors.New("a program on trial does not confirm itself: intsink confirm tells the one that watches over it")
	}
	s.History.Ended("confirmed by " + who)
	return s.confirmed(t, who), nil
}

// confirmed ends t: what is on trial stays. The caller holds s.mu.
func (s *Sink) confirmed(t *trial, who string) *control.Result {
	close(t.done)
	s.trial = nil
	s.State.EndTrial(control.TrialConfirmed, "confirmed by "+who, time.Now())
	_, r := s.State.Last()
	r.By, r.Trial, r.Note, r.Worse = who, nil, s.restartNote(r.SHA256), s.worse(t)
	slog.Info("trial: confirmed", "by", who, "generation", r.Generation)
	return &r
}

// nothingOnTrial says why nothing can be confirmed. Whoever confirms too late learns how the
// trial ended, since their configuration is no longer in force.
func (s *Sink) nothingOnTrial() error {
	_, good := s.State.Last()
	if why, back := strings.CutPrefix(good.By, endOfTrial); back {
		return fmt.Errorf("there is nothing to confirm: the last trial ended at %s, %s; the configuration before it is in force again, as generation %d", good.Time.Format(time.RFC3339), why, good.Generation)
	}
	return errors.New("there is nothing to confirm: what is in force is on no trial")
}

// endOfTrial begins what a reload is said to be by, where a trial's end made it.
const endOfTrial = "end of a trial: "

// goBack puts the configuration from before the trial into force. The caller holds s.mu.
func (s *Sink) goBack(end control.TrialEnd, why string) *control.Result {
	t := s.trial
	close(t.done)
	s.trial = nil
	if t.was == nil {
		return s.leave(t, end, why)
	}
	s.History.Ended("went back: " + why)
	ended := time.Now()
	defer func() { s.State.EndTrial(end, why, ended) }() // after status, metrics and readiness describe the old configuration again
	done := s.Tell()
	defer done()
	r := s.newResult(endOfTrial + why)
	r.Config, r.SHA256 = t.of.Config, t.of.SHA256
	slog.Warn("reload: the trial has ended, the configuration before it comes back", "why", why)
	tried, back := s.config.Load(), t.was
	s.Serve(back.HTTP, func() { s.config.Store(back) })
	r.Changes = conf.Diff(tried, back)
	late := s.adopt(tried, back)
	r.OK, r.Time, r.Note = true, time.Now().UTC(), joinNotes(s.degradedNote(), noteOf(late, s.restartNote(r.SHA256)))
	s.finish(r)
	return r
}

// worse says what is worse than before t.
func (s *Sink) worse(t *trial) (lines []string) {
	r := s.readingOf(t)
	for i := range r.worse {
		lines = append(lines, r.worse[i].Line())
	}
	if now := pace(&t.first, &r); now > muchMore*t.pace && now > t.pace+1 {
		lines = append(lines, fmt.Sprintf("%.0f reports a second, %.0f before", now, t.pace))
	}
	return lines
}

// muchMore is how many times the rate of before is worth a line.
const muchMore = 1.5

// pace is how many reports a second were built from one reading to another, whatever collectors there were.
func pace(from, to *reading) float64 {
	return float64(to.built-from.built) / max(to.now.Sub(from.now).Seconds(), 1)
}

// reading is what a trial is judged by.
type reading struct {
	now     time.Time
	reports uint64            // made since the start, for each collector
	built   uint64            // made since the start, each counted once
	worse   []problem.Problem // than before the trial
	gap     time.Duration     // the longest between two polls of the last second or two
	stuck   error             // a worker does not poll
}

// readingOf is a reading with what became worse in t.
func (s *Sink) readingOf(t *trial) reading {
	r := s.reading()
	r.worse = s.Problems.Worse(t.mark, r.now)
	return r
}

func (s *Sink) reading() reading {
	r := reading{now: time.Now(), stuck: s.Healthy()}
	for _, w := range s.Workers {
		c := w.Snapshot()
		r.gap = max(r.gap, time.Duration(c.Pace.RecentNs))
		for _, n := range c.News {
			r.built += n
		}
		for i := range c.Collectors {
			r.reports += c.Collectors[i].Reports
		}
	}
	return r
}

// judge compares readings with the limits of a trial.
type judge struct {
	info  *control.Trial
	began time.Time
	start time.Time // of a new program; zero: a configuration is on trial
	since reading   // the reading that the rate of reports is counted from; replaced once a second
}

func newJudge(t *control.Trial, first reading) *judge {
	return &judge{info: t, began: first.now, since: first}
}

// gapsFrom is when all gaps that a reading knows are later than the beginning of the trial.
const gapsFrom = 2 * time.Second

// A start loses something until all is there: what began in its first seconds may take until startOver to be over.
const (
	startBegins = 10 * time.Second
	startOver   = 30 * time.Second
)

// ofStart tells whether p is what the start of a program brings about, at time now.
func (j *judge) ofStart(p *problem.Problem, now time.Time) bool {
	return !j.start.IsZero() && p.Since.Before(j.start.Add(startBegins)) && (p.Until != nil || now.Before(j.start.Add(startOver)))
}

// look says why the trial ends, "" while it does not.
func (j *judge) look(r reading) (end control.TrialEnd, why string) {
	if !r.now.Before(j.info.Until) {
		return control.TrialTimeout, "nobody confirmed it in time"
	}
	if r.stuck != nil {
		return control.TrialStuck, r.stuck.Error()
	}
	for i := range r.worse {
		if p := &r.worse[i]; p.ByChange() && !slices.Contains(j.info.Tolerate, p.Kind) && !j.ofStart(p, r.now) {
			return control.TrialProblem, p.Line()
		}
	}
	l := j.info.Limit
	if l == nil {
		return 0, ""
	}
	if limit := time.Duration(l.PollGap); limit > 0 && r.gap > limit && r.now.Sub(j.began) >= gapsFrom {
		return control.TrialPollGap, fmt.Sprintf("a gap of %v between two polls, the limit is %v", r.gap, limit)
	}
	if passed := r.now.Sub(j.since.now); passed >= time.Second {
		made := float64(max(int64(r.reports-j.since.reports), 0)) / passed.Seconds()
		if l.Reports > 0 && made > float64(l.Reports) {
			return control.TrialReports, fmt.Sprintf("%.0f reports a second, the limit is %d", made, l.Reports)
		}
		j.since = r
	}
	return 0, ""
}
