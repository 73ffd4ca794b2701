// Workers for the tests of packages that ask them: one without links, and one that polls.

// Package workertest makes workers for tests of packages that start, ask or watch workers. Tests
// of package engine have a bed of their own (fixture_test.go): they cannot import a package that
// imports engine.
//
//	w := workertest.New(t, func(c *engine.WorkerConfig) { c.Rules = rules })
//	workertest.Poll(t, w)
package workertest

import (
	"testing"
	"time"

	"intsink/engine"
	"intsink/flows"
)

// New makes a worker without links and rules, with room for 1024 flows, as change changes that;
// nil changes nothing. It is released at the end of the test.
func New(t testing.TB, change func(*engine.WorkerConfig)) *engine.Worker {
	c := engine.WorkerConfig{
		Rules: &engine.Rules{}, Flows: flows.Config{Capacity: 1024, IdleTimeout: 1e9},
		Clock: func() int64 { return time.Now().UnixNano() },
	}
	if change != nil {
		change(&c)
	}
	w := engine.NewWorker(c)
	t.Cleanup(w.Release)
	return w
}

// Now is the time, or that of the worker that has not polled for longest: a machine with other load may keep one
// from its CPU for seconds, which no test is about.
func Now(workers ...*engine.Worker) int64 {
	now := time.Now().UnixNano()
	for _, w := range workers {
		if beat := w.Beat(); beat != 0 {
			now = min(now, beat)
		}
	}
	return now
}

// Poll has w begin and poll in a goroutine, so that it answers questions, until the test ends.
func Poll(t testing.TB, w *engine.Worker) {
	ended := make(chan struct{})
	w.Tick(time.Now().UnixNano()) // a worker that has not begun counts as stuck
	go func() {
		defer close(ended)
		w.Run(engine.Idle{Sleep: func() { time.Sleep(100 * time.Microsecond) }})
	}()
	t.Cleanup(func() {
		w.Stop()
		<-ended
	})
}
