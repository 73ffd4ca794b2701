package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"intsink/bench/internal/dut"
)

// disturbance does to intsink what its users do, until ctx is done, and returns how
// often.
type disturbance func(ctx context.Context, p *dut.Intsink) (times int, err error)

// begin starts d; end stops it and sets times.
func begin(d disturbance, p *dut.Intsink, times *int) (end func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		n, err := d(ctx, p)
		*times = n
		ended <- err
	}()
	return func() error {
		cancel()
		return <-ended
	}
}

// every calls f again and again, beginning after one interval.
func every(interval time.Duration, f func(p *dut.Intsink, n int) error) disturbance {
	return func(ctx context.Context, p *dut.Intsink) (times int, err error) {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return times, nil
			case <-tick.C:
				if err := f(p, times); err != nil {
					return times, err
				}
				times++
			}
		}
	}
}

// get fetches a path each time.
func get(path string) func(*dut.Intsink, int) error {
	return func(p *dut.Intsink, _ int) error {
		_, err := p.Get(path)
		return err
	}
}

// collect makes intsink collect its garbage, whole.
func collect(p *dut.Intsink, _ int) error {
	_, err := p.Profile("heap?gc=1")
	return err
}

// reload makes intsink read a configuration with another threshold; that it took the
// one before is checked then.
func reload(p *dut.Intsink, n int) error {
	now, err := p.Read()
	if err != nil {
		return err
	}
	if got := now.Counters.Generation; got != float64(1+n) {
		return fmt.Errorf("the configuration's generation is %.0f after %d reloads", got, n)
	}
	t := p.Task()
	t.Limits = fmt.Sprintf("hop_latency { absolute = \"%dus\" }", 11+n%2)
	return p.Reload(t)
}

// watched is ten pages open in browsers, and a scrape every second.
func watched(ctx context.Context, p *dut.Intsink) (times int, err error) {
	var both sync.WaitGroup
	var scrapes int
	var scraped error
	both.Go(func() { scrapes, scraped = every(time.Second, get("/metrics"))(ctx, p) })
	times, err = pages(10)(ctx, p)
	both.Wait()
	return times + scrapes, errors.Join(err, scraped)
}

// pages is so many browsers with the page open: each has a stream of events, and asks
// for the status and the flows every two seconds, at times of its own.
func pages(count int) disturbance {
	return func(ctx context.Context, p *dut.Intsink) (times int, err error) {
		var (
			mu   sync.Mutex
			errs []error
			all  sync.WaitGroup
		)
		for i := range count {
			all.Go(func() {
				n, err := page(ctx, p, time.Duration(i)*pollInterval/time.Duration(count))
				mu.Lock()
				defer mu.Unlock()
				times, errs = times+n, append(errs, err)
			})
		}
		all.Wait()
		return times, errors.Join(errs...)
	}
}

// pollInterval is the page's.
const pollInterval = 2 * time.Second

// page is one browser, whose first question comes after delay.
func page(ctx context.Context, p *dut.Intsink, delay time.Duration) (times int, err error) {
	streamed := make(chan error)
	go func() { streamed <- p.Stream(ctx, "/api/v1/events") }()
	for next := time.After(delay); ; next = time.After(pollInterval) {
		select {
		case err := <-streamed:
			if ctx.Err() == nil {
				return times, fmt.Errorf("the stream of events ended: %w", err)
			}
			return times, nil
		case <-next:
		}
		if err := p.Visit(); err != nil {
			return times, err
		}
		times++
	}
}
