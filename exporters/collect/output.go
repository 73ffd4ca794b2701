// Output and Delivery: the interface that Kafka, ClickHouse and files implement.

package collect

import (
	"context"
	"time"

	"intsink/exporters/collect/spool"
)

// Output puts records somewhere. Send, Flush and Close are called by one goroutine.
type Output interface {
	// Format is the encoding that Send wants.
	Format() Format
	// Room reports whether the output takes a delivery of so many records now, that takes so
	// many bytes of memory until it is settled.
	Room(records, bytes int) bool
	// Send hands over the records of d, in order, and does not wait for them to
	// arrive: the output settles each of them later, from any goroutine. d and its bytes
	// are the output's until all are settled.
	Send(d *Delivery)
	// Flush waits until everything sent is settled, or ctx ends.
	Flush(ctx context.Context)
	// Close gives up what is not settled yet: it is settled as failed before Close
	// returns.
	Close() error
}

// Ticker is an output with something to do from time to time, such as to send what it has
// gathered.
type Ticker interface {
	// Tick is called about every 100 ms, from the goroutine that calls Send.
	Tick()
}

// Delivery is one batch on its way into one output.
type Delivery struct {
	*Batch
	Again []int // records to send; nil: all. Others of the batch are settled

	feed    *feed
	end     spool.Position // of its last entry; zero: it is not in the spool
	rest    bool           // it is what an earlier process did not deliver
	gaps    bool           // its records tell what the spool dropped
	left    int            // records that were sent and are not settled
	sentAt  time.Time
	failed  []int
	dropped int
}

// Size is how many bytes of memory the delivery takes until it is settled.
func (d *Delivery) Size() int { return d.bytes }

// Count is the number of records that are to be sent.
func (d *Delivery) Count() int {
	if d.Again != nil {
		return len(d.Again)
	}
	return d.Len()
}

// Index is the number in the batch of the n-th record to be sent.
func (d *Delivery) Index(n int) int {
	if d.Again != nil {
		return d.Again[n]
	}
	return n
}

// Delivered settles n records that have arrived.
func (d *Delivery) Delivered(n int) { d.feed.settle(d, n) }

// Dropped settles record i, which will never arrive.
func (d *Delivery) Dropped(i int, why Reason) { d.feed.drop(d, i, why) }

// Failed settles record i for now: it is sent again. The cause is logged.
func (d *Delivery) Failed(i int, cause error) { d.feed.fail(d, i, cause) }

// FailedAll is Failed for all records of d that are to be sent.
func (d *Delivery) FailedAll(cause error) {
	for n := range d.Count() {
		d.Failed(d.Index(n), cause)
	}
}

// Retrying says that what is to be sent of d failed, and that the output sends it again by
// itself. The cause is logged.
func (d *Delivery) Retrying(cause error) { d.feed.retrying(d, cause) }
