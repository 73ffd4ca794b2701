// Snapshot: copies the counters of a collector's listens, streams and outputs.

package collect

import (
	"errors"
	"time"

	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// Snapshot has the counters of a collector at one moment.
type Snapshot struct {
	Listens     []ListenSnapshot
	Outputs     []OutputSnapshot
	Records     [record.NumTypes]uint64 // records made, by type
	SpoolErrors uint64                  // batches that could not be written to the spool
}

// ListenSnapshot counts the datagrams of one address: Datagrams = Packets + the sum of Refused.
type ListenSnapshot struct {
	Name      string
	Why       error // why its address is not open; nil: it is
	Sockets   int
	Buffer    int // bytes that the kernel gave each socket
	Datagrams uint64
	Packets   uint64
	Refused   [NumRefusals]uint64
	Elsewhere uint64 // report packets that are missing here, and came to another collector
	Overflows uint64 // datagrams lost because a socket's buffer was full; the kernel says so with the next one
	Streams   []StreamSnapshot
	Gone      streams.Counts // of streams that made room for others
	Twins     uint64         // pairs of sinks that share address, node and hw_id
	Exporters int

	Terminators *TerminatorSnapshot // nil: what comes are report packets
}

// StreamSnapshot has the counters of one stream.
type StreamSnapshot struct {
	streams.Key
	streams.Counts
	Behind time.Duration // see streams.Behind
}

// OutputSnapshot has the counters of one output.
type OutputSnapshot struct {
	Name string
	Accounts
	QueueBytes int // of the deliveries that were sent and are not settled
	Window     int // deliveries that were sent and are not settled
	Retried    uint64
	Oldest     time.Duration // age of the oldest record that was sent and is not settled, since its receipt
	Live       bool          // keeps up; false: reads the log
	Takes      bool          // settles the records that it is sent
	Proved     bool          // has settled some
	Why        error         // why records do not arrive; nil: they do, or none was sent
}

// Snapshot returns the counters, all of one moment: the accounts in it add up.
func (c *Collector) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Snapshot{Records: c.records, SpoolErrors: c.spoolErr}
	for _, l := range c.listens {
		ls := ListenSnapshot{
			Name: l.Name, Why: l.why, Sockets: len(l.sockets),
			Datagrams: l.datagrams - l.inHand, Packets: l.packets, Refused: l.refused, Overflows: l.overflows, Elsewhere: l.elsewhere, Gone: l.streams.Gone, Twins: l.twins, Exporters: len(l.exporters.buckets), Terminators: l.terminators.snapshot(),
		}
		if len(l.sockets) > 0 {
			ls.Buffer = l.sockets[0].buffer
		}
		for _, st := range l.streams.Sorted() {
			ls.Streams = append(ls.Streams, StreamSnapshot{st.Key, st.Counts, time.Duration(st.Behind.Get())})
		}
		s.Listens = append(s.Listens, ls)
	}
	now := time.Now()
	for _, f := range c.feeds {
		s.Outputs = append(s.Outputs, f.snapshot(now))
	}
	return s
}

// ErrStuck is why records do not arrive at an output that has told of no failure.
var ErrStuck = errors.New("it has acknowledged nothing for 10 seconds")

// stuckAfter is how long an output may have unsettled records before it counts as stuck.
const stuckAfter = 10 * time.Second

func (f *feed) snapshot(now time.Time) OutputSnapshot {
	live := !f.recent.behind(f.reader.Position())
	f.mu.Lock()
	defer f.mu.Unlock()
	s := OutputSnapshot{
		Name: f.name, Accounts: f.accounts, Window: len(f.window), Retried: f.retried, Live: live,
		Proved: f.accounts.Delivered > 0, Why: f.cause,
	}
	var away error
	if f.away != nil {
		away = f.away()
	}
	stuck := len(f.window) > 0 && now.Sub(f.window[0].sentAt) >= stuckAfter
	s.Takes = !f.failing && !stuck && away == nil
	switch {
	case away != nil:
		s.Why = away
	case s.Why == nil && stuck:
		s.Why = ErrStuck
	}
	for _, d := range f.window {
		s.QueueBytes += d.bytes
	}
	if len(f.window) > 0 && len(f.window[0].entries) > 0 {
		s.Oldest = max(0, time.Duration(now.UnixNano()-f.window[0].entries[0].Received))
	}
	return s
}
