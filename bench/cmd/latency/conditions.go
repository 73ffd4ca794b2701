package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"intsink/bench/internal/dut"
)

// condition is something that users do to intsink while slices are measured.
type condition struct {
	title string
	// enter begins it, for a slice of this length. leave ends it, waits until nothing of it is
	// left and tells how often it was done.
	enter func(p *dut.Intsink, length time.Duration) (leave func() (times int, err error), err error)
}

// quiet is nothing at all.
func quiet() condition {
	return condition{"quiet", func(*dut.Intsink, time.Duration) (func() (int, error), error) {
		return func() (int, error) { return 0, nil }, nil
	}}
}

// crew is the goroutines of one slice of a condition.
type crew struct {
	ctx    context.Context
	cancel context.CancelFunc
	asking sync.WaitGroup // those that end by themselves
	rest   sync.WaitGroup // those that end with ctx

	mu    sync.Mutex
	times int
	errs  []error
}

func newCrew() *crew {
	c := &crew{}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// done counts something that the condition is about, or its fault.
func (c *crew) done(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times++; err != nil {
		c.errs = append(c.errs, err)
	}
}

// spread does f so often, at random times of a slice, the last of them early enough to be
// answered within it.
func (c *crew) spread(n int, slice time.Duration, f func() error) {
	for range n {
		c.asking.Go(func() {
			time.Sleep(time.Duration(rand.Float64() * 0.9 * float64(slice)))
			c.done(f())
		})
	}
}

// leave waits for the answers, then ends the rest.
func (c *crew) leave() (int, error) {
	c.asking.Wait()
	c.cancel()
	c.rest.Wait()
	return c.times, errors.Join(c.errs...)
}

// owed tells how often something that is due so often in a second is due in a slice: over all
// slices as often as it should.
type owed struct{ perSecond, left float64 }

func (o *owed) take(d time.Duration) int {
	o.left += o.perSecond * d.Seconds()
	n := int(o.left)
	o.left -= float64(n)
	return n
}

// subscribe is how long streams of events get to open before a slice.
const subscribe = 50 * time.Millisecond

// watchedSlices is watched for slices: of ten pages, each has its stream, and five a second ask.
func watchedSlices() condition {
	visits, scrapes := &owed{perSecond: 10 / pollInterval.Seconds()}, &owed{perSecond: 1}
	return condition{"ten pages and a scrape a second", func(p *dut.Intsink, length time.Duration) (func() (int, error), error) {
		c := newCrew()
		for range 10 {
			c.rest.Go(func() {
				if err := p.Stream(c.ctx, "/api/v1/events"); c.ctx.Err() == nil {
					c.done(errors.Join(errors.New("a stream of events ended"), err))
				}
			})
		}
		time.Sleep(subscribe)
		c.spread(visits.take(length), length, p.Visit)
		c.spread(scrapes.take(length), length, func() error {
			_, err := p.Get("/metrics")
			return err
		})
		return c.leave, nil
	}}
}
