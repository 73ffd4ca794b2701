package main

import (
	"testing"

	"intsink/cmd/intsink/internal/observe/observetest"
)

// adopted waits until the only worker works by what it was told before the call: a command waits for it no longer
// than workers usually take.
func (r *running) adopted(t *testing.T) {
	t.Helper()
	polls := func(p observetest.Exposition) float64 { return sumOf(p, `intsink_worker_polls_total{worker="w0"`) }
	for range 2 { // what is published first may have been counted before
		before := polls(observetest.Parse(t, r.get(t, "/metrics")))
		r.wait(t, "a poll", func(p observetest.Exposition) bool { return polls(p) > before })
	}
}
