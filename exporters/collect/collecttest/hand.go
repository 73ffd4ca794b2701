// For tests of outputs: an output that hands its deliveries to the test.

package collecttest

import (
	"context"
	"testing"
	"time"

	"intsink/exporters/collect"
)

// Hand is an output that hands its deliveries to the test. The test settles them, or sends them
// to the output under test, in its own goroutine and at times of its own.
type Hand struct {
	Deliveries chan *collect.Delivery
	format     collect.Format
}

// NewHand makes a Hand whose deliveries have records in that format.
func NewHand(f collect.Format) *Hand {
	return &Hand{make(chan *collect.Delivery, 1000), f}
}

// Next returns the next delivery.
func (h *Hand) Next(t testing.TB) *collect.Delivery {
	t.Helper()
	select {
	case d := <-h.Deliveries:
		return d
	case <-time.After(time.Minute):
		t.Fatal("no delivery")
		return nil
	}
}

// Format implements collect.Output.
func (h *Hand) Format() collect.Format { return h.format }

// Room implements collect.Output: there is room for as many deliveries as the channel takes.
func (h *Hand) Room(int, int) bool { return len(h.Deliveries) < cap(h.Deliveries) }

// Send implements collect.Output: the test receives d from Deliveries.
func (h *Hand) Send(d *collect.Delivery) { h.Deliveries <- d }

// Flush implements collect.Output: it does not wait for the test.
func (h *Hand) Flush(context.Context) {}

// Close implements collect.Output: it settles the deliveries that the test has not received.
func (h *Hand) Close() error {
	for {
		select {
		case d := <-h.Deliveries:
			d.FailedAll(collect.ErrStopped)
		default:
			return nil
		}
	}
}
