// Sink: the configuration and the mode in force, and how workers get them.

// Package inforce is what of a running sink can be changed: its configuration (reload.go), how much is done with packets
// (Sink.EnterMode) and which program it is (upgrade.go). The first and the last may be on trial (trial.go); history.go
// remembers configurations.
package inforce

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/logging"
	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/failopen"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/rules"
	"intsink/cmd/intsink/internal/upgrade"
	"intsink/conf"
	"intsink/engine"
	"intsink/engine/reporting"
)

// Sink is a sink as those see it who change it. It implements control.Sink.
type Sink struct {
	Version    string
	State      *control.State
	History    *confighistory.History
	Problems   *problem.List
	Degraded   *degraded.Parts
	Turn       *upgrade.Turn // of a program that took the place of another; nil: it did not
	RoomForTwo func() bool   // another process can have its memory while this one has its own

	// What the parts of the sink bring when they start.
	Workers []*engine.Worker
	Reports Reports
	Healthy func() error                    // nil while every worker polls
	Serve   func(h conf.HTTP, adopt func()) // has the endpoint serve by h from adopt on
	Tell    func() (done func())            // tells who supervises the process that a reload begins
	Parts   *part.Env                       // those that Reload are told of each configuration

	path      string                      // of the configuration
	config    atomic.Pointer[conf.Config] // in force
	inReload  sync.Mutex                  // held during a reload, whose files may be on a disk that hangs; only reloads wait for it
	stopping  atomic.Bool
	ends      chan struct{}                     // closed when the sink is to stop by itself
	successor atomic.Pointer[upgrade.Successor] // the program that takes over; nil: none does

	mu      sync.Mutex // held while a configuration or mode is put into force, during the start, and while stopping begins
	mode    failopen.Mode
	trial   *trial  // of what is in force
	adopted reading // when the configuration came into force
}

// Reports are where workers' reports go.
type Reports interface {
	Adopt(c *conf.Config)
	Outlets(w int) []reporting.Outlet
	Retire()
	PortNames() []string
}

// New makes a Sink with configuration c. Reloads read path again.
func New(c *conf.Config, path string) *Sink {
	s := &Sink{path: path, adopted: reading{now: time.Now()}, ends: make(chan struct{})}
	s.config.Store(c)
	return s
}

// Config implements control.Sink.
func (s *Sink) Config() *conf.Config { return s.config.Load() }

// Hold keeps what is in force until release: who changes something by then waits.
func (s *Sink) Hold() (release func()) {
	s.mu.Lock()
	return s.mu.Unlock
}

// Begin is the mode to begin in. The caller has Hold, or nobody else has s yet.
func (s *Sink) Begin(m failopen.Mode) { s.mode = m }

// PassesAll tells whether the workers begin by letting all packets pass. The caller has Hold.
func (s *Sink) PassesAll() bool { return s.mode >= failopen.Pass }

// Stopping tells whether the sink stops: nothing is put into force any more.
func (s *Sink) Stopping() bool { return s.stopping.Load() }

// Stop begins it.
func (s *Sink) Stop() { s.stopping.Store(true) }

// Settle waits until nothing is being put into force; false: somebody has hung for longer than patience.
func (s *Sink) Settle(patience time.Duration) bool {
	for end := time.Now().Add(patience); !s.mu.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	s.mu.Unlock() // who takes it now sees that the sink stops
	return true
}

// Ends is closed when the sink is to stop by itself.
func (s *Sink) Ends() <-chan struct{} { return s.ends }

// Change puts into force what next makes of the configuration in force; nil: it stays. A sink that stops changes
// nothing any more.
func (s *Sink) Change(next func(*conf.Config) *conf.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return
	}
	if c := next(s.config.Load()); c != nil {
		s.config.Store(c)
		s.handOver(c)
	}
}

// EnterMode makes the workers work in a mode.
func (s *Sink) EnterMode(m failopen.Mode) {
	s.Change(func(c *conf.Config) *conf.Config {
		s.mode = m
		return c
	})
}

// adopt makes c the configuration in force in place of old, and waits until every worker works by it; it returns those that do
// not yet.
func (s *Sink) adopt(old, c *conf.Config) (late []string) {
	s.Reports.Adopt(c)
	slog.SetDefault(slog.New(logging.New(c.Log, logging.Stderr())))
	s.config.Store(c)
	for _, p := range part.All[part.Reloads](s.Parts) {
		p.Reload(old, c)
	}
	return s.handOver(c)
}

// handOver gives the workers the rules of c, as far as the mode in force lets them hold, and returns those that have
// not taken them over.
func (s *Sink) handOver(c *conf.Config) (late []string) {
	next := s.Rules(c)
	for i, w := range s.Workers {
		w.ReloadCollectors(next, s.Reports.Outlets(i))
		w.PassAll(s.mode >= failopen.Pass)
	}
	if late = s.awaitAdoption(next); len(late) == 0 {
		s.Reports.Retire()
	}
	return late
}

// Rules are the rules of c in the mode in force.
func (s *Sink) Rules(c *conf.Config) *engine.Rules {
	r := rules.Of(c)
	if s.mode >= failopen.Strip {
		r = r.Suspend()
	}
	return r
}

// adoptionPatience is far more than a polling worker needs: it looks for new rules every
// millisecond.
var adoptionPatience = 2 * time.Second

// awaitAdoption waits until every worker works by r. A worker that does not poll is late: it takes r over
// when it polls again; until then /healthz names it.
func (s *Sink) awaitAdoption(r *engine.Rules) (late []string) {
	deadline := time.Now().Add(adoptionPatience)
	for i, w := range s.Workers {
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
