// Adopts a new configuration: reads and checks it, hands rules to workers, waits for all,
// retires exporters, fills control.Result.

package inforce

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/logging"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
)

// Reload implements control.Sink: it adopts the configuration that q has, or its own file as it
// is now, or keeps the old one and says why. Safe from any goroutine; one reload after the
// other.
func (s *Sink) Reload(who string, q *control.Request) *control.Result {
	s.inReload.Lock()
	defer s.inReload.Unlock()
	r := s.newResult(who)
	if !q.DryRun {
		if s.onTrial(r) {
			return r
		}
		defer s.Tell()()
	}
	var c *conf.Config
	if err := s.rollBack(q); err != nil {
		r.Error = err.Error()
	} else {
		c = s.read(r, q)
	}
	s.mu.Lock() // no earlier: neither modes nor the stop wait for a disk
	defer s.mu.Unlock()
	switch {
	case s.stopping.Load():
		r.Error = "stopping"
	case c != nil && s.permits(r, q, c) && !q.DryRun:
		s.reload(r, q, c)
	}
	r.OK, r.Time, r.DryRun = r.Error == "", time.Now().UTC(), q.DryRun
	if q.DryRun {
		_, good := s.State.Last()
		r.Generation = good.Generation
		return r
	}
	s.finish(r)
	s.remember(r, q)
	return r
}

// onTrial refuses a reload while what is in force is on trial. Nobody has looked at the file: what is known of the
// last reload stays.
func (s *Sink) onTrial(r *control.Result) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trial == nil || s.stopping.Load() {
		return false
	}
	_, good := s.State.Last()
	r.Generation, r.Time = good.Generation, time.Now().UTC()
	r.Error = s.trial.busy() + ", and then reload"
	slog.Warn("reload refused", "by", r.By, "err", r.Error)
	return true
}

// busy says what to do before anything else is put on trial.
func (t *trial) busy() string {
	return fmt.Sprintf("what is in force is on trial until %s: keep it with intsink confirm, or go back with intsink confirm --back", t.info.Until.Format(time.RFC3339))
}

// newResult returns the result of a reload that has only been asked for, by who; the fields that the
// reload decides are still empty.
func (s *Sink) newResult(who string) *control.Result {
	return &control.Result{By: who, Config: s.path, Changes: []conf.Change{}, NeedsRestart: []conf.Change{}, Diagnostics: []control.Diagnostic{}}
}

// finish keeps and logs what became of a reload.
func (s *Sink) finish(r *control.Result) {
	s.State.Done(r)
	if !r.OK {
		slog.Error("reload refused, the old configuration stays", "by", r.By, "err", r.Error)
		return
	}
	for _, c := range r.Changes {
		slog.Info("reload: "+c.String(), "generation", r.Generation)
	}
	slog.Info("reloaded", "by", r.By, "generation", r.Generation, "changes", len(r.Changes), "sha256", r.SHA256)
}

// read reads the configuration that q is about; nil: it is not valid, and Error says so.
func (s *Sink) read(r *control.Result, q *control.Request) *conf.Config {
	c, diags := s.parse(q, s.config.Load())
	if len(q.Files) > 0 {
		r.Config = q.Name
		if q.Remote {
			r.Config += " (over TCP)" // it may be named as the sink's own file
		}
	} else {
		logging.Diagnose(slog.Default(), logging.Stderr(), diags)
	}
	r.Diagnostics, r.SHA256 = control.Diagnostics(diags), diags.SHA256
	if c == nil {
		r.Error = fmt.Sprintf("%s is not valid: %s", r.Config, cli.Count(diags.Count(conf.Error), "error"))
	}
	return c
}

// permits fills in what is otherwise in c, and reports whether q may put it into force; if not, Error says why.
func (s *Sink) permits(r *control.Result, q *control.Request, c *conf.Config) bool {
	old := s.config.Load()
	changes := conf.Diff(old, c)
	if q.Remote && len(q.Files) > 0 {
		if err := control.OfTheMachine(changes); err != nil {
			r.Error = err.Error()
			return false
		}
	}
	if fixed := rules.NeedsRestart(changes, old, c, s.Reports.PortNames()); len(fixed) > 0 {
		r.NeedsRestart = fixed
		r.Error = cli.Count(len(fixed), "change") + " that only a restart can make: " + fixed[0].String()
		if len(fixed) > 1 {
			r.Error += fmt.Sprintf(", and %d more", len(fixed)-1)
		}
		if q.DryRun {
			r.Changes = changes
		}
		return false
	}
	r.Changes = changes
	return true
}

// parse reads the files of q, or those of the appliance.
func (s *Sink) parse(q *control.Request, old *conf.Config) (*conf.Config, *conf.Diagnostics) {
	if len(q.Files) == 0 {
		return conf.LoadAgain(s.path, old)
	}
	files := make([]conf.Source, len(q.Files))
	for i, f := range q.Files {
		files[i] = conf.Source{Name: f.Name, Text: []byte(f.Text)}
	}
	if q.Remote {
		return conf.ParseRemote(q.Name, files, old, s.Variable)
	}
	return conf.ParseAgain(q.Name, files, old, os.LookupEnv)
}

// Variable is os.LookupEnv for the variables that the sink's own files name. Others are
// not set for a configuration that comes over TCP: the value of any variable could be read
// from what is answered.
func (s *Sink) Variable(name string) (value string, ok bool) {
	own, err := conf.ReadSources(s.path)
	if err != nil {
		return "", false
	}
	named := regexp.MustCompile(`\benv\.` + regexp.QuoteMeta(name) + `\b`)
	for _, f := range own {
		if named.Match(f.Text) {
			return os.LookupEnv(name)
		}
	}
	return "", false
}

// reload puts c into force, and fills in what became of that; Error where it is refused. The caller holds s.mu.
func (s *Sink) reload(r *control.Result, q *control.Request, c *conf.Config) {
	was := s.config.Load()
	mark, first := s.Problems.Mark(time.Now()), s.reading()
	s.Serve(c.HTTP, func() { s.config.Store(c) })
	late := s.adopt(was, c)
	if q.Confirm > 0 {
		s.beginTrial(r, q, was, mark, first)
	}
	s.adopted = first
	r.Note = joinNotes(s.degradedNote(), noteOf(late, s.restartNote(r.SHA256)))
}

// degradedNote says what does not work as the configuration in force asks for; "": all does.
func (s *Sink) degradedNote() string {
	if err := s.Degraded.Err(); err != nil {
		return "degraded: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return ""
}

// noteOf is what there is to say of a reload besides: which workers are late, and what a restart would bring.
func noteOf(late []string, restart string) string {
	if len(late) == 0 {
		return restart
	}
	return joinNotes(fmt.Sprintf("workers that have not taken it over yet, as they do not poll: %s", strings.Join(late, ", ")), restart)
}

// joinNotes returns notes a and b with "; " between them, or the one that is not empty.
func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// restartNote says that a restart would bring another configuration than that with the hash
// sum; "": it would not.
func (s *Sink) restartNote(sum string) string {
	if conf.SHA256(s.path) == sum {
		return ""
	}
	return fmt.Sprintf("a restart, and a reload without --config, read %s, which is another configuration", s.path)
}
