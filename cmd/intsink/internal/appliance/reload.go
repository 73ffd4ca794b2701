// Adopts a new configuration: reads and checks it, hands rules to workers, waits for all,
// retires exporters, fills control.Result.

package appliance

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
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/engine"
)

// Config implements control.Sink.
func (a *Appliance) Config() *conf.Config { return a.config.Load() }

// Reload implements control.Sink: it adopts the configuration that q has, or its own file as it
// is now, or keeps the old one and says why. Safe from any goroutine; one reload after the
// other.
func (a *Appliance) Reload(who string, q *control.Request) *control.Result {
	a.inReload.Lock()
	defer a.inReload.Unlock()
	r := a.newResult(who)
	if !q.DryRun {
		if a.onTrial(r) {
			return r
		}
		defer a.tellReload()()
	}
	var c *conf.Config
	if err := a.rollBack(q); err != nil {
		r.Error = err.Error()
	} else {
		c = a.read(r, q)
	}
	a.inForce.Lock() // no earlier: neither modes nor the stop wait for a disk
	defer a.inForce.Unlock()
	switch {
	case a.stopping.Load():
		r.Error = "stopping"
	case c != nil && a.permits(r, q, c) && !q.DryRun:
		a.reload(r, q, c)
	}
	r.OK, r.Time, r.DryRun = r.Error == "", time.Now().UTC(), q.DryRun
	if q.DryRun {
		_, good := a.control.State.Last()
		r.Generation = good.Generation
		return r
	}
	a.finish(r)
	a.remember(r, q)
	return r
}

// onTrial refuses a reload while what is in force is on trial. Nobody has looked at the file: what is known of the
// last reload stays.
func (a *Appliance) onTrial(r *control.Result) bool {
	a.inForce.Lock()
	defer a.inForce.Unlock()
	if a.inForce.trial == nil || a.stopping.Load() {
		return false
	}
	_, good := a.control.State.Last()
	r.Generation, r.Time = good.Generation, time.Now().UTC()
	r.Error = a.inForce.trial.busy() + ", and then reload"
	slog.Warn("reload refused", "by", r.By, "err", r.Error)
	return true
}

// busy says what to do before anything else is put on trial.
func (t *trial) busy() string {
	return fmt.Sprintf("what is in force is on trial until %s: keep it with intsink confirm, or go back with intsink confirm --back", t.info.Until.Format(time.RFC3339))
}

// newResult returns the result of a reload that has only been asked for, by who; the fields that the
// reload decides are still empty.
func (a *Appliance) newResult(who string) *control.Result {
	return &control.Result{By: who, Config: a.path, Changes: []conf.Change{}, NeedsRestart: []conf.Change{}, Diagnostics: []control.Diagnostic{}}
}

// finish keeps and logs what became of a reload.
func (a *Appliance) finish(r *control.Result) {
	a.control.State.Done(r)
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
func (a *Appliance) read(r *control.Result, q *control.Request) *conf.Config {
	c, diags := a.parse(q, a.config.Load())
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
func (a *Appliance) permits(r *control.Result, q *control.Request, c *conf.Config) bool {
	old := a.config.Load()
	changes := conf.Diff(old, c)
	if q.Remote && len(q.Files) > 0 {
		if err := control.OfTheMachine(changes); err != nil {
			r.Error = err.Error()
			return false
		}
	}
	if fixed := rules.NeedsRestart(changes, old, c, a.collectors.PortNames()); len(fixed) > 0 {
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
func (a *Appliance) parse(q *control.Request, old *conf.Config) (*conf.Config, *conf.Diagnostics) {
	if len(q.Files) == 0 {
		return conf.LoadAgain(a.path, old)
	}
	files := make([]conf.Source, len(q.Files))
	for i, f := range q.Files {
		files[i] = conf.Source{Name: f.Name, Text: []byte(f.Text)}
	}
	if q.Remote {
		return conf.ParseRemote(q.Name, files, old, a.knownVariable)
	}
	return conf.ParseAgain(q.Name, files, old, os.LookupEnv)
}

// knownVariable is os.LookupEnv for the variables that the sink's own files name. Others are
// not set for a configuration that comes over TCP: the value of any variable could be read
// from what is answered.
func (a *Appliance) knownVariable(name string) (value string, ok bool) {
	own, err := conf.ReadSources(a.path)
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

// reload puts c into force, and fills in what became of that; Error where it is refused. The caller holds a.inForce.
func (a *Appliance) reload(r *control.Result, q *control.Request, c *conf.Config) {
	was := a.config.Load()
	mark, first := a.problems.Mark(time.Now()), a.reading()
	a.servers.Change(c.HTTP, func() { a.config.Store(c) })
	late := a.adopt(c)
	if q.Confirm > 0 {
		a.beginTrial(r, q, was, mark, first)
	}
	a.inForce.adopted = first
	r.Note = joinNotes(a.degradedNote(), noteOf(late, a.restartNote(r.SHA256)))
}

// degradedNote says what does not work as the configuration in force asks for; "": all does.
func (a *Appliance) degradedNote() string {
	if err := a.degraded.Err(); err != nil {
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
func (a *Appliance) restartNote(sum string) string {
	if conf.SHA256(a.path) == sum {
		return ""
	}
	return fmt.Sprintf("a restart, and a reload without --config, read %s, which is another configuration", a.path)
}

// adopt makes c the configuration in force, and waits until every worker works by it; it returns those that do not
// yet.
func (a *Appliance) adopt(c *conf.Config) (late []string) {
	a.collectors.Adopt(c)
	slog.SetDefault(slog.New(logging.New(c.Log, logging.Stderr())))
	a.config.Store(c)
	a.hooks.Configure(c.Notify)
	a.collectors.Reload(nil, c)
	return a.handOver(c)
}

// handOver gives the workers the rules of c, as far as the mode in force lets them hold, and returns those that have
// not taken them over.
func (a *Appliance) handOver(c *conf.Config) (late []string) {
	next := a.rulesOf(c)
	for i, w := range a.workers {
		w.ReloadCollectors(next, a.collectors.Outlets(i))
		w.PassAll(a.inForce.mode >= failopen.Pass)
	}
	if late = a.awaitAdoption(next); len(late) == 0 {
		a.collectors.Retire()
	}
	return late
}

// change is collectors.Change.
func (a *Appliance) change(next func(*conf.Config) *conf.Config) {
	a.inForce.Lock()
	defer a.inForce.Unlock()
	if a.stopping.Load() {
		return
	}
	if c := next(a.config.Load()); c != nil {
		a.config.Store(c)
		a.handOver(c)
	}
}

// rulesOf are the rules of c in the mode in force.
func (a *Appliance) rulesOf(c *conf.Config) *engine.Rules {
	r := rules.Of(c)
	if a.inForce.mode >= failopen.Strip {
		r = r.Suspend()
	}
	return r
}

// adoptionPatience is far more than a polling worker needs: it looks for new rules every
// millisecond.
var adoptionPatience = 2 * time.Second

// awaitAdoption waits until every worker works by r. A worker that does not poll is late: it takes r over
// when it polls again; until then /healthz names it.
func (a *Appliance) awaitAdoption(r *engine.Rules) (late []string) {
	deadline := time.Now().Add(adoptionPatience)
	for i, w := range a.workers {
		for !w.Adopted(r) {
			if time.Now().After(deadline) {
				late = append(late, fmt.Sprintf("w%d", i))
				slog.Warn("reload: a worker has not taken the new configuration over yet, it does not poll", "worker", late[len(late)-1])
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	return late
}
