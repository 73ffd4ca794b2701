package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/exporters/collect/spool"
	"intsink/exporters/collect/streams"
)

// spoolBed is a feed with a spool.
type spoolBed struct {
	*feedBed
	s   *spool.Spool
	dir string
}

func newSpoolBed(t *testing.T, o spool.Options) *spoolBed {
	t.Helper()
	var err error
	if o.Directory, err = os.MkdirTemp("/dev/shm", "intsink-collect"); err != nil { // in memory: the spool syncs often
		t.Fatal(err)
	}
	if o.Size == 0 {
		o.Size = 1 << 30
	}
	s, err := spool.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	b := &spoolBed{newFeedBed(t), s, o.Directory}
	t.Cleanup(func() {
		b.s.Close()
		os.RemoveAll(b.dir)
	})
	b.reader = s.Reader("out")
	b.catch = func() bool { return new(Collector).catchUp(b.feed) }
	return b
}

// spooled appends packets to the spool, as a collector does for a feed that has no room.
func (b *spoolBed) spooled(entries ...spool.Entry) (ends []spool.Position) {
	b.t.Helper()
	b.toSpool()
	for _, e := range entries {
		var err error
		if ends, _, err = b.s.Append([]spool.Entry{e}, ends); err != nil {
			b.t.Fatal(err)
		}
		b.accounts.Taken += uint64(e.Records)
		b.accounts.Spooled += uint64(e.Records)
	}
	return ends
}

// positions returns the contents of positions.json.
func (b *spoolBed) positions() (p struct {
	Outputs map[string]spool.Position
	Lost    map[string][]spool.Range
}) {
	b.t.Helper()
	err := b.s.Sync()
	var text []byte
	if err == nil {
		text, err = os.ReadFile(filepath.Join(b.dir, "positions.json"))
	}
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// wantPosition fails the test unless the output's position in the spool is p; nil: it needs nothing.
func (b *spoolBed) wantPosition(p *spool.Position) {
	b.t.Helper()
	got, ok := b.positions().Outputs["out"]
	if ok != (p != nil) || ok && got != *p {
		b.t.Errorf("position %v, %v, want %v", got, ok, p)
	}
}

func entries(from, to uint32, records byte) (all []spool.Entry) {
	for n := from; n <= to; n++ {
		all = append(all, entryOf(n, records))
	}
	return all
}

// TestReadsFromTheSpool: the queue comes first, then what is in the spool, in deliveries of up to 64
// packets; what is delivered is acknowledged; the feed is live again when all was read, and the spool
// is released when all of that is delivered.
func TestReadsFromTheSpool(t *testing.T) {
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprint("always ", always), func(t *testing.T) {
			b := newSpoolBed(t, spool.Options{})
			b.always = always
			b.push(1, 2)
			b.replay.arrived = 7
			b.toSpool()
			if b.replay.arrived != 0 || time.Since(b.replay.since) > time.Minute {
				t.Errorf("%d records arrived since %v", b.replay.arrived, b.replay.since)
			}
			ends := b.spooled(entries(2, 70, 2)...)
			if !b.woken() || b.live {
				t.Error("not woken, or still live")
			}
			b.want(Accounts{Taken: 140, Queued: 2, Spooled: 138})
			b.steps(time.Now())
			b.want(Accounts{Taken: 140, Queued: 140})
			if len(b.out.sent) != 3 || b.out.sent[1].Len() != 2*readEntries || b.out.sent[2].Len() != 10 || !b.live {
				t.Fatalf("%d deliveries, live %v", len(b.out.sent), b.live)
			}
			sent := b.out.sent
			b.wantPosition(&spool.Position{Segment: 1, Offset: 24})
			sent[0].Delivered(2)
			b.wantPosition(&spool.Position{Segment: 1, Offset: 24})
			sent[2].Delivered(10)
			b.wantPosition(&spool.Position{Segment: 1, Offset: 24})
			b.push(71, 1)
			b.steps(time.Now())
			sent[1].Delivered(2 * readEntries)
			if always {
				b.wantPosition(&ends[len(ends)-1])
			} else {
				b.wantPosition(nil)
			}
			b.want(Accounts{Taken: 141, Delivered: 140, Queued: 1})
			sent[2].Batch = nil
			b.out.sent[3].Delivered(1)
			b.want(Accounts{Taken: 141, Delivered: 141})
		})
	}
}

// TestReleaseAfterCatchingUp: a feed whose deliveries have all arrived when it is live again releases
// the spool at once.
func TestReleaseAfterCatchingUp(t *testing.T) {
	b := newSpoolBed(t, spool.Options{})
	ends := b.spooled(entryOf(1, 2))
	b.step(time.Now())
	b.wantSent("1")[0].Delivered(2)
	b.wantPosition(&ends[0])
	if b.step(time.Now()) || !b.live {
		t.Error("not live")
	}
	b.wantPosition(nil)
	b.toSpool()
	b.toSpool() // does not lose what came since
	ends = b.spooled(entryOf(2, 2))
	b.toSpool()
	b.steps(time.Now())
	b.wantSent("2")
	b.always = true
	b.releaseSpool()
	b.wantPosition(&spool.Position{Segment: 1, Offset: ends[0].Offset/2 + 12})
}

// TestDeliveriesFromTheSpoolAreBounded by bytes as well.
func TestDeliveriesFromTheSpoolAreBounded(t *testing.T) {
	b := newSpoolBed(t, spool.Options{})
	large := entryOf(1, 1)
	large.Payload = append(large.Payload, make([]byte, batchRaw/5-len(large.Payload))...)
	b.spooled(large, large, large, large, large, large, large)
	b.steps(time.Now())
	if len(b.out.sent) != 2 || b.out.sent[0].Len() != 6 || b.out.sent[1].Len() != 1 { // 5 are a byte less
		t.Errorf("%d deliveries, %d records in the first", len(b.out.sent), b.out.sent[0].Len())
	}
	if b.spoolRead != 0 {
		t.Errorf("the last read found %d bytes", b.spoolRead)
	}
}

// TestRecordsFromTheSpoolAreBounded: a delivery that has batchRecords gets no further entry.
func TestRecordsFromTheSpoolAreBounded(t *testing.T) {
	b := newSpoolBed(t, spool.Options{})
	b.spooled(entries(1, readEntries, 250)...)
	b.steps(time.Now())
	var got []int
	for _, d := range b.out.sent {
		got = append(got, d.Len())
	}
	if fmt.Sprint(got) != "[4250 4250 4250 3250]" { // 16 entries are 96 records too few
		t.Errorf("deliveries of %v records", got)
	}
	b.want(Accounts{Taken: 250 * readEntries, Queued: 250 * readEntries})
}

// TestOtherRecordsThanBefore: a decoder that makes more records of an entry than the one before restores
// them; if it makes fewer, they count as lost. Entries without records are acknowledged.
func TestOtherRecordsThanBefore(t *testing.T) {
	for _, c := range []struct {
		name      string
		now, then uint16
		want      Accounts
	}{
		{"more", 5, 3, Accounts{Taken: 3, Restored: 2, Delivered: 5}},
		{"as many", 3, 3, Accounts{Taken: 3, Delivered: 3}},
		{"fewer", 2, 3, Accounts{Taken: 3, Delivered: 2, Dropped: dropped(SpoolCorrupt, 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newSpoolBed(t, spool.Options{})
			e := entryOf(1, byte(c.now))
			e.Records = c.then
			b.spooled(e)
			b.steps(time.Now())
			b.wantSent("1")[0].Delivered(int(c.now))
			b.want(c.want)
		})
	}
	t.Run("none", func(t *testing.T) {
		b := newSpoolBed(t, spool.Options{})
		b.always = true
		e := entryOf(1, 0)
		e.Records = 3
		note := entryOf(2, 1)
		note.Kind = spool.Note
		note.Payload = []byte("no JSON")
		ends := b.spooled(e, note)
		b.steps(time.Now())
		b.wantSent()
		b.want(Accounts{Taken: 4, Dropped: dropped(SpoolCorrupt, 4)})
		b.wantPosition(&ends[1])
	})
}

// TestCorruptSegment: records that cannot be read any more count as lost, and the log says so.
func TestCorruptSegment(t *testing.T) {
	b := newSpoolBed(t, spool.Options{SegmentSize: 100})
	b.spooled(entries(1, 3, 2)...)
	os.Truncate(filepath.Join(b.dir, "spool-0000000002.pcap"), 30)
	b.steps(time.Now())
	b.wantSent("1 3")
	b.want(Accounts{Taken: 6, Queued: 4, Dropped: dropped(SpoolCorrupt, 2)})
	b.wantLog("cannot be read to its end\" output=out records=2")
}

// fullSpool drops the oldest of the segments: a spool of two segments of one packet each gets so many.
func (b *spoolBed) fullSpool(from, to uint32) {
	b.t.Helper()
	b.toSpool()
	for n := from; n <= to; n++ {
		_, lost, err := b.s.Append([]spool.Entry{entryOf(n, 2)}, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		b.accounts.Taken += 2
		b.accounts.Spooled += 2
		for _, d := range lost {
			b.accounts.Spooled -= d.Records
			b.accounts.Dropped[SpoolFull] += d.Records
		}
	}
}

// TestGapsOfDroppedSegments: gap records come before what is left in the spool; the ranges stay on disk
// until all gap records have arrived.
func TestGapsOfDroppedSegments(t *testing.T) {
	b := newSpoolBed(t, spool.Options{Size: 250, SegmentSize: 100})
	b.fullSpool(0, 4)
	b.step(time.Now())
	gaps := b.out.sent[0]
	if gaps.Len() != 1 || !strings.Contains(string(gaps.Record(JSON, 0)), `"type":"gap"`) || !strings.Contains(string(gaps.Record(JSON, 0)), `"first":0,"last":2`) {
		t.Fatalf("%d records: %s", gaps.Len(), gaps.Bytes(JSON, 0, gaps.Len()))
	}
	b.want(Accounts{Taken: 11, Queued: 1, Spooled: 4, Dropped: dropped(SpoolFull, 6)})
	b.fullSpool(5, 6)
	b.step(time.Now())
	if len(b.out.sent) != 2 || !strings.Contains(string(b.out.sent[1].Record(JSON, 0)), `"first":3,"last":4`) {
		t.Fatalf("%d deliveries", len(b.out.sent))
	}
	lost := func() (n int) {
		for _, r := range b.positions().Lost["out"] {
			n += int(r.Packets)
		}
		return n
	}
	if lost() != 5 {
		t.Errorf("%d packets are on disk as lost", lost())
	}
	gaps.Delivered(1)
	if lost() != 5 {
		t.Errorf("%d packets are on disk as lost, while a gap record is on its way", lost())
	}
	b.out.sent[1].Delivered(1)
	if lost() != 0 {
		t.Errorf("%d packets are on disk as lost, although all gap records have arrived", lost())
	}
	b.want(Accounts{Taken: 16, Delivered: 2, Spooled: 4, Dropped: dropped(SpoolFull, 10)})
	b.steps(time.Now())
	if b.lostGaps() != nil || len(b.out.sent) != 3 {
		t.Error("told twice")
	}
}

// TestRestIsReadFirst: what a process before had in memory comes in deliveries of its own; its file goes
// when all of it has arrived.
func TestRestIsReadFirst(t *testing.T) {
	b := newSpoolBed(t, spool.Options{})
	if err := b.reader.KeepRest(entries(1, readEntries+1, 1)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.s.Append(entries(100, 101, 1), nil); err != nil {
		t.Fatal(err)
	}
	b.s.Close()
	var err error
	if b.s, err = spool.Open(spool.Options{Directory: b.dir, Size: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	b.reader, b.live = b.s.Reader("out"), false
	b.accounts = Accounts{Restored: b.reader.Left(), Spooled: b.reader.Left()}
	rest := func() bool {
		names, _ := filepath.Glob(filepath.Join(b.dir, "rest-*"))
		return len(names) == 1
	}
	b.steps(time.Now())
	if sent := b.out.sent; len(sent) != 3 || sent[0].Len() != readEntries || sent[1].Len() != 1 || sent[2].Len() != 2 {
		t.Fatalf("%d deliveries", len(sent))
	}
	b.out.sent[0].Delivered(readEntries)
	if !rest() {
		t.Error("the rest's file is gone before all of it has arrived")
	}
	b.out.sent[1].Delivered(1)
	if rest() {
		t.Error("the rest's file is still there")
	}
	b.want(Accounts{Restored: readEntries + 3, Delivered: readEntries + 1, Queued: 2})
	b.out.sent[2].Delivered(2)
	b.wantPosition(nil)
}

// TestKeepsWhatIsInMemory: at the end, what the output has not settled, what waits for room, what is in
// the queue and gap records are put into the spool, in this order; what came from there stays there.
func TestKeepsWhatIsInMemory(t *testing.T) {
	b := newSpoolBed(t, spool.Options{Size: 250, SegmentSize: 100})
	b.push(101, 2)
	b.push(102, 1)
	b.push(103, 1)
	b.step(time.Now())
	b.out.sent[0].Dropped(0, TooLarge)
	b.out.full = true
	b.step(time.Now())
	b.fullSpool(0, 4)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b.finish(ctx)
	b.want(Accounts{Taken: 15, Spooled: 8, Dropped: func() [NumReasons]uint64 {
		all := dropped(SpoolFull, 6)
		all[TooLarge] = 1
		return all
	}()})
	if lost := b.positions().Lost; len(lost) != 0 {
		t.Errorf("lost ranges %v, of which the rest has gap records", lost)
	}
	b.s.Close()
	var err error
	if b.s, err = spool.Open(spool.Options{Directory: b.dir, Size: 250}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := b.s.Reader("out"); ; {
		e, _, ok, err := r.Next()
		if !ok || err != nil {
			break
		}
		if e.Kind == spool.Note {
			got = append(got, "gap")
		} else {
			got = append(got, fmt.Sprint(e.Sequence))
		}
	}
	if want := "101 102 103 gap 3 4"; strings.Join(got, " ") != want {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// TestWhatIsReadFromTheSpoolStaysThere: a delivery from the spool that the output has not settled counts
// as on disk at the end, also one that waits for room.
func TestWhatIsReadFromTheSpoolStaysThere(t *testing.T) {
	b := newSpoolBed(t, spool.Options{})
	b.spooled(entries(1, readEntries+3, 2)...)
	b.step(time.Now())
	b.out.full = true
	b.step(time.Now())
	b.wantSent(strings.Trim(fmt.Sprint(numbers(1, readEntries)), "[]"))
	b.want(Accounts{Taken: 134, Queued: 134})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.finish(ctx) // does not wait for room: the delivery is on the disk
	b.want(Accounts{Taken: 134, Spooled: 134})
	b.wantPosition(&spool.Position{Segment: 1, Offset: 24})
}

func numbers(from, to int) (all []int) {
	for ; from <= to; from++ {
		all = append(all, from)
	}
	return all
}

// TestRestThatCannotBeKept is lost, counted and logged.
func TestRestThatCannotBeKept(t *testing.T) {
	b := newSpoolBed(t, spool.Options{})
	b.push(1, 2)
	if err := os.MkdirAll(filepath.Join(b.dir, fmt.Sprintf("rest-%08x.pcap", spool.Tag("out")), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.keepRest()
	b.want(Accounts{Taken: 2, Dropped: dropped(NotDelivered, 2)})
	b.wantLog("could not be put into the spool")
}

// TestReplayBounds: the allowance for reading the spool is renewed at most every 50 ms, adds up
// over at most a second, and is smaller after too much was read.
func TestReplayBounds(t *testing.T) {
	t0 := time.Unix(1700000000, 0)
	for _, c := range []struct {
		name    string
		after   time.Duration
		before  int // allowed before
		arrived int
		want    int // allowed after
	}{
		{"too early", replayEvery - 1, 0, 100, 0},
		{"in time", replayEvery, 0, 0, 50},
		{"with what arrived", replayEvery, 0, 7, 57},
		{"after too much was read", replayEvery, -20, 0, 30},
		{"after far too much was read", replayEvery, -50, 0, 0},
		{"what was left is not saved", replayEvery, 20, 0, 50},
		{"a second", time.Second, 0, 500, 1500},
		{"longer than a second", 4 * time.Second, 0, 2000, 1500},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := replay{rate: 1000, since: t0, allowed: c.before, arrived: c.arrived}
			if wait := r.wait(t0.Add(c.after)); wait != (c.want <= 0) || r.allowed != c.want {
				t.Errorf("wait %v, %d may be read, want %d", wait, r.allowed, c.want)
			}
			if set := c.after >= replayEvery; set != (r.arrived == 0) || set != r.since.Equal(t0.Add(c.after)) {
				t.Errorf("%d arrived since %v", r.arrived, r.since)
			}
		})
	}
	b := newSpoolBed(t, spool.Options{})
	b.replay.rate = 1
	b.spooled(entries(1, 2, 2)...)
	b.replay.since = time.Now().Add(time.Hour) // so that no more is allowed meanwhile
	b.steps(time.Now())
	b.wantSent()
	b.replay.allowed = 10
	b.steps(time.Now())
	b.wantSent("1 2")
	if b.replay.allowed != 6 {
		t.Errorf("%d may be read", b.replay.allowed)
	}
}

// TestNotesOverTheSpool: a gap record that was kept comes back as it was, in either format.
func TestNotesOverTheSpool(t *testing.T) {
	b := newFeedBed(t)
	key := streams.Key{Exporter: entryOf(0, 0).From.Addr(), Collector: entryOf(0, 0).To, Node: 3, HwID: 5, Version: 1}
	batch := newBatch(0)
	b.maker.note(batch, key, 1600000000e9, 1700000000e9, gapNote(streams.Gap{Key: key, First: 5, Last: 9}), 1<<JSON|1<<Protobuf)
	batch.seal()
	again := b.maker.remake(batch, 1<<JSON|1<<Protobuf)
	for _, f := range []Format{JSON, Protobuf} {
		if got, want := string(again.Record(f, 0)), string(batch.Record(f, 0)); got != want || got == "" {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, text := range []string{`"count":5`, `"node_id":3`, `"hw_id":5`, `"version":1`, `"first":5,"last":9`} {
		if got := string(again.Record(JSON, 0)); !strings.Contains(got, text) {
			t.Errorf("%s has no %s", got, text)
		}
	}
	if again.Node(0) != 3 || again.Len() != 1 || again.bytes != again.room() {
		t.Errorf("%d records of node %d, which count for %d bytes and take %d", again.Len(), again.Node(0), again.bytes, again.room())
	}
}
