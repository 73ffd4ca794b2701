// feed: one output's place in the log: the window of deliveries that it was sent, and its back-off. Sends, settles,
// sends again what failed, acknowledges to the log.

package collect

import (
	"context"
	"errors"
	"sync"
	"time"

	"intsink/exporters/collect/spool"
)

// feed reads the log for one output. What of it an output has is its position in the log, the window of
// deliveries that it was sent and that are not settled, and a back-off.
type feed struct {
	name   string
	format Format        // of the newest output; the collector's lock guards it
	reader *spool.Reader // its position in the log
	recent *recent
	maker  *maker // makes records of entries
	log    *Log
	flush  time.Duration

	wake chan struct{}
	next chan Output // an output that replaces the present one
	stop chan context.Context
	done chan struct{}

	// Fields of the goroutine that calls run.
	out     Output
	pending *Delivery // waits until the output has room for it
	read    int       // bytes of the last delivery that was read from the log

	mu       sync.Mutex
	window   []*Delivery
	unsent   int    // deliveries of the window with failed records, to be sent again
	sent     int    // records that the output was sent and has not settled
	replay   replay // bounds what is read from the log
	telling  int    // deliveries of the window with gap records of what was lost with the log
	backoff  time.Duration
	again    time.Time // failed records are not sent again before
	retried  uint64
	ended    bool         // what it has not settled was left in the log
	failing  bool         // nothing arrived since the last failure
	cause    error        // of the last failure; nil: something arrived since
	away     func() error // of the present output; nil: it does not tell
	accounts Accounts
}

const (
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 5 * time.Second
	tick         = 100 * time.Millisecond
)

func newFeed(name string, out Output) *feed {
	f := &feed{
		name: name, backoff: firstBackoff,
		wake: make(chan struct{}, 1), next: make(chan Output, 1), stop: make(chan context.Context, 1), done: make(chan struct{}),
	}
	f.take(out)
	return f
}

// take makes out the output. The caller holds the lock, or is the only one that knows f.
func (f *feed) take(out Output) {
	f.out, f.away, f.cause = out, nil, nil
	if a, ok := out.(Awayer); ok {
		f.away = a.Away
	}
}

// goOn makes run replace the output by out.
func (f *feed) goOn(out Output) {
	select {
	case unused := <-f.next:
		unused.Close()
	default:
	}
	f.next <- out
	f.format = out.Format()
}

// push counts b, which was appended to the log.
func (f *feed) push(b *Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accounts.Taken += uint64(b.Len())
	f.accounts.Waiting += uint64(b.Len())
	f.replay.arrived += b.Len()
}

// lose counts n records that wait in the log as dropped.
func (f *feed) lose(n uint64, why Reason) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n = min(n, f.accounts.Waiting)
	f.accounts.Waiting -= n
	f.accounts.Dropped[why] += n
	f.signal()
}

func (f *feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// run feeds the output until it is told to stop.
func (f *feed) run() {
	defer close(f.done)
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		for f.step(time.Now()) {
			select {
			case ctx := <-f.stop:
				f.finish(ctx)
				return
			default:
			}
		}
		select {
		case <-f.wake:
			f.tick()
		case <-t.C:
			f.tick()
		case out := <-f.next:
			f.replace(out)
		case ctx := <-f.stop:
			f.finish(ctx)
			return
		}
	}
}

func (f *feed) tick() {
	if o, ok := f.out.(Ticker); ok {
		o.Tick()
	}
}

// step sends one delivery or resends the failed ones, and reports whether the caller should
// call again at once.
func (f *feed) step(now time.Time) bool {
	if again, wait := f.toResend(now); again != nil {
		f.resend(again)
		return true
	} else if wait {
		return false
	}
	if f.pending == nil {
		if f.pending = f.fetch(); f.pending == nil {
			return false
		}
	}
	d := f.pending
	if !f.out.Room(d.Len(), d.bytes) {
		return false
	}
	f.mu.Lock()
	if f.unsent > 0 { // failed meanwhile: d would pass it
		f.mu.Unlock()
		return true
	}
	f.pending = nil
	f.window = append(f.window, d)
	records := f.begin(d)
	f.mu.Unlock()
	if records {
		f.out.Send(d)
	}
	return true
}

// begin counts the records of d that the output is about to be sent, and reports whether there
// are any. The caller holds the lock, and has held it since it put d into the window or took its
// failed records: a delivery of the window with neither counted nor failed records is settled, and
// retire, which other goroutines call, gives its memory to another batch.
func (f *feed) begin(d *Delivery) bool {
	d.left, d.sentAt = d.Count(), time.Now()
	f.sent += d.left
	if d.left == 0 {
		f.retire()
		return false
	}
	return true
}

// toResend returns the deliveries with failed records, as soon as every record that was sent
// is settled and the backoff is over. Until then wait is true: nothing else may be sent.
func (f *feed) toResend(now time.Time) (again []*Delivery, wait bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unsent == 0 {
		return nil, false
	}
	if f.sent > 0 || now.Before(f.again) {
		return nil, true
	}
	for _, d := range f.window {
		if len(d.failed) > 0 {
			again = append(again, d)
		}
	}
	return again, true
}

// resend sends the failed records of the deliveries again, in the order of the deliveries. Once one
// fails, the rest is not sent either: it would pass what failed.
func (f *feed) resend(again []*Delivery) {
	for i, d := range again {
		f.mu.Lock()
		if f.unsent > len(again)-i {
			f.mu.Unlock()
			return
		}
		d.First, d.Again, d.failed, f.failing = i == 0, d.failed, nil, false
		f.unsent--
		f.retried += uint64(len(d.Again))
		f.begin(d)
		f.mu.Unlock()
		f.out.Send(d)
	}
}

// settle counts n records of d as settled: delivered, dropped or failed.
func (f *feed) settle(d *Delivery, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d.left -= n
	f.sent -= n
	if d.left > 0 {
		return
	}
	if len(d.failed) == 0 {
		f.failing, f.cause, f.backoff = false, nil, firstBackoff
	}
	f.retire()
	f.signal()
}

// drop settles record i of d, which will never arrive.
func (f *feed) drop(d *Delivery, i int, why Reason) {
	f.mu.Lock()
	d.dropped++
	f.accounts.Dropped[why]++
	f.accounts.Queued--
	f.mu.Unlock()
	f.settle(d, 1)
	if why == NoFlow { // as it should be
		return
	}
	f.log.Say("records dropped", "output", f.name, "reason", why.String())
}

// ErrStopped is the cause of failures that come of closing an output. They are expected and
// not logged.
var ErrStopped = errors.New("stopped")

// ErrAdjusted is wrapped in the cause of failures that the output mends by itself, such as by
// smaller batches: the records are sent again without a backoff.
var ErrAdjusted = errors.New("adjusted")

// fail settles record i of d as failed, to be sent again.
func (f *feed) fail(d *Delivery, i int, cause error) {
	f.mu.Lock()
	if !f.failing {
		f.again = time.Now()
		if !errors.Is(cause, ErrAdjusted) {
			f.again = f.again.Add(f.backoff)
			f.backoff = min(2*f.backoff, lastBackoff)
		}
	}
	f.failed(cause)
	f.failing = true
	if len(d.failed) == 0 {
		f.unsent++
	}
	d.failed = append(d.failed, i)
	f.mu.Unlock()
	f.settle(d, 1)
	if !errors.Is(cause, ErrStopped) {
		f.log.Say("records not delivered, trying again", "output", f.name, "err", cause)
	}
}

// failed notes why records did not arrive.
func (f *feed) failed(cause error) {
	if !errors.Is(cause, ErrStopped) && !errors.Is(cause, ErrAdjusted) {
		f.cause = cause
	}
}

// retrying counts the records of d as sent again by the output itself.
func (f *feed) retrying(d *Delivery, cause error) {
	f.mu.Lock()
	f.failing = true
	f.failed(cause)
	f.retried += uint64(d.Count())
	f.mu.Unlock()
	f.log.Say("records not delivered, trying again", "output", f.name, "err", cause)
}

// retire removes settled deliveries from the window's front, and acknowledges them to the log.
func (f *feed) retire() {
	n := 0
	for ; n < len(f.window) && !f.ended; n++ {
		d := f.window[n]
		if d.left > 0 || len(d.failed) > 0 {
			break
		}
		arrived := uint64(d.Len() - d.dropped)
		f.accounts.Delivered += arrived
		f.accounts.Queued -= arrived
		if d.gaps {
			if f.telling--; f.telling == 0 {
				f.reader.LostTold()
			}
		} else {
			f.reader.Ack(d.end, d.entries)
		}
		d.Batch.release()
		f.window[n] = nil
	}
	f.window = f.window[n:]
}
