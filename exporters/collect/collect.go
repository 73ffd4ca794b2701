// Collector: starts and stops sockets, outputs, their readers of the spool; pushes batches to the
// outputs, makes gap and stats records.

package collect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"intsink/exporters/collect/spool"
	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// Listen configures one address that receives reports.
type Listen struct {
	Name    string
	Address string
	Sockets int
	Buffer  int            // receive buffer of each socket in bytes
	Allow   []netip.Prefix // sources that may send; none: all may
	Limit   int            // report packets a second of one exporter; 0: no limit
	Streams int            // most streams that are followed
	Share   bool           // other processes may have the address as well: each gets a part
}

// Options configures a collector.
type Options struct {
	Listens []Listen
	Outputs []NamedOutput
	Spool   *spool.Spool // nil: none
	Always  bool         // every batch is written to the spool before an output gets it
	Replay  int          // records a second that an output reads from the spool beyond those that arrive meanwhile; 0: no bound
	Queue   int          // bytes of the queue of each output; 0: DefaultQueue
	State   string       // file that keeps the streams' numbers over a restart; "": none
	Decoder func() Decoder
	Observe func() func(*record.Record) // is called for each socket; what it returns is called with each record. May be nil
	Log     *Log
	Flush   time.Duration // how long outputs may take to settle records at the end; 0: FlushTime
	Stats   time.Duration // how often stats records are made; 0: statsPeriod
}

// DefaultQueue is the size of an output's queue in bytes, unless Options.Queue is set.
const DefaultQueue = 64 << 20

// NamedOutput is an output and the name that its metrics and its place in the spool have.
type NamedOutput struct {
	Name string
	Output
}

// Collector receives reports and gives them to outputs.
type Collector struct {
	o       Options
	log     *Log
	began   time.Time
	sockets sync.WaitGroup
	ticking chan struct{}
	ticked  chan struct{}
	ending  sync.WaitGroup // outputs that are no longer configured

	mu       sync.Mutex
	leaving  map[string]chan struct{} // by name, outputs that are no longer configured; closed when one has ended
	listens  []*listen
	feeds    []*feed
	formats  uint8
	records  [record.NumTypes]uint64
	ends     []spool.Position
	spoolErr uint64
}

// statsPeriod is how often stats records are made, unless Options.Stats is set.
const statsPeriod = 10 * time.Second

// Start binds the sockets and begins to receive.
func Start(o Options) (*Collector, error) {
	if o.Queue == 0 {
		o.Queue = DefaultQueue
	}
	if o.Flush == 0 {
		o.Flush = FlushTime
	}
	o.Stats = cmp.Or(o.Stats, statsPeriod)
	c := &Collector{o: o, log: o.Log, began: time.Now(), ticking: make(chan struct{}), ticked: make(chan struct{}), leaving: map[string]chan struct{}{}}
	for _, l := range o.Listens {
		sockets, err := openSockets(l.Address, l.Sockets, l.Buffer, l.Share)
		if err != nil {
			for _, l := range c.listens {
				l.close()
			}
			return nil, err
		}
		c.listens = append(c.listens, newListen(l, sockets))
	}
	c.resume()
	c.SetOutputs(o.Outputs)
	if o.Spool != nil { // writes the outputs' positions before the first entry
		if err := o.Spool.Sync(); err != nil {
			c.log.Say("the spool cannot be written", "err", err)
		}
	}
	for _, l := range c.listens {
		for _, s := range l.sockets {
			c.sockets.Add(1)
			go c.receive(l, s)
		}
	}
	go c.tick()
	return c, nil
}

// SetOutputs replaces the outputs. An output takes the place of the one with its name; nil
// leaves the one with that name running. An output whose name is missing ends, and the
// records that the spool holds for it are dropped. One that comes back under its name while it
// still ends is waited for. SetOutputs and Stop are for one goroutine.
func (c *Collector) SetOutputs(outputs []NamedOutput) {
	for _, o := range outputs {
		c.awaitEnd(o.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.feeds
	c.feeds, c.formats = nil, 0
	for _, o := range outputs {
		i := slices.IndexFunc(old, func(f *feed) bool { return f.name == o.Name })
		switch {
		case i < 0:
			c.feeds = append(c.feeds, c.newFeed(o))
		default:
			c.feeds = append(c.feeds, old[i])
			if o.Output != nil {
				old[i].goOn(o.Output)
			}
		}
		c.formats |= 1 << c.feeds[len(c.feeds)-1].format
	}
	for _, f := range old {
		if !slices.Contains(c.feeds, f) {
			c.leaving[f.name] = make(chan struct{})
			c.ending.Go(func() { c.end(f) })
		}
	}
	if c.o.Spool == nil {
		return
	}
	for _, name := range c.o.Spool.Outputs() {
		known := func(f *feed) bool { return f.name == name }
		if !slices.ContainsFunc(c.feeds, known) && c.leaving[name] == nil { // else end gives it up
			c.giveUp(name)
		}
	}
}

// awaitEnd waits until no output of that name ends any more: it and the next one would share a place in
// the spool, which the end gives up. The lock is free meanwhile, so that the other outputs get records.
func (c *Collector) awaitEnd(name string) {
	c.mu.Lock()
	ended := c.leaving[name]
	c.mu.Unlock()
	if ended == nil {
		return
	}
	c.log.out.Info("an output comes back while it ends; it starts when it has ended", "output", name)
	<-ended
}

// end stops an output that is no longer in the configuration, after it has had Options.Flush
// to settle its records.
func (c *Collector) end(f *feed) {
	ctx, cancel := context.WithTimeout(context.Background(), c.o.Flush)
	defer cancel()
	f.stop <- ctx
	<-f.done
	if c.o.Spool != nil {
		c.giveUp(f.name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.leaving[f.name])
	delete(c.leaving, f.name)
}

func (c *Collector) giveUp(output string) {
	if left := c.o.Spool.Reader(output).Left(); left > 0 {
		c.log.out.Warn("what is in the spool for an output that the configuration does not have is given up", "output", output, "records", left)
	}
	c.o.Spool.Forget(output)
}

func (c *Collector) newFeed(o NamedOutput) *feed {
	f := newFeed(o.Name, o.Output)
	f.format = o.Format()
	f.limit, f.log, f.flush = c.o.Queue, c.log, c.o.Flush
	f.replay = replay{rate: c.o.Replay, since: time.Now()}
	f.maker = newMaker(c.o.Decoder(), nil)
	f.catch = func() bool { return c.catchUp(f) }
	if c.o.Spool != nil {
		f.always = c.o.Always
		f.reader = c.o.Spool.Reader(o.Name)
		if left := f.reader.Left(); f.reader.Reading() {
			f.live = false
			f.accounts.Restored, f.accounts.Spooled = left, left
		}
		if f.always {
			f.reader.Hold()
		}
	}
	go f.run()
	return f
}

// catchUp lets f take batches from its queue again if it has read all of the spool, and
// returns whether it has.
func (c *Collector) catchUp(f *feed) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !f.reader.Finish() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live = true
	return true
}

// push puts b into the queue of every output, and writes it to the spool if one of them has no
// room.
func (c *Collector) push(b *Batch) {
	if len(b.items) == 0 {
		return
	}
	for i := range b.items {
		c.records[b.items[i].kind]++
	}
	if c.o.Spool == nil {
		for _, f := range c.feeds {
			if !f.take(b, spool.Position{}) {
				f.refuse(b, QueueFull)
			}
		}
		return
	}
	needed := c.o.Always
	for _, f := range c.feeds {
		if !f.hasRoom(b) {
			f.toSpool()
			needed = true
		}
	}
	var end spool.Position
	var err error
	if needed {
		end, err = c.append(b)
	}
	for _, f := range c.feeds {
		switch {
		case f.take(b, end):
		case err != nil:
			f.refuse(b, SpoolFailed)
		default:
			f.spoolOnly(b)
		}
	}
}

// spoolOnly counts b as on disk: the output will read it from the spool.
func (f *feed) spoolOnly(b *Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accounts.Taken += uint64(b.Len())
	f.accounts.Spooled += uint64(b.Len())
	f.replay.arrived += b.Len()
	f.signal()
}

// refuse counts b as dropped.
func (f *feed) refuse(b *Batch, why Reason) {
	n := uint64(b.Len())
	f.account(func(a *Accounts) { a.Taken += n; a.Dropped[why] += n })
	f.log.Say("records dropped", "output", f.name, "reason", why.String())
}

// append writes b's entries to the spool and returns the position where they end.
func (c *Collector) append(b *Batch) (spool.Position, error) {
	ends, dropped, err := c.o.Spool.Append(b.entries, c.ends[:0])
	c.ends = ends
	for _, d := range dropped {
		c.lost(d)
	}
	if err != nil {
		c.spoolErr++
		c.log.Say("the spool cannot be written", "err", err)
		return spool.Position{}, err
	}
	return ends[len(ends)-1], nil
}

// lost counts the records that an output lost with a segment of the spool. Its gap records for
// them follow when it reads on (feed.lostGaps).
func (c *Collector) lost(d spool.Dropped) {
	i := slices.IndexFunc(c.feeds, func(f *feed) bool { return f.name == d.Output })
	if i < 0 {
		return
	}
	f := c.feeds[i]
	c.log.Say("the spool is full: its oldest segment is dropped", "output", d.Output, "records", d.Records)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accounts.Spooled -= d.Records
	f.accounts.Dropped[SpoolFull] += d.Records
}

// tick makes gap records of numbers that have been missing for too long, and stats records.
func (c *Collector) tick() {
	defer close(c.ticked)
	t := time.NewTicker(tick)
	defer t.Stop()
	stats := time.Now().Add(c.o.Stats)
	for {
		select {
		case <-c.ticking:
			return
		case now := <-t.C:
			stats = c.tickAt(now, stats)
		}
	}
}

// tickAt does what is due at now, and returns when the next stats records are due: at stats, or
// Options.Stats after it has made them.
func (c *Collector) tickAt(now, stats time.Time) time.Time {
	c.expire(int64(now.Sub(c.began)))
	if now.Before(stats) {
		return stats
	}
	c.tell()
	if err := c.keepState(false); err != nil {
		c.log.Say("the streams' numbers are not kept", "err", err)
	}
	return now.Add(c.o.Stats)
}

// expire counts as lost the numbers that have been missing for too long, and pushes their gap
// records.
func (c *Collector) expire(monotonic int64) {
	c.pushNotes(func(l *listen, add addNote) {
		l.streams.Expire(monotonic, func(g streams.Gap) { add(g.Key, g.Start, gapNote(g)) })
	})
}

func gapNote(g streams.Gap) note {
	return note{Type: record.Gap, First: g.First, Last: g.Last, Count: g.Count()}
}

// tell makes a stats record of every stream whose counts have changed.
func (c *Collector) tell() {
	c.pushNotes(func(l *listen, add addNote) {
		for _, s := range l.streams.Sorted() {
			if d := since(s); d != (record.StreamStats{}) {
				add(s.Key, s.Start(), note{Type: record.Stats, Stats: d})
			}
		}
	})
}

// addNote adds the record of a note about a stream to a batch.
type addNote func(k streams.Key, start int64, n note)

// pushNotes calls each for every listen, and pushes batches of the records that it adds.
func (c *Collector) pushNotes(each func(l *listen, add addNote)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := newBatch(0)
	push := func() {
		b.seal()
		c.push(b)
		b.release()
	}
	m, now := newMaker(nil, nil), time.Now().UnixNano()
	for _, l := range c.listens {
		each(l, func(k streams.Key, start int64, n note) {
			if b.full() {
				push()
				b = newBatch(0)
			}
			m.note(b, k, start, now, n, c.formats)
		})
	}
	push()
}

// Stop closes the sockets, lets the outputs settle records for Options.Flush, and puts the
// others into the spool. The spool stays open.
func (c *Collector) Stop() error {
	c.mu.Lock()
	for _, l := range c.listens {
		l.close()
	}
	c.mu.Unlock()
	c.sockets.Wait()
	close(c.ticking)
	<-c.ticked
	c.expire(math.MaxInt64) // what is missing now comes no more, or to the next process
	c.tell()
	ctx, cancel := context.WithTimeout(context.Background(), c.o.Flush)
	defer cancel()
	for _, f := range c.feeds {
		f.stop <- ctx
	}
	for _, f := range c.feeds {
		<-f.done
	}
	c.ending.Wait()
	if err := c.keepState(true); err != nil {
		return fmt.Errorf("the streams' numbers are not kept: %w", err)
	}
	return nil
}

// Addresses returns the addresses that the collector listens on, in the order of the options.
func (c *Collector) Addresses() []netip.AddrPort {
	var all []netip.AddrPort
	for _, l := range c.listens {
		all = append(all, l.sockets[0].local)
	}
	return all
}

// SetAllow replaces the prefixes from which the listen of that name accepts packets.
func (c *Collector) SetAllow(name string, allow []netip.Prefix) {
	for _, l := range c.listens {
		if l.Name == name {
			l.allow.Store(&allow)
		}
	}
}
