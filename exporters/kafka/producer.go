// The Kafka producer: hands deliveries to the client, settles each record by its answer.

package kafka

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"intsink/exporters/collect"
)

const (
	slack      = 16 << 20 // bytes that the client's limit has beyond Buffer: one delivery more fits
	perRecord  = 256      // memory of the client for a record besides its bytes, about
	smallBatch = 1 << 12  // batches are not made smaller than this many bytes
)

// Output is a producer to one topic. It implements collect.Output.
type Output struct {
	c      Config
	client *kgo.Client
	batch  int          // bytes of the largest batch
	shrink atomic.Bool  // the broker refused a batch as too large whose records would fit one by one
	renew  atomic.Bool  // the client may keep an error and fail every record with it
	held   atomic.Int64 // bytes of the deliveries that the client holds
	open   sync.WaitGroup
	pool   sync.Pool // *sent

	registration *registration // nil: messages have no number of a schema in front
}

// New makes a producer. It connects to nothing yet: an error is one of the configuration.
func New(c Config) (*Output, error) {
	client, err := c.client(batchBytes)
	if err != nil {
		return nil, err
	}
	registration, err := newRegistration(&c)
	if err != nil {
		client.Close()
		return nil, err
	}
	return &Output{c: c, client: client, batch: batchBytes, pool: sync.Pool{New: func() any { return new(sent) }}, registration: registration}, nil
}

// client makes a client whose batches have at most so many bytes.
func (c *Config) client(batch int) (*kgo.Client, error) {
	opts, err := c.options(batch)
	if err != nil {
		return nil, err
	}
	return kgo.NewClient(opts...)
}

// Format returns the encoding of records that the configuration names.
func (o *Output) Format() collect.Format { return o.c.Format }

// Away says why the number of the schema is not known.
func (o *Output) Away() error {
	if o.registration == nil || o.registration.why.Load() == nil {
		return nil
	}
	return *o.registration.why.Load()
}

// Try says what keeps the brokers, and the registry, from taking records, as far as that shows without sending one.
func (o *Output) Try(ctx context.Context) error {
	var registry error
	if o.registration != nil {
		if _, _, registry = o.registration.find(ctx); registry != nil {
			registry = fmt.Errorf("registry %s: %w", o.c.Registry.URL, registry)
		}
	}
	r := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &o.c.Topic
	r.Topics = append(r.Topics, t)
	answer, err := r.RequestWith(ctx, o.client)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("no broker answers")
	case err == nil && len(answer.Topics) == 1:
		if err = kerr.ErrorForCode(answer.Topics[0].ErrorCode); err != nil {
			err = o.explain(err)
		}
	}
	return errors.Join(err, registry)
}

// Room reports whether so many records fit into Buffer beside those that the client holds. A
// client that holds nothing takes any delivery, once the number of the schema is known.
func (o *Output) Room(records, bytes int) bool {
	if !o.registration.ready(time.Now()) {
		return false
	}
	held := o.held.Load()
	return held == 0 || held+int64(bytes+records*perRecord) <= int64(o.c.Buffer)
}

// sent is a delivery that was handed to the client and is not settled yet.
type sent struct {
	o       *Output
	d       *collect.Delivery
	records []kgo.Record
	keys    []byte
	framed  []byte // messages behind the number of their schema
	size    int64
	left    atomic.Int32
	good    atomic.Int32
	promise func(*kgo.Record, error)
}

// Send hands the records of d to the client, which calls sent.finished for each.
func (o *Output) Send(d *collect.Delivery) {
	if d.First {
		if err := o.mend(); err != nil { // the next attempt tries again
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
	keys, prefix := s.keys, s.room()
	for i := range n {
		r, at := &s.records[i], d.Index(i)
		*r = kgo.Record{Value: s.message(at, prefix), Timestamp: time.Unix(0, d.Time(at)), Headers: headers[d.Type(at)]}
		if size := keyLen(keys); size > 0 {
			r.Key = keys[1 : 1+size : 1+size]
		}
		keys = keys[1+keyLen(keys):]
		o.client.TryProduce(context.Background(), r, s.promise)
	}
}

// room makes room for the messages behind the number of their schema, where they have one, and returns what stands in front.
func (s *sent) room() (prefix []byte) {
	g := s.o.registration
	if s.framed = s.framed[:0]; g == nil {
		return nil
	}
	bytes := 0
	for i := range s.records {
		bytes += prefixBytes + len(s.d.Record(s.o.c.Format, s.d.Index(i)))
	}
	s.framed = slices.Grow(s.framed, bytes)
	return g.prefix.Load()[:]
}

// message returns record i of the delivery behind prefix; room has made room for it.
func (s *sent) message(i int, prefix []byte) []byte {
	m := s.d.Record(s.o.c.Format, i)
	if prefix == nil {
		return m
	}
	at := len(s.framed)
	s.framed = append(append(s.framed, prefix...), m...)
	return s.framed[at:len(s.framed):len(s.framed)]
}

// appendKey appends the key of record i with its length, a byte, in front.
func (o *Output) appendKey(b []byte, d *collect.Delivery, i int) []byte {
	at := len(b)
	b = append(b, 0)
	switch flow, ok := d.Flow(i); {
	case o.c.Key == NoKey:
	case o.c.Key == ByFlow && ok:
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

// finished settles one record; with the last one the delivery's memory is free again. The
// client calls it once for each record.
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

// failed settles a record that did not arrive: dropped where it is too large for any batch,
// else to be sent again.
func (s *sent) failed(r *kgo.Record, err error) {
	i := s.d.Index(s.index(r))
	if !errors.Is(err, kerr.MessageTooLarge) {
		if lasts(err) || replaced(err) {
			s.o.renew.Store(true)
		}
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

// smaller is the error of records that failed because their batch was too large.
type smaller struct{ error }

// Is says that the error is a collect.ErrAdjusted, so that records are sent again at once.
func (smaller) Is(target error) bool { return target == collect.ErrAdjusted }

// explain adds to an error of the broker what the operator should do.
func (o *Output) explain(err error) error {
	switch {
	case errors.Is(err, kgo.ErrClientClosed):
		return collect.ErrStopped
	case replaced(err):
		return fmt.Errorf("topic %q: %w; it was deleted and created again: going on with the new one, which readers of the old one may have to open anew", o.c.Topic, err)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("topic %q: %w; create it, with 12 partitions or more", o.c.Topic, err)
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		return fmt.Errorf("topic %q: %w; the user needs the rights Describe and Write on the topic", o.c.Topic, err)
	}
	return fmt.Errorf("topic %q: %w", o.c.Topic, err)
}

// index returns which of s.records r is, by its place in memory: all records of a delivery may fail, and
// a search for each of them would take the client's goroutine for long.
func (s *sent) index(r *kgo.Record) int {
	// SAFETY: r is one of s.records, whose memory stays where it is while s is in use.
	return int((uintptr(unsafe.Pointer(r)) - uintptr(unsafe.Pointer(&s.records[0]))) / unsafe.Sizeof(*r))
}

// lasts reports whether the client may keep err: where a broker refuses it the id of a producer with an
// error that is not worth another attempt, such as for a right that the user does not have yet, the
// client never asks again. An error that a broker has for records looks the same.
func lasts(err error) bool {
	var k *kerr.Error
	return errors.As(err, &k) && !k.Retriable
}

// replaced reports whether err says that the topic is no longer the one that the client knows by its id: another one has
// its name by now. The client goes on asking for the old one.
func replaced(err error) bool {
	return errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.InconsistentTopicID)
}

// mend replaces the client where its batches are too large, where it keeps an error, or a topic that is no more. Only for a First
// delivery: a client that was replaced for another one would let it pass records that have failed and
// were not sent again yet. So there is one new client at most for each time that the feed waits.
func (o *Output) mend() error {
	batch := o.batch
	switch {
	case o.shrink.Load():
		batch = max(o.batch/2, smallBatch)
	case !o.renew.Load():
		return nil
	}
	if err := o.replace(batch); err != nil {
		return err
	}
	o.shrink.Store(false)
	o.renew.Store(false)
	return nil
}

// replace replaces the client by one whose batches have at most so many bytes. If that one cannot be
// made, since a file that it needs is away, the present one goes on. It is closed before the new one
// gets a record, so that no record is on its way when it is sent again.
func (o *Output) replace(batch int) error {
	client, err := o.c.client(batch)
	if err != nil {
		return err
	}
	if err := o.Close(); err != nil {
		client.Close()
		return err
	}
	o.client, o.batch = client, batch
	return nil
}

// Flush waits until the client holds no record, or until ctx ends.
func (o *Output) Flush(ctx context.Context) { o.client.Flush(ctx) }

// closeTime bounds how long Close waits for the client to settle the records that it holds.
const closeTime = 5 * time.Second

// Close ends the client, which settles the records that it still holds as failed.
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
