// disk: calls that a disk may never answer, such as one on a server that went away. Nobody waits for them for long.

package spool

import (
	"errors"
	"sync/atomic"
	"time"
)

// ErrHangs says that the disk has not answered a call in time. Until it does, nothing more is asked of it.
var ErrHangs = errors.New("the disk does not answer: records wait in memory until it does")

// patience is how long a call may take: receivers wait for appends.
const patience = 2 * time.Second

// disk makes calls of one folder. hung is how many have not returned in time.
type disk struct {
	hung atomic.Int32
	wait time.Duration // patience, but in tests

	before atomic.Pointer[func()] // of tests: is called before each call
}

func (d *disk) hangs() bool { return d.hung.Load() > 0 }

// do makes a call and returns its error, or ErrHangs. The call may then go on: it uses nothing that others change. late
// is called when it returns after all, before the disk is asked anything again; nil: nothing is to be done.
func (d *disk) do(call func() error, late func()) error {
	if d.hangs() {
		return ErrHangs
	}
	const running, left, returned = 0, 1, 2
	var state atomic.Int32
	done := make(chan error, 1)
	go func() {
		if before := d.before.Load(); before != nil {
			(*before)()
		}
		err := call()
		if !state.CompareAndSwap(running, returned) {
			if late != nil {
				late()
			}
			d.hung.Add(-1)
			return
		}
		done <- err
	}()
	timer := time.NewTimer(d.wait)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
	}
	d.hung.Add(1)
	if state.CompareAndSwap(running, left) {
		return ErrHangs
	}
	d.hung.Add(-1) // it has just returned
	return <-done
}
