package collect

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// promptOutput has another goroutine settle each delivery at once, and counts the deliveries
// whose memory was given up before it was sent them. With fail, those with an odd number fail
// the first time.
type promptOutput struct {
	open  chan *Delivery
	fail  bool
	early int
}

func (o *promptOutput) Format() Format     { return JSON }
func (o *promptOutput) Room(int, int) bool { return true }
func (o *promptOutput) Send(d *Delivery) {
	if d.refs.Load() == 0 {
		o.early++
	}
	o.open <- d
}
func (o *promptOutput) Flush(context.Context) {}
func (o *promptOutput) Close() error          { return nil }

// left is how many records an output has not settled.
func left(o OutputSnapshot) uint64 { return o.Queued + o.Waiting }

// settle settles deliveries until the channel is closed.
func (o *promptOutput) settle() {
	for d := range o.open {
		if o.fail && d.Again == nil && d.entries[0].Sequence%2 == 1 {
			d.Failed(0, ErrAdjusted)
		} else {
			d.Delivered(d.Count())
		}
	}
}

// TestSettledWhileOthersAreSent: deliveries are settled, and the window's front is retired, at any
// moment of sending others. The memory of a delivery goes to no other batch before the delivery
// is sent and settled.
func TestSettledWhileOthersAreSent(t *testing.T) {
	for name, fail := range map[string]bool{"sent once": false, "some sent again": true} {
		t.Run(name, func(t *testing.T) {
			b := newFeedBed(t)
			const rounds, each = 40, 20
			out := &promptOutput{open: make(chan *Delivery, rounds*each), fail: fail}
			b.feed.out = out
			var settling, retiring sync.WaitGroup
			settling.Go(out.settle)
			var stop atomic.Bool
			for range 3 { // enough that they wait in turn for the lock, and get it between any two sections of step
				retiring.Go(func() {
					for !stop.Load() {
						b.mu.Lock()
						b.retire()
						b.mu.Unlock()
					}
				})
			}
			for i := range rounds {
				for n := range each {
					batch := &Batch{} // not from the pools: with no holder it is nobody's afterwards
					batch.refs.Store(1)
					b.maker.packet(batch, entryOf(uint32(n), 1), 1<<JSON)
					b.maker.seal(batch)
					b.c.push(batch)
					batch.release()
				}
				for end := time.Now().Add(time.Minute); left(b.snapshot(time.Now())) > 0; {
					if !b.step(time.Now()) && time.Now().After(end) {
						t.Fatalf("round %d: %+v", i, b.snapshot(time.Now()))
					}
				}
			}
			stop.Store(true)
			retiring.Wait()
			close(out.open)
			settling.Wait()
			if out.early > 0 {
				t.Errorf("%d of %d deliveries were given up before they were sent", out.early, rounds*each)
			}
			b.want(Accounts{Taken: rounds * each, Delivered: rounds * each})
		})
	}
}

// TestAnOutputThatHangs: the end does not wait for it, says so, and its records are accounted for, also if it goes on later.
func TestAnOutputThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newFeedBed(t)
		b.push(1, 2)
		gate := make(chan struct{})
		b.out.during = func(d *Delivery) {
			<-gate
			d.Delivered(d.Count())
		}
		go b.run()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		b.stop <- ctx
		b.c.awaitFeed(ctx, b.feed)
		b.wantLog("an output hangs and is left alone")
		b.want(Accounts{Taken: 2, Dropped: [NumReasons]uint64{NotDelivered: 2}})
		close(gate)
		<-b.done
		b.want(Accounts{Taken: 2, Dropped: [NumReasons]uint64{NotDelivered: 2}})
	})
}
