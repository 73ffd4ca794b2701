// feed, where it reads from the spool (replay bounds how fast it catches up), gets another
// output, and keeps its rest at a stop.

package collect

import (
	"context"
	"errors"
	"time"

	"intsink/exporters/collect/spool"
	"intsink/exporters/record"
)

// readEntries is how many entries a delivery from the spool has at most.
const readEntries = 64

// lostGaps makes a delivery with a gap record for each range that was lost with a dropped
// segment. It returns nil if there is none.
func (f *feed) lostGaps() *Delivery {
	if f.reader == nil {
		return nil
	}
	lost := f.reader.TakeLost()
	if len(lost) == 0 {
		return nil
	}
	b := newBatch(0)
	now := time.Now().UnixNano()
	for _, r := range lost {
		f.maker.note(b, r.Key, r.Start, now, note{Type: record.Gap, First: r.First, Last: r.Last, Count: r.Packets}, 1<<f.out.Format())
	}
	b.seal()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.telling++
	f.accounts.Taken += uint64(b.Len())
	f.accounts.Queued += uint64(b.Len())
	return &Delivery{Batch: b, feed: f, gaps: true}
}

// fromSpool makes a delivery of the next entries in the spool. It returns nil if there are
// none.
func (f *feed) fromSpool() *Delivery {
	b := f.maker.newBatch(f.spoolRead)
	d := &Delivery{Batch: b, feed: f}
	read, records, lost := 0, 0, uint64(0)
	for read < readEntries && !b.full() && (read == 0 || d.rest == f.reader.InRest()) {
		e, end, ok, err := f.reader.Next()
		var l *spool.LostError
		if errors.As(err, &l) {
			lost += l.Records
			f.log.Say("a segment of the spool cannot be read to its end", "output", f.name, "records", l.Records, "err", err)
			continue
		}
		if !ok {
			break
		}
		d.end, d.rest = end, end == spool.Position{}
		f.maker.entry(b, e, 1<<f.out.Format())
		read++
		records += int(e.Records)
	}
	f.spoolRead = len(b.raw)
	f.maker.seal(b)
	f.mu.Lock()
	defer f.mu.Unlock()
	a := &f.accounts
	a.Spooled -= lost
	a.Dropped[SpoolCorrupt] += lost
	if read == 0 {
		b.release()
		return nil
	}
	f.replay.read(b.Len())
	a.Spooled -= uint64(records)
	a.Queued += uint64(b.Len())
	if n := b.Len() - records; n >= 0 { // after an upgrade the decoder may make more records of an entry
		a.Restored += uint64(n)
	} else {
		a.Dropped[SpoolCorrupt] += uint64(-n)
	}
	if d.rest {
		f.rest++
	}
	return d
}

// releaseSpool releases the segments if no delivery of the window came from them.
func (f *feed) releaseSpool() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live && !f.always && f.spooled == 0 {
		f.reader.Release()
	}
}

// replace closes the output and continues with out. Records that the old output does not
// settle in time are sent to the new one.
func (f *feed) replace(out Output) {
	ctx, cancel := context.WithTimeout(context.Background(), f.flush)
	defer cancel()
	f.out.Flush(ctx)
	if err := f.out.Close(); err != nil {
		f.log.Say("output not closed well", "output", f.name, "err", err)
	}
	f.out = out
	f.mu.Lock()
	f.again, f.backoff = time.Now(), firstBackoff
	for _, d := range f.window {
		if len(d.failed) > 0 && len(d.encoded[out.Format()]) == 0 {
			b := f.maker.remake(d.Batch, 1<<out.Format())
			d.Batch.release()
			d.Batch = b
		}
	}
	f.mu.Unlock()
	if f.pending != nil {
		f.pending = f.encode(f.pending)
	}
}

// FlushTime is how long an output may take at the end to settle the records that it was sent.
const FlushTime = 5 * time.Second

// finish sends the queue until ctx ends, flushes and closes the output, and puts the records
// that are not settled into the spool.
func (f *feed) finish(ctx context.Context) {
	select {
	case unused := <-f.next: // the stop was seen first
		unused.Close()
	default:
	}
	for ctx.Err() == nil && f.queued() {
		if !f.step(time.Now()) {
			select {
			case <-f.wake:
			case <-time.After(tick / 10):
				if o, ok := f.out.(Ticker); ok {
					o.Tick()
				}
			case <-ctx.Done():
			}
		}
	}
	f.out.Flush(ctx)
	if err := f.out.Close(); err != nil {
		f.log.Say("output not closed well", "output", f.name, "err", err)
	}
	f.keepRest()
}

// queued reports whether records wait in memory, or are to be sent again.
func (f *feed) queued() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.queue) > 0 || f.unsent > 0 || f.pending != nil && f.pending.end == spool.Position{}
}

// keepRest puts the entries that are only in memory into the spool, to be read first.
func (f *feed) keepRest() {
	if d := f.lostGaps(); d != nil {
		f.mu.Lock()
		f.queue = append(f.queue, d)
		f.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	left := append(f.window, f.queue...)
	if f.pending != nil {
		left = append(append(f.window[:len(f.window):len(f.window)], f.pending), f.queue...)
	}
	var entries []spool.Entry
	memory, disk := uint64(0), uint64(0)
	for _, d := range left {
		if n := uint64(d.Len() - d.dropped); d.end != (spool.Position{}) {
			disk += n
		} else {
			memory += n
			entries = append(entries, d.entries...)
		}
	}
	f.accounts.Queued -= memory + disk
	f.accounts.Spooled += disk
	if f.reader != nil {
		err := f.reader.KeepRest(entries)
		if err == nil {
			f.reader.LostTold() // the gap records are among the entries
			f.accounts.Spooled += memory
			return
		}
		f.log.Say("what is not delivered could not be put into the spool", "output", f.name, "err", err)
	}
	f.accounts.Dropped[NotDelivered] += memory
}

// replay bounds how many records an output reads from the spool in a second: as many as
// arrive in that second, and rate more. So the backlog shrinks by rate a second, however fast
// reports arrive, and a receiver is not flooded with all of it after an outage.
type replay struct {
	rate int // records a second beyond those that arrive; 0: no bound

	since   time.Time // when allowed was last set
	allowed int       // records that may still be read; below 0: too many were, they count against the next
	arrived int       // records that were appended to the spool after since
}

const (
	replayEvery = tick / 2    // allowed is set at most so often
	replaySaved = time.Second // longest pause for which allowed records add up
)

// wait reports whether no record may be read now.
func (r *replay) wait(now time.Time) bool {
	if r.rate == 0 {
		return false
	}
	if passed := now.Sub(r.since); passed >= replayEvery {
		more := float64(r.rate)*passed.Seconds() + float64(r.arrived)
		if passed > replaySaved { // the receiver was away
			more *= float64(replaySaved) / float64(passed)
		}
		r.allowed = min(r.allowed, 0) + int(more)
		r.since, r.arrived = now, 0
	}
	return r.allowed <= 0
}

// read counts n records as read.
func (r *replay) read(n int) { r.allowed -= n }
