// Collector: starts and stops sockets and outputs; appends batches to the log; makes gap and stats records.

package collect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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
	IPFIX   *IPFIX         // nil: what comes are report packets
}

// Options configures a collector.
type Options struct {
	Listens []Listen
	Outputs []NamedOutput
	Spool   *spool.Spool // the log, on disk; nil: in memory
	Replay  int          // records a second that an output that is behind reads from the log beyond those that arrive meanwhile; 0: no bound
	Queue   int          // bytes of the log in memory; 0: spool.DefaultMemory
	Recent  int          // bytes of the latest batches, with their encoded records; 0: DefaultRecent
	State   string       // file that keeps the streams' numbers over a restart; "": none
	Decoder func() Decoder
	Observe func() func(*record.Record) // is called for each socket; what it returns is called with each record. May be nil
	Log     *Log
	Flush   time.Duration // how long outputs may take to settle records at the end; 0: FlushTime
	Stats   time.Duration // how often stats records are made; 0: statsPeriod
	Peers   []Peer        // other collectors behind the same addresses, 64 at most: they are asked before a gap is told
}

// DefaultRecent is how many bytes of the latest batches are kept at most, unless Options.Recent is set.
const DefaultRecent = 32 << 20

// NamedOutput is an output and the name that its metrics and its place in the log have.
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
	stopping bool
	leaving  map[string]chan struct{} // by name, outputs that are no longer configured; closed when one has ended
	listens  []*listen
	feeds    []*feed
	records  [record.NumTypes]uint64
	episodes episodes
	peers    peers
	recent   recent
	spoolErr uint64
}

// statsPeriod is how often stats records are made, unless Options.Stats is set.
const statsPeriod = 10 * time.Second

// Start binds the sockets and begins to receive. An address that cannot be bound keeps nothing else from it: OpenListens tries
// again.
func Start(o Options) *Collector {
	if o.Flush == 0 {
		o.Flush = FlushTime
	}
	o.Stats = cmp.Or(o.Stats, statsPeriod)
	c := &Collector{o: o, log: o.Log, began: time.Now(), ticking: make(chan struct{}), ticked: make(chan struct{}), leaving: map[string]chan struct{}{}}
	c.peers.id = rand.Uint64()
	opened := make([][]*socket, len(o.Listens)) // before the log says what the streams' last numbers were
	for i, l := range o.Listens {
		n := newListen(l)
		if len(o.Peers) > 0 {
			n.streams.Remember(time.Now().UnixNano(), c.peers.id)
		}
		if opened[i], n.why = openSockets(l.Address, l.Sockets, l.Buffer, l.Share); n.why == nil {
			n.local = opened[i][0].local
		}
		c.listens = append(c.listens, n)
	}
	if c.o.Spool == nil {
		c.o.Spool, _ = spool.Open(spool.Options{Memory: int64(o.Queue)}) // in memory: nothing can fail
	}
	c.recent.limit, c.recent.end = cmp.Or(o.Recent, DefaultRecent), c.o.Spool.End()
	missing := c.resume()
	c.SetOutputs(o.Outputs)
	c.startPeers()
	c.pushNotes(func(l *listen, add addNote) {
		for _, g := range missing {
			if last := l == c.listens[len(c.listens)-1]; (g.Key.Collector == l.local || last) && !c.missed(l, g) {
				add(g.Key, g.Start, gapNote(g))
			}
		}
		missing = slices.DeleteFunc(missing, func(g streams.Gap) bool { return g.Key.Collector == l.local })
	})
	c.o.Spool.BeforeRemoval(func() { c.keepState(false) })
	if err := c.o.Spool.Sync(); err != nil { // the outputs' positions are there before the first entry
		c.log.Say("the spool cannot be written", "err", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, l := range c.listens {
		if opened[i] != nil {
			c.begin(l, opened[i])
		}
	}
	go c.tick()
	return c
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
	c.feeds = nil
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
	}
	for _, f := range old {
		if !slices.Contains(c.feeds, f) {
			c.leaving[f.name] = make(chan struct{})
			c.ending.Go(func() { c.end(f) })
		}
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
	c.awaitFeed(ctx, f)
	c.giveUp(f.name)
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.leaving[f.name])
	delete(c.leaving, f.name)
}

// lastPatience is how long an output may take to end behind the time that it has to settle records.
const lastPatience = 2 * time.Second

// awaitFeed waits until an output has ended. One that hangs, such as a file on a disk that does not answer, is left alone.
func (c *Collector) awaitFeed(ctx context.Context, f *feed) {
	deadline, _ := ctx.Deadline()
	select {
	case <-f.done:
	case <-time.After(time.Until(deadline) + lastPatience):
		c.log.out.Warn("an output hangs and is left alone", "output", f.name)
		f.leaveRest()
	}
}

func (c *Collector) giveUp(output string) {
	if left := c.o.Spool.Reader(output).Left(); left > 0 {
		c.log.out.Warn("what is in the spool for an output that the configuration does not have is given up", "output", output, "records", left)
	}
	c.o.Spool.Forget(output)
}

func (c *Collector) newFeed(o NamedOutput) *feed {
	f := c.makeFeed(o)
	go f.run()
	return f
}

func (c *Collector) makeFeed(o NamedOutput) *feed {
	f := newFeed(o.Name, o.Output)
	f.format = o.Format()
	f.log, f.flush, f.recent = c.log, c.o.Flush, &c.recent
	f.replay = replay{rate: c.o.Replay, since: time.Now()}
	f.maker = newMaker(c.o.Decoder(), nil)
	f.reader = c.o.Spool.Reader(o.Name)
	f.accounts.Restored = f.reader.Left()
	f.accounts.Waiting = f.accounts.Restored
	return f
}

// formats returns the encodings that outputs which keep up take, a bit each.
func (c *Collector) formats() (formats uint8) {
	for _, f := range c.feeds {
		if !c.recent.behind(f.reader.Position()) {
			formats |= 1 << f.format
		}
	}
	return formats
}

// push appends b to the log, and tells every output.
func (c *Collector) push(b *Batch) {
	if len(b.items) == 0 {
		return
	}
	for i := range b.items {
		c.records[b.items[i].kind]++
	}
	start, end, dropped, err := c.o.Spool.Append(b.entries)
	if err != nil {
		c.spoolErr++
		c.log.Say("the spool cannot be written: records wait in memory, as many as fit", "err", err)
	}
	least := end
	for _, f := range c.feeds {
		f.push(b)
		if at := f.reader.Position(); at.Before(least) {
			least = at
		}
	}
	c.recent.add(recentBatch{start, end, b}, c.formats() != 0, least)
	for _, f := range c.feeds {
		f.signal()
	}
	c.lost(dropped)
}

// reasons of what is lost with a segment.
var lossReasons = [...]Reason{spool.SpoolFull: SpoolFull, spool.SpoolFailed: SpoolFailed, spool.QueueFull: QueueFull, spool.Stopped: NotDelivered}

// lost counts the records that outputs lost with segments of the log. Their gap records follow (feed.lostGaps).
func (c *Collector) lost(dropped []spool.Dropped) {
	for _, d := range dropped {
		why := lossReasons[d.Why]
		if d.Why != spool.Stopped || c.o.Spool.Failing() != nil { // without a spool, the end says so
			c.log.Say("records dropped: the log's oldest segment goes", "output", d.Output, "records", d.Records, "reason", why.String())
		}
		for _, f := range c.feeds {
			if f.name == d.Output {
				f.lose(d.Records, why)
			}
		}
	}
}

// tick makes gap records of numbers that have been missing for too long, records of episodes, and stats records.
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
	c.settle(int64(now.Sub(c.began)), false)
	c.tellEpisodes(now.Sub(c.began))
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
		l.streams.Expire(monotonic, func(g streams.Gap) {
			if !c.missed(l, g) {
				add(g.Key, g.Start, gapNote(g))
			}
		})
	})
}

func gapNote(g streams.Gap) spool.Notice {
	return spool.Notice{Type: record.Gap, First: g.First, Last: g.Last, Count: g.Count()}
}

// tell makes a stats record of every stream whose counts have changed, and tells of clocks that are far from this machine's.
func (c *Collector) tell() {
	c.pushNotes(func(l *listen, add addNote) {
		for _, s := range l.streams.Sorted() {
			if s.Behind.Wrong() {
				text := "the clock of a sink is not that of this machine: questions about the last hour may leave out its records; have both use NTP or PTP"
				if s.Version == streams.IPFIX {
					text = "the clock of an exporter of IPFIX is not that of this machine: its records have the time of their receipt; have both use NTP or PTP"
				}
				c.log.Say(text,
					"listen", l.Name, "exporter", s.Exporter, "node_id", s.Node, "hw_id", s.HwID, "behind", time.Duration(s.Behind.Get()).Round(time.Second))
			}
			if d := since(s); d != (record.StreamStats{}) {
				add(s.Key, s.Start(), spool.Notice{Type: record.Stats, Stats: d})
			}
		}
	})
}

// addNote adds the record of a note about a stream to a batch.
type addNote func(k streams.Key, start int64, n spool.Notice)

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
		each(l, func(k streams.Key, start int64, n spool.Notice) {
			if b.full() {
				push()
				b = newBatch(0)
			}
			m.note(b, k, start, now, n, c.formats())
		})
	}
	push()
}

// Stop reads what the sockets hold, for drainTime at most, and closes them; it lets the outputs settle
// records for Options.Flush. What is left is in the spool, which stays open.
func (c *Collector) Stop() error {
	c.mu.Lock()
	c.stopping = true
	for _, l := range c.listens {
		l.drain(drainTime)
	}
	c.mu.Unlock()
	c.sockets.Wait()
	close(c.ticking)
	<-c.ticked
	c.expire(math.MaxInt64) // what is missing now comes no more, or to the next process
	c.lastQuestions()
	c.tellEpisodes(math.MaxInt64)
	c.tell()
	ctx, cancel := context.WithTimeout(context.Background(), c.o.Flush)
	defer cancel()
	for _, f := range c.feeds {
		f.stop <- ctx
	}
	for _, f := range c.feeds {
		c.awaitFeed(ctx, f)
	}
	c.ending.Wait()
	c.o.Spool.BeforeRemoval(nil)
	if err := c.o.Spool.Sync(); err != nil {
		c.log.Say("the spool cannot be written", "err", err)
	}
	c.lost(c.o.Spool.Abandon())
	if err := c.keepState(true); err != nil {
		return fmt.Errorf("the streams' numbers are not kept: %w", err)
	}
	return nil
}

// Addresses returns the addresses that the collector listens on, or is to listen on, in the order of the options.
func (c *Collector) Addresses() []netip.AddrPort {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []netip.AddrPort
	for _, l := range c.listens {
		all = append(all, l.local)
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
