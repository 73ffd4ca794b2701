package collect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"intsink/exporters/collect/spool"
	"intsink/exporters/record"
)

// fewDecoder makes as many records of a packet as its ninth byte says.
type fewDecoder struct{}

func (fewDecoder) Records(p []byte, o *record.Origin, yield func(*record.Record)) (int, error) {
	var r record.Record
	for i := range p[8] {
		r.Reset(record.Report)
		r.Exporter, r.Received, r.Start, r.Sequence, r.Index = o.Exporter, o.Received, o.Start, o.Sequence, uint16(i)
		r.Time = o.Received
		r.NodeID, r.Known = binary.BigEndian.Uint32(p[4:]), record.KnownNode
		yield(&r)
	}
	return int(p[8]), nil
}

// entryOf returns packet number n of node 3 with so many records, as the spool keeps it.
func entryOf(n uint32, records byte) spool.Entry {
	b := binary.BigEndian.AppendUint32(nil, 2<<28|5<<22|n)
	b = append(binary.BigEndian.AppendUint32(b, 3), records, 0, 0, 0)
	return spool.Entry{
		From: netip.MustParseAddrPort("192.0.2.1:49152"), To: netip.MustParseAddrPort("192.0.2.2:8555"),
		Received: 1700000000e9, Start: 1600000000e9, Sequence: uint64(n), Records: uint16(records), Payload: b,
	}
}

// slowOutput keeps what it is sent, until the test settles it.
type slowOutput struct {
	during   func(*Delivery) // called while a delivery is sent
	asked    func()          // called when it is asked for room
	format   Format
	full     bool // has no room
	sent     []*Delivery
	flushed  int
	closeErr error
	closed   int
}

func (o *slowOutput) Format() Format { return o.format }
func (o *slowOutput) Send(d *Delivery) {
	o.sent = append(o.sent, d)
	if o.during != nil {
		o.during(d)
	}
}
func (o *slowOutput) Room(int, int) bool {
	if o.asked != nil {
		o.asked()
	}
	return !o.full
}
func (o *slowOutput) Flush(context.Context) { o.flushed++ }
func (o *slowOutput) Close() error          { o.closed++; return o.closeErr }

// logged collects log lines.
type logged struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

// take returns the lines since the last call.
func (l *logged) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.all.Reset()
	return l.all.String()
}

// feedBed is a feed that the test steps, of a collector without sockets.
type feedBed struct {
	*feed
	c    *Collector
	t    *testing.T
	out  *slowOutput
	said *logged
}

func newFeedBed(t *testing.T) *feedBed { return feedBedOn(t, spool.Options{}) }

// feedBedOn makes a feed on a log with those options, on a detached one where its folder cannot be opened.
func feedBedOn(t *testing.T, o spool.Options) *feedBed {
	t.Helper()
	log, err := spool.Open(o)
	if err != nil {
		log = spool.Detached(o, err)
	}
	t.Cleanup(func() { log.Close() })
	out, said := &slowOutput{}, &logged{}
	c := &Collector{o: Options{Spool: log, Flush: time.Second, Decoder: func() Decoder { return fewDecoder{} }}, log: NewLog(slog.New(slog.NewTextHandler(said, nil)))}
	c.log.clock = func() time.Time { return time.Time{} }
	c.recent.limit, c.recent.end = DefaultRecent, log.End()
	f := c.makeFeed(NamedOutput{"out", out})
	c.feeds = []*feed{f}
	return &feedBed{f, c, t, out, said}
}

// batch makes a batch of one packet with number n and so many records.
func (b *feedBed) batch(n uint32, records byte) *Batch {
	batch := b.maker.newBatch(12)
	b.maker.packet(batch, entryOf(n, records), 1<<JSON)
	b.maker.seal(batch)
	return batch
}

// push appends a batch to the log and releases it, as a receiver does.
func (b *feedBed) push(n uint32, records byte) *Batch {
	b.t.Helper()
	batch := b.batch(n, records)
	b.c.push(batch)
	batch.release()
	return batch
}

// steps calls step until it returns false.
func (b *feedBed) steps(now time.Time) {
	for b.step(now) {
	}
}

// wantSent fails the test unless the output was sent deliveries with these packets and records since
// the last call: "1" is a delivery of all records of packet 1, "1[0 2]" of its records 0 and 2.
func (b *feedBed) wantSent(want ...string) (sent []*Delivery) {
	b.t.Helper()
	var got []string
	for _, d := range b.out.sent {
		s := ""
		for _, e := range d.entries {
			s += fmt.Sprint(" ", e.Sequence)
		}
		if d.Again != nil {
			s += fmt.Sprint(d.Again)
		}
		got = append(got, strings.TrimPrefix(s, " "))
	}
	if !slices.Equal(got, want) {
		b.t.Fatalf("sent %q, want %q", got, want)
	}
	sent, b.out.sent = b.out.sent, nil
	return sent
}

// want fails the test unless the accounts have these counts, and add up.
func (b *feedBed) want(a Accounts) {
	b.t.Helper()
	if b.accounts != a || !b.accounts.Balanced() {
		b.t.Errorf("accounts %+v, want %+v", b.accounts, a)
	}
}

func (b *feedBed) wantLog(text string) {
	b.t.Helper()
	if got := b.said.take(); text == "" && got != "" || !strings.Contains(got, text) {
		b.t.Errorf("logged %q, want %q", got, text)
	}
}

func (b *feedBed) woken() bool {
	select {
	case <-b.wake:
		return true
	default:
		return false
	}
}

func dropped(why Reason, n uint64) (all [NumReasons]uint64) {
	all[why] = n
	return all
}

// TestSettle: records count as delivered when all before them are settled, too; the batch is released
// and the feed woken with the last record of a delivery.
func TestSettle(t *testing.T) {
	b := newFeedBed(t)
	one, two := b.push(1, 2), b.push(2, 3)
	b.woken()
	b.steps(time.Now())
	b.want(Accounts{Taken: 5, Queued: 5})
	if s := b.snapshot(time.Now()); s.QueueBytes != one.bytes+two.bytes || s.Window != 2 {
		t.Errorf("%+v", s)
	}
	sent := b.wantSent("1", "2")
	sent[1].Delivered(3)
	if !b.woken() {
		t.Error("not woken by a delivery that is settled")
	}
	b.want(Accounts{Taken: 5, Queued: 5})
	sent[0].Delivered(1)
	if b.woken() {
		t.Error("woken although a record is not settled")
	}
	b.push(3, 1) // the latest batches no longer have those that all have read
	if one.refs.Load() != 1 || two.refs.Load() != 1 {
		t.Errorf("%d and %d hold the batches", one.refs.Load(), two.refs.Load())
	}
	sent[0].Dropped(1, TooLarge)
	b.wantLog("records dropped")
	if !b.woken() || one.refs.Load() != 0 || two.refs.Load() != 0 {
		t.Errorf("%d and %d hold the batches", one.refs.Load(), two.refs.Load())
	}
	b.want(Accounts{Taken: 6, Waiting: 1, Delivered: 4, Dropped: dropped(TooLarge, 1)})
	if s := b.snapshot(time.Now()); s.Window != 0 || s.Retried != 0 {
		t.Errorf("%+v", s)
	}
}

// TestRoomOfTheOutput: a delivery without room in the output waits, and so do those behind it; it
// is sent when there is room.
func TestRoomOfTheOutput(t *testing.T) {
	b := newFeedBed(t)
	b.push(1, 1)
	b.push(2, 1)
	b.out.full = true
	b.steps(time.Now())
	b.wantSent()
	b.out.full = false
	b.steps(time.Now())
	b.wantSent("1", "2")
	b.want(Accounts{Taken: 2, Queued: 2})
}

// TestBackoff: failed records are sent again, alone and before all others, when every record is settled
// and the backoff is over: 0.1, 0.2 ... 5 seconds, and 0.1 again after a success.
func TestBackoff(t *testing.T) {
	b := newFeedBed(t)
	b.push(1, 3)
	b.push(2, 2)
	b.steps(time.Now())
	sent := b.wantSent("1", "2")
	b.push(3, 1)
	before := time.Now()
	sent[1].FailedAll(errors.New("away"))
	b.wantLog("trying again\" output=out err=away")
	if b.snapshot(time.Now()).Takes {
		t.Error("an output that fails takes records")
	}
	b.steps(time.Now().Add(time.Hour))
	b.wantSent() // of packet 1, no record is settled
	sent[0].Delivered(2)
	sent[0].Failed(1, errors.New("away"))
	want := []string{"1[1]", "2[0 1]"}
	retried := uint64(0)
	for _, ms := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		if d := ms * time.Millisecond; b.again.Before(before.Add(d)) || b.again.After(time.Now().Add(d)) {
			t.Errorf("a backoff of at most %v, want %d ms", b.again.Sub(before), ms)
		}
		b.steps(b.again.Add(-1))
		b.wantSent()
		b.step(b.again)
		retried += 3
		if s := b.snapshot(time.Now()); s.Retried != retried || !s.Takes {
			t.Errorf("%+v, want %d sent again", s, retried)
		}
		before = time.Now()
		for _, d := range b.wantSent(want...) {
			for _, i := range d.Again {
				d.Failed(i, errors.New("away"))
			}
		}
	}
	b.step(b.again)
	sent = b.wantSent(want...)
	sent[0].Delivered(1)
	sent[1].Delivered(2)
	b.want(Accounts{Taken: 6, Delivered: 5, Waiting: 1})
	b.steps(time.Now())
	b.wantSent("3")[0].FailedAll(errors.New("away"))
	if wait := time.Until(b.again); wait > 100*time.Millisecond {
		t.Errorf("a backoff of %v after a success", wait)
	}
}

// TestNothingPassesWhatFailed: once a record failed, nothing else is sent until it is sent again: not when
// others of its delivery are on their way, not what has just been taken from the queue, and not the
// rest of what failed before.
func TestNothingPassesWhatFailed(t *testing.T) {
	away := errors.New("away")
	b := newFeedBed(t)
	b.push(1, 2)
	b.steps(time.Now())
	one := b.wantSent("1")[0]
	one.Failed(0, away)
	b.push(2, 1)
	b.steps(time.Now().Add(time.Hour))
	b.wantSent() // a record of packet 1 is not settled
	one.Delivered(1)
	b.steps(time.Now().Add(time.Hour))
	one = b.wantSent("1[0]", "2")[0]

	b.push(3, 1)
	b.out.asked = func() { one.Failed(0, away); b.out.asked = nil }
	b.steps(time.Now())
	b.wantSent()
	b.feed.window[1].Failed(0, away)
	b.out.during = func(d *Delivery) { d.FailedAll(away); b.out.during = nil }
	b.step(b.again)
	one = b.wantSent("1[0]")[0]
	if !one.First {
		t.Error("packet 1 is not the first")
	}
	b.step(b.again)
	sent := b.wantSent("1[0]", "2[0]")
	if !sent[0].First || sent[1].First {
		t.Error("packet 1 is not the first, or packet 2 is")
	}
	sent[0].Delivered(1)
	sent[1].Delivered(1)
	b.steps(time.Now())
	if three := b.wantSent("3")[0]; three.First {
		t.Error("packet 3 is the first, though it did not fail")
	}
	b.want(Accounts{Taken: 4, Delivered: 3, Queued: 1})
}

// TestOnlyWhatFailedIsSentAgain: not what was delivered or dropped behind it.
func TestOnlyWhatFailedIsSentAgain(t *testing.T) {
	b := newFeedBed(t)
	for n := range uint32(3) {
		b.push(n+1, 2)
	}
	b.steps(time.Now())
	sent := b.wantSent("1", "2", "3")
	sent[1].Delivered(2)
	sent[0].Failed(1, errors.New("away"))
	sent[0].Dropped(0, TooLarge)
	sent[2].FailedAll(errors.New("away"))
	b.steps(b.again)
	sent = b.wantSent("1[1]", "3[0 1]")
	sent[1].Delivered(2)
	b.want(Accounts{Taken: 6, Queued: 5, Dropped: dropped(TooLarge, 1)})
	sent[0].Delivered(1)
	b.want(Accounts{Taken: 6, Delivered: 5, Dropped: dropped(TooLarge, 1)})
}

// TestFailuresWithoutABackoff: what the output mends itself is sent again at once; what comes of a stop
// is not logged.
func TestFailuresWithoutABackoff(t *testing.T) {
	b := newFeedBed(t)
	b.push(1, 1)
	b.steps(time.Now())
	b.wantSent("1")[0].FailedAll(fmt.Errorf("smaller: %w", ErrAdjusted))
	b.wantLog("smaller: adjusted")
	b.steps(time.Now())
	before := time.Now()
	b.wantSent("1[0]")[0].FailedAll(fmt.Errorf("end: %w", ErrStopped))
	b.wantLog("")
	if b.again.Before(before.Add(firstBackoff)) || b.again.After(time.Now().Add(firstBackoff)) {
		t.Errorf("a backoff of at most %v", b.again.Sub(before))
	}
}

// TestRetrying: an output that sends again by itself says so, and the feed waits for it.
func TestRetrying(t *testing.T) {
	b := newFeedBed(t)
	b.push(1, 3)
	b.steps(time.Now())
	d := b.wantSent("1")[0]
	d.Retrying(errors.New("away"))
	b.wantLog("trying again\" output=out err=away")
	if s := b.snapshot(time.Now()); s.Retried != 3 || s.Takes || s.Proved || s.Queued != 3 {
		t.Errorf("%+v", s)
	}
	d.Delivered(3)
	if s := b.snapshot(time.Now()); !s.Takes || !s.Proved || s.Delivered != 3 {
		t.Errorf("%+v", s)
	}
}

// TestOutputThatIsStuck: an output that settles nothing for ten seconds counts as one that does not take
// records, and the oldest record in memory has an age.
func TestOutputThatIsStuck(t *testing.T) {
	b := newFeedBed(t)
	received := time.Unix(0, 1700000000e9)
	if s := b.snapshot(received); s.Oldest != 0 || !s.Takes {
		t.Errorf("%+v", s)
	}
	b.push(1, 1)
	b.push(2, 1)
	b.step(time.Now())
	if s := b.snapshot(received.Add(time.Minute)); s.Oldest != time.Minute {
		t.Errorf("%+v", s)
	}
	at := b.window[0].sentAt
	if s := b.snapshot(at.Add(stuckAfter - 1)); !s.Takes || s.Oldest != at.Add(stuckAfter-1).Sub(received) {
		t.Errorf("%+v", s)
	}
	if s := b.snapshot(at.Add(stuckAfter)); s.Takes {
		t.Errorf("%+v", s)
	}
	if s := b.snapshot(received.Add(-time.Second)); s.Oldest != 0 {
		t.Errorf("a record from the future has the age %v", s.Oldest)
	}
}

// TestStop: until its context ends, finish sends what is queued and sends again what failed; then it
// flushes and closes the output.
func TestStop(t *testing.T) {
	b := newFeedBed(t)
	b.push(1, 1)
	b.push(2, 1)
	ctx, cancel := context.WithCancel(context.Background())
	b.out.closeErr = errors.New("bad end")
	b.finish(ctx)
	sent := b.wantSent("1", "2")
	b.wantLog("output not closed well\" output=out err=\"bad end\"")
	b.want(Accounts{Taken: 2, Dropped: dropped(NotDelivered, 2)})
	if b.out.flushed != 1 || b.out.closed != 1 || len(sent) != 2 {
		t.Errorf("flushed %d times, closed %d times", b.out.flushed, b.out.closed)
	}
	cancel()

	b = newFeedBed(t)
	b.push(1, 1)
	b.out.full = true
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	b.step(time.Now()) // one delivery waits for room
	b.push(2, 1)
	b.finish(ctx)
	b.wantSent()
	b.wantLog("")
	b.want(Accounts{Taken: 2, Waiting: 1, Dropped: dropped(NotDelivered, 1)})
	b.c.lost(b.c.o.Spool.Abandon())
	b.want(Accounts{Taken: 2, Dropped: dropped(NotDelivered, 2)})
}

// TestReplaceEncodes: what failed at an output is sent to the next one in its format, as are those that
// wait.
func TestReplaceEncodes(t *testing.T) {
	b := newFeedBed(t)
	for n := range uint32(3) {
		b.push(n+1, 1)
	}
	b.step(time.Now())
	b.wantSent("1")[0].FailedAll(errors.New("away"))
	b.wantLog("away")
	b.unsent = 0 // so that the next one is fetched, and waits for room
	b.out.full = true
	b.step(time.Now())
	b.unsent = 1
	b.backoff = lastBackoff
	old, next := b.out, &slowOutput{format: Protobuf}
	old.closeErr = errors.New("bad end")
	b.replace(next)
	b.wantLog("output not closed well\" output=out err=\"bad end\"")
	if old.flushed != 1 || old.closed != 1 || b.backoff != firstBackoff {
		t.Errorf("flushed %d times, closed %d times, backoff %v", old.flushed, old.closed, b.backoff)
	}
	b.out = next
	b.feed.out = next
	b.step(time.Now())
	d := b.wantSent("1[0]")[0]
	d.Delivered(1)
	b.steps(time.Now())
	for _, d := range append(b.wantSent("2", "3"), d) {
		if len(d.Record(Protobuf, 0)) == 0 || d.Len() != 1 || d.refs.Load() > 1 {
			t.Errorf("%d records, %d bytes, %d hold it", d.Len(), len(d.Record(Protobuf, 0)), d.refs.Load())
		}
	}
	b.want(Accounts{Taken: 3, Delivered: 1, Queued: 2})
}

// TestGoOn: of two outputs that are to replace the present one, the first is closed unused.
func TestGoOn(t *testing.T) {
	b := newFeedBed(t)
	first, second := &slowOutput{format: Protobuf}, &slowOutput{format: Protobuf}
	b.goOn(first)
	b.goOn(second)
	if first.closed != 1 || second.closed != 0 || <-b.next != Output(second) || b.format != Protobuf {
		t.Errorf("closed %d and %d times", first.closed, second.closed)
	}
}

// ticked is an output that counts Ticks.
type ticked struct{ n atomic.Int32 }

func (*ticked) Format() Format        { return JSON }
func (*ticked) Room(int, int) bool    { return true }
func (*ticked) Send(*Delivery)        {}
func (*ticked) Flush(context.Context) {}
func (*ticked) Close() error          { return nil }
func (o *ticked) Tick()               { o.n.Add(1) }

// TestAnswered: an output whose receiver has answered is not left waiting for its next period.
func TestAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &ticked{}
		c := Start(Options{Decoder: func() Decoder { return fewDecoder{} }, Outputs: []NamedOutput{{"out", o}}, Log: NewLog(slog.New(slog.DiscardHandler))})
		synctest.Wait()
		before := o.n.Load()
		(&Delivery{feed: c.feeds[0]}).Answered()
		synctest.Wait()
		if n := o.n.Load(); n != before+1 {
			t.Errorf("%d calls of Tick", n-before)
		}
		c.Stop()
	})
}
