// Output and Delivery: the interface that outputs (Kafka, ClickHouse, IPFIX, files) implement, and the
// records that they get.

package collect

import (
	"context"
	"time"

	"intsink/exporters/collect/spool"
)

// Output writes records to a store. One goroutine calls Send, Flush and Close.
type Output interface {
	// Format returns the encoding of the records that Send expects.
	Format() Format
	// Room reports whether the output can take a delivery now, of so many records and so many
	// bytes of memory.
	Room(records, bytes int) bool
	// Send hands the records of d to the output, in order, and does not wait until they arrive:
	// the output settles each of them later, from any goroutine, by a method of d. It may use
	// d until all are settled.
	Send(d *Delivery)
	// Flush waits until all records that were sent are settled, or ctx ends.
	Flush(ctx context.Context)
	// Close ends the output. It settles the records that are left as failed before it returns.
	Close() error
}

// Ticker is implemented by outputs with periodic work, such as to send the records that they
// have gathered.
type Ticker interface {
	// Tick is called about every 100 ms and after Delivery.Answered, from the goroutine that calls Send.
	Tick()
}

// Awayer is implemented by outputs that may know that they can take nothing before they are sent anything.
type Awayer interface {
	// Away says why the output can take nothing; nil: it may take records. Any goroutine calls it.
	Away() error
}

// Delivery is one batch for one output.
type Delivery struct {
	*Batch
	Again []int // indices of the records to send, the others are settled; nil: all
	// First says that these records failed, that none which failed is older, and that every other one
	// that was sent is settled: what the output does now to go on cannot let a record pass another.
	First bool

	feed    *feed
	end     spool.Position // where its last entry ends in the log
	gaps    bool           // its records are gap records of what was lost with the log
	left    int            // records that were sent and are not settled
	sentAt  time.Time
	failed  []int
	dropped int
}

// Size returns how many bytes of memory the delivery takes until it is settled.
func (d *Delivery) Size() int { return d.bytes }

// Count returns the number of records to send.
func (d *Delivery) Count() int {
	if d.Again != nil {
		return len(d.Again)
	}
	return d.Len()
}

// Index returns the index in the batch of the n-th record to send.
func (d *Delivery) Index(n int) int {
	if d.Again != nil {
		return d.Again[n]
	}
	return n
}

// Answered has Tick called soon: the receiver has answered, and a goroutine of the output knows.
func (d *Delivery) Answered() { d.feed.signal() }

// Delivered settles n records that have arrived.
func (d *Delivery) Delivered(n int) { d.feed.settle(d, n) }

// Dropped settles record i, which can never arrive, for example since it is too large.
func (d *Delivery) Dropped(i int, why Reason) { d.feed.drop(d, i, why) }

// Failed settles record i for now: the feed sends it again, in a delivery's Again. The cause
// is logged.
func (d *Delivery) Failed(i int, cause error) { d.feed.fail(d, i, cause) }

// FailedAll calls Failed for each record of d that was to be sent.
func (d *Delivery) FailedAll(cause error) {
	for n := range d.Count() {
		d.Failed(d.Index(n), cause)
	}
}

// Retrying says that the records of d failed and that the output sends them again by itself.
// The cause is logged.
func (d *Delivery) Retrying(cause error) { d.feed.retrying(d, cause) }
