// Package cleanup undoes what a benchmark changed on the machine: when it is done,
// when it fails, and when a signal ends it.
//
//	undo := cleanup.Add(func() { os.RemoveAll(dir) })
//	defer undo()
package cleanup

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

var (
	mu      sync.Mutex
	pending []*step
	listen  sync.Once
)

type step struct{ undo func() }

// Add registers undo, which runs once: when what Add returned is called, or at SIGINT,
// SIGTERM or SIGHUP, after which the process ends. The last one added runs first.
func Add(undo func()) func() {
	listen.Do(onSignal)
	s := &step{undo}
	mu.Lock()
	defer mu.Unlock()
	pending = append(pending, s)
	return func() { s.run() }
}

// run calls undo, unless that was done.
func (s *step) run() {
	mu.Lock()
	defer mu.Unlock()
	if undo := s.undo; undo != nil {
		s.undo = nil
		undo()
	}
}

// runAll calls all that is left, and lets no other begin.
func runAll() {
	mu.Lock()
	for i := len(pending) - 1; i >= 0; i-- {
		if undo := pending[i].undo; undo != nil {
			undo()
		}
	}
}

func onSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		s := <-signals
		runAll()
		os.Exit(128 + int(s.(syscall.Signal)))
	}()
}
