// Parts: what is degraded since when and why; Retry tries again each second.

package degraded

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// State is one part that does not work as the configuration asks for.
type State struct {
	Part  string // what kind of part: "http", "collector", ...
	Name  string // which one, as the configuration names it
	Why   string
	Since time.Time
}

// String is the state in a line.
func (s State) String() string {
	return fmt.Sprintf("%s %s: since %s: %s", s.Part, s.Name, s.Since.UTC().Format(time.RFC3339), s.Why)
}

// Parts knows which parts are degraded. Its methods are safe for concurrent use.
type Parts struct {
	now func() time.Time
	log func() *slog.Logger

	mu  sync.Mutex
	all map[key]State
}

type key struct{ part, name string }

// New returns an empty list: no part is degraded yet.
func New(now func() time.Time, log func() *slog.Logger) *Parts {
	return &Parts{now: now, log: log, all: map[key]State{}}
}

// Set says that a part is degraded because of err; nil: it works, or is no longer configured. Set logs when a
// part becomes degraded, and when it works again.
func (p *Parts) Set(part, name string, err error) {
	k := key{part, name}
	p.mu.Lock()
	was, degraded := p.all[k]
	switch {
	case err == nil:
		delete(p.all, k)
	case degraded:
		was.Why = err.Error()
		p.all[k] = was
	default:
		p.all[k] = State{part, name, err.Error(), p.now()}
	}
	p.mu.Unlock()
	switch {
	case err != nil && !degraded:
		p.log().Warn("degraded: all else goes on, and it is tried again each second", "part", part, "name", name, "err", err)
	case err == nil && degraded:
		p.log().Info("no longer degraded", "part", part, "name", name, "since", was.Since.UTC().Format(time.RFC3339))
	}
}

// Keep forgets the degraded ones of a part whose name is not among names: they are no longer configured.
func (p *Parts) Keep(part string, names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range p.all {
		if k.part == part && !slices.Contains(names, k.name) {
			delete(p.all, k)
		}
	}
}

// List returns what is degraded, in order of part and name; nil Parts have nothing.
func (p *Parts) List() []State {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]State, 0, len(p.all))
	for _, s := range p.all {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b State) int { return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Name, b.Name)) })
	return all
}

// Err is what is degraded as an error, for who wants one (--strict).
func (p *Parts) Err() error {
	var errs []error
	for _, s := range p.List() {
		errs = append(errs, fmt.Errorf("%s %s: %s", s.Part, s.Name, s.Why))
	}
	return errors.Join(errs...)
}

// every is how often what is degraded is tried again.
const every = time.Second

// Tick is the clock of Retry.
func Tick() <-chan time.Time { return time.Tick(every) }

// Retrier tries again until it is stopped.
type Retrier struct{ soon, done chan struct{} }

// Retry calls try at each tick, on a goroutine of its own.
func Retry(tick <-chan time.Time, try func()) *Retrier {
	r := &Retrier{make(chan struct{}, 1), make(chan struct{})}
	go func() {
		for {
			select {
			case <-tick:
			case <-r.soon:
			case <-r.done:
				return
			}
			try()
		}
	}()
	return r
}

// Soon asks for a try at once.
func (r *Retrier) Soon() {
	select {
	case r.soon <- struct{}{}:
	default: // one is asked for
	}
}

// Stop ends the tries. It does not wait for one that hangs.
func (r *Retrier) Stop() { close(r.done) }
