// Adopts a new configuration: hands rules to workers, waits for all, retires exporters.

package appliance

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/logging"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/engine"
)

// Config implements control.Sink.
func (a *Appliance) Config() *conf.Config { return a.config.Load() }

// Reload implements control.Sink: it adopts the configuration as its file is now, or keeps
// the old one and says why. Safe from any goroutine; one reload after the other.
func (a *Appliance) Reload(who string) *control.Result {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	r := &control.Result{By: who, Config: a.path, Changes: []conf.Change{}, NeedsRestart: []conf.Change{}, Diagnostics: []control.Diagnostic{}}
	if a.stopping.Load() {
		r.Error = "stopping"
	} else {
		done := a.tellReload()
		a.reload(r)
		done()
	}
	r.OK, r.Time = r.Error == "", time.Now().UTC()
	a.control.State.Done(r)
	if !r.OK {
		slog.Error("reload refused, the old configuration stays", "by", who, "err", r.Error)
		return r
	}
	for _, c := range r.Changes {
		slog.Info("reload: "+c.String(), "generation", r.Generation)
	}
	slog.Info("reloaded", "by", who, "generation", r.Generation, "changes", len(r.Changes), "sha256", r.SHA256)
	return r
}

// reload fills in what became of the reload; Error where it is refused.
func (a *Appliance) reload(r *control.Result) {
	old := a.config.Load()
	c, diags := conf.LoadAgain(a.path, old)
	diags.WriteTo(os.Stderr)
	r.Diagnostics, r.SHA256 = control.Diagnostics(diags), diags.SHA256
	if c == nil {
		r.Error = fmt.Sprintf("%s is not valid: %s", a.path, cli.Count(diags.Count(conf.Error), "error"))
		return
	}
	changes := conf.Diff(old, c)
	if fixed := rules.NeedsRestart(changes, old, c); len(fixed) > 0 {
		r.NeedsRestart = fixed
		r.Error = cli.Count(len(fixed), "change") + " that only a restart can make: " + fixed[0].String()
		if len(fixed) > 1 {
			r.Error += fmt.Sprintf(", and %d more", len(fixed)-1)
		}
		return
	}
	r.Changes = changes
	next := rules.Of(c)
	collectors, gone := a.collectorsOf(c, *a.collectors.Load())
	a.retired = append(a.retired, gone...)
	for i, w := range a.workers {
		w.ReloadCollectors(next, outletsOf(collectors, i))
	}
	a.collectors.Store(&collectors)
	slog.SetDefault(slog.New(logging.New(c.Log, os.Stderr)))
	a.config.Store(c)
	if a.awaitAdoption(next) {
		a.retire()
	}
}

// adoptionPatience is far more than a worker takes that polls: it looks every millisecond.
const adoptionPatience = 2 * time.Second

// awaitAdoption waits until every worker works by r. One that does not poll takes r over
// when it polls again; /healthz tells of it.
func (a *Appliance) awaitAdoption(r *engine.Rules) (all bool) {
	all = true
	deadline := time.Now().Add(adoptionPatience)
	for i, w := range a.workers {
		for !w.Adopted(r) {
			if time.Now().After(deadline) {
				slog.Warn("reload: a worker has not taken the new configuration over yet, it does not poll", "worker", fmt.Sprintf("w%d", i))
				all = false
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	return all
}

// retire stops the exporters that no worker hands anything to any more, once they have sent
// what they were handed.
func (a *Appliance) retire() {
	for _, c := range a.retired {
		if c.stop != nil {
			c.stop()
		}
	}
	a.retired = nil
}
