// Part: what a running sink is made of, and what a part may bring: routes, metrics, lines of the index, what it does at a reload.

// Package part says what a part of a running sink is, and what it may bring to those who serve it: the endpoint, the
// look at problems and who supervises the process ask each part for these interfaces, and know nothing else of it.
package part

import (
	"net/http"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/status"
	"intsink/conf"
	"intsink/engine"
	"intsink/engine/metric"
)

// Part is started once the workers are made: before they poll, or while they do, as the list of parts says. stop ends
// it, or after an error what there is of it; nil: nothing is to be done.
type Part interface {
	Start(e *Env) (stop func(), err error)
}

// Env is the sink that a part is of.
type Env struct {
	Version   string
	State     string              // folder of what outlives a restart; "": there is none
	Instance  uint64              // the number by which the sink is known again
	Config    func() *conf.Config // in force now
	Clock     func() int64        // of the workers
	WallClock func() int64        // by how much the wall clock is ahead of that
	Workers   []*engine.Worker
	Control   *control.Server // decides who may write
	Degraded  *degraded.Parts
	Problems  *problem.List
	Announce  func(event string, body any) // tells clients of /api/v1/events, of whom there are none before the part has started that has them
	Parts     []any                        // all of the sink, in the order of /metrics and of the index
}

// Find returns the first part of e that is a T; the zero value of T: none is.
func Find[T any](e *Env) (none T) {
	for _, p := range e.Parts {
		if p, ok := p.(T); ok {
			return p
		}
	}
	return none
}

// All returns the parts of e that are a T, in their order.
func All[T any](e *Env) (all []T) {
	for _, p := range e.Parts {
		if p, ok := p.(T); ok {
			all = append(all, p)
		}
	}
	return all
}

// Runs is a part that does something while the workers poll: on a goroutine of its own, once all parts have started, until done is
// closed.
type Runs interface{ Run(done <-chan struct{}) }

// Looks is a part that is shown the status each second, by one goroutine.
type Looks interface{ Look(j *status.Status) }

// Heeds is a part that is told when a problem begins and ends. It does not wait.
type Heeds interface{ Heed(c problem.Change) }

// Says is a part with a few words for who supervises the process, while all is well; "": it has none.
type Says interface{ Says() string }

// Routes is a part that answers requests.
type Routes interface{ Register(mux control.Mux) }

// Shared is a part whose answers cost something: one goes to all who ask the same at once.
type Shared interface{ RegisterShared(mux control.Mux) }

// Paths is a part that has lines in the index of the endpoint: what can be read of it.
type Paths interface{ Paths() []string }

// Metrics is a part that is in /metrics. The samples are of one moment, that of the call.
type Metrics interface{ Metrics() []metric.Bound }

// Reloads is implemented by parts that take up a new configuration c, before the workers have it. old is the configuration in force until
// then.
type Reloads interface{ Reload(old, c *conf.Config) }

// Status is a part that has something in /api/v1/status.
type Status interface{ Fill(j *status.Status) }

// Page is a part of one route.
type Page struct {
	Pattern, Path string
	http.Handler
}

// Register adds the route.
func (p Page) Register(mux control.Mux) { mux.Handle(p.Pattern, p.Handler) }

// Paths is the line of the index.
func (p Page) Paths() []string { return []string{p.Path} }
