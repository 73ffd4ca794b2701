// Produces records to a Kafka topic, keys, acknowledgements, resends.

package kafka

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"intsink/exporters/collect"
)

const (
	slack      = 16 << 20 // room of the client beyond Buffer, for one delivery
	perRecord  = 256      // bytes that the client takes for a record besides its own, about
	smallBatch = 1 << 12
)

// Output is one producer. It implements collect.Output.
type Output struct {
	c      Config
	client *kgo.Client
	batch  int          // bytes of the largest batch
	shrink atomic.Bool  // the broker found a batch too large that has smaller records
	held   atomic.Int64 // bytes of deliveries that the client has
	open   sync.WaitGroup
	pool   sync.Pool // *sent
}

// New makes a producer. It connects to nothing yet; the error is of the configuration.
func New(c Config) (*Output, error) {
	o := &Output{c: c, batch: batchBytes, pool: sync.Pool{New: func() any { return new(sent) }}}
	return o, o.connect()
}

func (o *Output) connect() error {
	opts, err := o.c.options(o.batch)
	if err != nil {
		return err
	}
	o.client, err = kgo.NewClient(opts...)
	return err
}

// Format is that of the configuration.
func (o *Output) Format() collect.Format { return o.c.Format }

// Room is there as long as what the client holds takes less than the buffer's size.
func (o *Output) Room(records, bytes int) bool {
	held := o.held.Load()
	return held == 0 || held+int64(bytes+records*perRecord) <= int64(o.c.Buffer)
}

// sent is a delivery that the client has.
type sent struct {
	o       *Output
	d       *collect.Delivery
	records []kgo.Record
	keys    []byte
	size    int64
	left    atomic.Int32
	good    atomic.Int32
	promise func(*kgo.Record, error)
}

// Send gives the records to the client.
func (o *Output) Send(d *collect.Delivery) {
	if o.shrink.CompareAndSwap(true, false) {
		if err := o.makeSmaller(); err != nil {
			d.FailedAll(err)
			return
		}
	}
	n := d.Count()
	s := o.pool.Get().(*sent)
	s.o, s.d, s.keys = o, d, s.keys[:0]
	if cap(s.records) < n {
		s.records = make([]kgo.Record, n)
	}
	if s.promise == nil {
		s.promise = s.finished
	}
	s.records = s.records[:n]
	s.left.Store(int32(n))
	s.good.Store(0)
	for i := range n {
		s.keys = o.appendKey(s.keys, d, d.Index(i))
	}
	s.size = int64(d.Size() + n*perRecord)
	o.held.Add(s.size)
	o.open.Add(1)
	keys := s.keys
	for i := range n {
		r := &s.records[i]
		*r = kgo.Record{Value: d.Record(o.c.Format, d.Index(i))}
		if size := keyLen(keys); size > 0 {
			r.Key = keys[1 : 1+size : 1+size]
		}
		keys = keys[1+keyLen(keys):]
		o.client.TryProduce(context.Background(), r, s.promise)
	}
}

// appendKey appends the key of a record behind its length.
func (o *Output) appendKey(b []byte, d *collect.Delivery, i int) []byte {
	at := len(b)
	b = append(b, 0)
	switch flow, ok := d.Flow(i); {
	case o.c.Key == "none":
	case o.c.Key == "flow" && ok:
		var bin [8]byte
		for j := range bin {
			bin[j] = byte(flow >> (56 - 8*j))
		}
		b = hex.AppendEncode(b, bin[:])
	default:
		b = strconv.AppendUint(b, uint64(d.Node(i)), 10)
	}
	b[at] = byte(len(b) - at - 1)
	return b
}

func keyLen(b []byte) int { return int(b[0]) }

// finished is called by the client, for each record once.
func (s *sent) finished(r *kgo.Record, err error) {
	if err == nil {
		s.good.Add(1)
	} else {
		s.failed(r, err)
	}
	if s.left.Add(-1) > 0 {
		return
	}
	d, good, o := s.d, int(s.good.Load()), s.o
	o.held.Add(-s.size)
	s.d = nil
	o.pool.Put(s)
	if good > 0 {
		d.Delivered(good)
	}
	o.open.Done()
}

// failed settles a record that did not arrive.
func (s *sent) failed(r *kgo.Record, err error) {
	i := 0
	for &s.records[i] != r {
		i++
	}
	i = s.d.Index(i)
	if !errors.Is(err, kerr.MessageTooLarge) {
		s.d.Failed(i, s.o.explain(err))
		return
	}
	if len(r.Value)+len(r.Key)+smallBatch/4 > s.o.batch || s.o.batch <= smallBatch {
		s.d.Dropped(i, collect.TooLarge)
		return
	}
	s.o.shrink.Store(true)
	s.d.Failed(i, smaller{fmt.Errorf("%w: a batch of up to %d bytes; trying half of it (message.max.bytes of the broker and max.message.bytes of the topic bound it)", err, s.o.batch)})
}

// smaller is the cause of a failure that smaller batches do not have.
type smaller struct{ error }

// Is makes records be sent again at once.
func (smaller) Is(target error) bool { return target == collect.ErrAdjusted }

// explain adds to an error of the broker what to do.
func (o *Output) explain(err error) error {
	switch {
	case errors.Is(err, kgo.ErrClientClosed):
		return collect.ErrStopped
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("topic %q: %w; create it, with 12 partitions or more", o.c.Topic, err)
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		return fmt.Errorf("topic %q: %w; the user needs the rights Describe and Write on the topic", o.c.Topic, err)
	}
	return fmt.Errorf("topic %q: %w", o.c.Topic, err)
}

// makeSmaller goes on with a client that makes batches half as large. Nothing is on its
// way when records are sent again.
func (o *Output) makeSmaller() error {
	if err := o.Close(); err != nil {
		return err
	}
	o.batch = max(o.batch/2, smallBatch)
	return o.connect()
}

// Flush waits until the client has nothing left, or ctx ends.
func (o *Output) Flush(ctx context.Context) { o.client.Flush(ctx) }

// closeTime is how long the client may take to give back what it has.
const closeTime = 5 * time.Second

// Close ends the client; what it still has fails.
func (o *Output) Close() error {
	o.client.Close()
	done := make(chan struct{})
	go func() {
		o.open.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(closeTime):
		return errors.New("the client of Kafka did not give back what it has")
	}
}
