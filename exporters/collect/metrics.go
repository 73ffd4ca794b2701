// Snapshot of a collector: counters of listens, streams and outputs.

package collect

import (
	"time"

	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// Snapshot is what a collector has counted, at one moment.
type Snapshot struct {
	Listens     []ListenSnapshot
	Outputs     []OutputSnapshot
	Records     [record.NumTypes]uint64 // made
	SpoolErrors uint64                  // batches that could not be written
}

// ListenSnapshot is what came to one address. Datagrams = Packets + the sum of Refused.
type ListenSnapshot struct {
	Name      string
	Sockets   int
	Buffer    int // bytes that the kernel gave each socket
	Datagrams uint64
	Packets   uint64
	Refused   [NumRefusals]uint64
	Overflows uint64 // datagrams that the sockets had no room for, as of the last one received
	Streams   []StreamSnapshot
	Exporters int
}

// StreamSnapshot is one stream.
type StreamSnapshot struct {
	streams.Key
	streams.Counts
}

// OutputSnapshot is one output.
type OutputSnapshot struct {
	Name string
	Accounts
	QueueBytes int
	Window     int // deliveries that are sent and not settled
	Retried    uint64
	Oldest     time.Duration // since the receipt of the oldest record in memory
	Live       bool          // not behind in the spool
	Takes      bool          // it takes what is sent
}

// Snapshot is consistent: the accounts in it add up.
func (c *Collector) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Snapshot{Records: c.records, SpoolErrors: c.spoolErr}
	for _, l := range c.listens {
		ls := ListenSnapshot{
			Name: l.Name, Sockets: len(l.sockets), Buffer: l.sockets[0].buffer,
			Datagrams: l.datagrams - l.inHand, Packets: l.packets, Refused: l.refused, Overflows: l.overflows, Exporters: len(l.exporters.buckets),
		}
		for _, st := range l.streams.Sorted() {
			ls.Streams = append(ls.Streams, StreamSnapshot{st.Key, st.Counts})
		}
		s.Listens = append(s.Listens, ls)
	}
	now := time.Now()
	for _, f := range c.feeds {
		s.Outputs = append(s.Outputs, f.snapshot(now))
	}
	return s
}

// stuckAfter is how long an output may have records that nothing was heard of.
const stuckAfter = 10 * time.Second

func (f *feed) snapshot(now time.Time) OutputSnapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := OutputSnapshot{
		Name: f.name, Accounts: f.accounts, QueueBytes: f.waiting, Window: len(f.window), Retried: f.retried, Live: f.live,
		Takes: !f.failing && (len(f.window) == 0 || now.Sub(f.window[0].sentAt) < stuckAfter),
	}
	for _, all := range [][]*Delivery{f.window, f.queue} {
		if len(all) > 0 && len(all[0].entries) > 0 {
			s.Oldest = max(0, time.Duration(now.UnixNano()-all[0].entries[0].Received))
			break
		}
	}
	return s
}
