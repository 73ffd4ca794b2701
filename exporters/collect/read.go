// feed, where it reads: from the latest batches, or from the log, and how fast (replay); gets another output; ends.

package collect

import (
	"context"
	"errors"
	"time"

	"intsink/exporters/collect/spool"
	"intsink/exporters/record"
)

// readEntries is how many entries a delivery that was read from the log has at most.
const readEntries = 64

// fetch returns the next delivery, nil if there is none.
func (f *feed) fetch() *Delivery {
	if d := f.lostGaps(); d != nil {
		return d
	}
	at := f.reader.Position()
	b, end := f.recent.next(at, f.out.Format())
	if b == nil {
		f.mu.Lock()
		wait := f.replay.wait(time.Now())
		f.mu.Unlock()
		if wait || !at.Before(end) {
			return nil
		}
		return f.fromLog(end)
	}
	if !f.reader.Skip(at, end, b.Len()) { // it was dropped meanwhile, and counted
		b.release()
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accounts.Waiting -= uint64(b.Len())
	f.accounts.Queued += uint64(b.Len())
	return &Delivery{Batch: b, feed: f, end: end}
}

// lostGaps makes a delivery with a gap record for each range that was lost with the log. It returns nil
// if there is none.
func (f *feed) lostGaps() *Delivery {
	lost := f.reader.TakeLost()
	if len(lost) == 0 {
		return nil
	}
	b := newBatch(0)
	now := time.Now().UnixNano()
	for _, r := range lost {
		f.maker.note(b, r.Key, r.Start, now, spool.Notice{Type: record.Gap, First: r.First, Last: r.Last, Count: r.Packets}, 1<<f.out.Format())
	}
	b.seal()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.telling++
	f.accounts.Taken += uint64(b.Len())
	f.accounts.Queued += uint64(b.Len())
	return &Delivery{Batch: b, feed: f, gaps: true}
}

// fromLog makes a delivery of the next entries of one segment in front of limit. It returns nil if there are none.
func (f *feed) fromLog(limit spool.Position) *Delivery {
	b := f.maker.newBatch(f.read)
	d := &Delivery{Batch: b, feed: f}
	read, records := 0, 0
	for read < readEntries && !b.full() && (read == 0 || f.reader.Position().Segment == d.end.Segment) {
		e, end, ok, err := f.reader.Next(limit)
		var l *spool.LostError
		if errors.As(err, &l) {
			f.log.Say("a part of the spool cannot be read", "output", f.name, "records", l.Records, "err", err)
			f.lose(l.Records, SpoolCorrupt)
			continue
		}
		if err != nil {
			f.log.Say("the spool cannot be read; trying again", "output", f.name, "err", err)
		}
		if !ok {
			break
		}
		d.end = end
		f.maker.entry(b, e, 1<<f.out.Format())
		read++
		records += int(e.Records)
	}
	f.read = len(b.raw)
	f.maker.seal(b)
	if read == 0 {
		b.release()
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a := &f.accounts
	f.replay.allowed -= b.Len()
	a.Waiting -= uint64(records)
	a.Queued += uint64(b.Len())
	if n := b.Len() - records; n >= 0 { // after an upgrade the decoder may make more records of an entry
		a.Restored += uint64(n)
	} else {
		a.Dropped[SpoolCorrupt] += uint64(-n)
	}
	return d
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
	f.mu.Lock()
	f.take(out)
	f.again, f.backoff = time.Now(), firstBackoff
	left := f.window
	if f.pending != nil {
		left = append(left[:len(left):len(left)], f.pending)
	}
	for _, d := range left {
		if d.Len() > 0 && !d.has(out.Format()) {
			b := f.maker.remake(d.Batch, 1<<out.Format())
			d.Batch.release()
			d.Batch = b
		}
	}
	f.mu.Unlock()
}

// FlushTime is how long an output may take at the end to settle the records that it was sent.
const FlushTime = 5 * time.Second

// finish sends what waits until ctx ends, flushes and closes the output, and leaves in the log what is not settled.
func (f *feed) finish(ctx context.Context) {
	select {
	case unused := <-f.next: // the stop was seen first
		unused.Close()
	default:
	}
	for ctx.Err() == nil && f.sendable() {
		if !f.step(time.Now()) {
			select {
			case <-f.wake:
				f.tick()
			case <-time.After(tick / 10):
				f.tick()
			case <-ctx.Done():
			}
		}
	}
	f.out.Flush(ctx)
	if err := f.out.Close(); err != nil {
		f.log.Say("output not closed well", "output", f.name, "err", err)
	}
	f.leaveRest()
}

// leaveRest leaves in the log what is not settled at the end, once.
func (f *feed) leaveRest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return
	}
	f.ended = true
	left := f.window
	if f.pending != nil {
		left = append(left, f.pending)
	}
	for _, d := range left {
		n := uint64(d.Len() - d.dropped)
		f.accounts.Queued -= n
		switch there := f.reader.Return(d.end); {
		case there || d.gaps && f.reader.Durable(): // gap records are made again of positions.json
			f.accounts.Waiting += n
		case f.reader.Durable():
			f.accounts.Dropped[SpoolFull] += n
		default:
			f.accounts.Dropped[NotDelivered] += n
		}
	}
}

// sendable reports whether the output may still be sent something: what it has not been sent, without what
// it is too far behind for, or what failed.
func (f *feed) sendable() bool {
	at := f.reader.Position()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unsent > 0 || f.pending != nil || f.accounts.Waiting > 0 && (!f.reader.Durable() || !f.recent.behind(at))
}

// replay bounds how many records an output reads from the log in a second: as many as
// arrive in that second, and rate more. So the backlog shrinks by rate a second, however fast
// reports arrive, and a receiver is not flooded with all of it after an outage.
type replay struct {
	rate int // records a second beyond those that arrive; 0: no bound

	since   time.Time // when allowed was last set
	allowed int       // records that may still be read; below 0: too many were, they count against the next
	arrived int       // records that were appended to the log after since
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
