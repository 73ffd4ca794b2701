package ports

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"intsink/cmd/intsink/internal/vitals"
)

// TestReadings: a request for counters waits a bounded time for the driver, then gets the last reading; one call of the driver
// runs at a time.
func TestReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r readings[vitals.PortCounters]
		var calls atomic.Uint64
		var takes atomic.Int64 // nanoseconds
		takes.Store(1e6)
		read := func() (vitals.PortCounters, error) {
			n := calls.Add(1)
			time.Sleep(time.Duration(takes.Load()))
			return vitals.PortCounters{RxPackets: n}, nil
		}
		if c, err := r.take(read); err != nil || c.RxPackets != 1 {
			t.Errorf("%d, %v", c.RxPackets, err)
		}
		takes.Store(int64(time.Hour))
		began := time.Now()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if c, err := r.take(read); !errors.Is(err, errNoReading) || c.RxPackets != 1 {
					t.Errorf("%d, %v", c.RxPackets, err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took > readingPatience || calls.Load() != 2 {
			t.Errorf("it took %v, the driver was asked %d times", took, calls.Load()-1)
		}
		time.Sleep(time.Hour) // it answers after all
		takes.Store(0)
		if c, err := r.take(read); err != nil || c.RxPackets != 3 {
			t.Errorf("%d, %v", c.RxPackets, err)
		}
		failing := errors.New("no such device")
		if _, err := r.take(func() (vitals.PortCounters, error) { return vitals.PortCounters{}, failing }); !errors.Is(err, failing) {
			t.Errorf("%v", err)
		}
	})
}
