// readings: what a driver tells, for who cannot wait for it.

package ports

import (
	"errors"
	"sync"
	"time"
)

// readings are what a driver tells of a device. It may take long, or for ever, such as one that asks firmware or
// the host of a virtual function, or that waits for registers of a device that is gone. Nobody else waits for that.
type readings[T any] struct {
	mu     sync.Mutex
	coming chan struct{} // closed once there is a new reading; nil: nobody reads
	last   T
	err    error // of it
}

// readingPatience is how long a reading is waited for.
const readingPatience = 200 * time.Millisecond

var errNoReading = errors.New("the driver does not tell")

// take returns a new reading, or the last one and an error where the driver does not answer in time. One call of read is made
// at a time, however many ask.
func (r *readings[T]) take(read func() (T, error)) (T, error) {
	r.mu.Lock()
	if r.coming == nil {
		coming := make(chan struct{})
		r.coming = coming
		go func() {
			c, err := read()
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.err, r.coming = err, nil; err == nil {
				r.last = c
			}
			close(coming)
		}()
	}
	coming := r.coming
	r.mu.Unlock()
	err := errNoReading
	if within(coming, readingPatience) {
		err = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		err = r.err
	}
	return r.last, err
}

// latest is the last reading.
func (r *readings[T]) latest() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// settled waits until nobody reads; false: the driver does not answer.
func (r *readings[T]) settled() bool {
	r.mu.Lock()
	coming := r.coming
	r.mu.Unlock()
	return coming == nil || within(coming, readingPatience)
}

// within tells whether done is closed in time.
func within(done <-chan struct{}, patience time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(patience):
		return false
	}
}
