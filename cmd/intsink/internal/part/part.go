// What a part of a running sink may bring: routes, metrics, lines of the index.

// Package part is what a part of a running sink may bring to those who serve it: the endpoint asks each part for these
// interfaces, and knows nothing else of it. It has the answers that all routes give, too.
package part

import (
	"net/http"

	"intsink/engine/metric"
)

// Mux is where routes are added: http.ServeMux, or what remembers them.
type Mux interface {
	Handle(pattern string, h http.Handler)
	HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request))
}

// Routes is a part that answers requests.
type Routes interface{ Register(mux Mux) }

// Shared is a part whose answers cost something: one goes to all who ask the same at once.
type Shared interface{ RegisterShared(mux Mux) }

// Paths is a part that has lines in the index of the endpoint: what can be read of it.
type Paths interface{ Paths() []string }

// Metrics is a part that is in /metrics. The samples are of one moment, that of the call.
type Metrics interface{ Metrics() []metric.Bound }

// Page is a part of one route.
type Page struct {
	Pattern, Path string
	http.Handler
}

// Register adds the route.
func (p Page) Register(mux Mux) { mux.Handle(p.Pattern, p.Handler) }

// Paths is the line of the index.
func (p Page) Paths() []string { return []string{p.Path} }
