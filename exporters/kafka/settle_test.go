package kafka

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
)

// hand is an output that the test sends the deliveries of a collector.
type hand struct {
	*Output
	t    *testing.T
	bed  *collecttest.Bed
	from *collecttest.Hand
	log  *said
}

// unreachable is the address of a broker to which no connection comes about.
var unreachable = []string{"127.0.0.1:1"}

func newHand(t *testing.T, c Config) *hand {
	t.Helper()
	h := &hand{t: t, Output: output(t, c), from: collecttest.NewHand(c.Format), log: &said{}}
	h.bed = collecttest.New(t, collect.Options{Log: logTo(h.log), Flush: time.Nanosecond}, 0, h.from)
	t.Cleanup(h.bed.Stop)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// packet sends a report packet of two reports to the collector and returns its delivery.
func (h *hand) packet() *collect.Delivery {
	h.t.Helper()
	h.bed.Send(1)
	return h.from.Next(h.t)
}

// sent returns d as it is while the client has it, with records of so many bytes.
func (h *hand) sent(d *collect.Delivery, size int) *sent {
	s := &sent{o: h.Output, d: d, records: make([]kgo.Record, d.Count()), size: 100}
	for i := range s.records {
		s.records[i].Key, s.records[i].Value = make([]byte, 16), make([]byte, size-16)
	}
	s.left.Store(int32(d.Count()))
	h.open.Add(1)
	h.held.Add(s.size)
	return s
}

func (h *hand) wantAccounts(delivered, queued, tooLarge, retried uint64) {
	h.t.Helper()
	o := h.bed.C.Snapshot().Outputs[0]
	if o.Delivered != delivered || o.Queued != queued || o.Dropped[collect.TooLarge] != tooLarge || o.Retried != retried {
		h.t.Errorf("%d delivered, %d in memory, %d too large, %d sent again; want %d, %d, %d, %d",
			o.Delivered, o.Queued, o.Dropped[collect.TooLarge], o.Retried, delivered, queued, tooLarge, retried)
	}
}

// TestBuffer: the client holds a delivery's bytes and those that each record takes besides, until all of
// its records are settled; there is room for as many as fit into Buffer, or for one.
func TestBuffer(t *testing.T) {
	h := newHand(t, config(unreachable))
	if h.c.Buffer = 10_000; !h.Room(1000, 10_000_000) {
		t.Error("no room although the client holds nothing")
	}
	d := h.packet()
	h.Send(d)
	held := d.Size() + 2*perRecord
	if got := h.held.Load(); got != int64(held) {
		t.Errorf("%d bytes are held, want %d", got, held)
	}
	h.c.Buffer = held + 100 + 3*perRecord
	if !h.Room(3, 100) || h.Room(3, 101) || h.Room(4, 100) {
		t.Error("what fits exactly has no room, or a byte or a record more has")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if got := h.held.Load(); got != 0 {
		t.Errorf("%d bytes are held after Close", got)
	}
	h.from.Next(h.t) // what was not delivered is to be sent again
	h.wantAccounts(0, 2, 0, 2)
	if h.log.has("not delivered") {
		t.Error("the log tells of the stop")
	}
}

// TestSettle: each record is settled by its own result; with the last one the delivery is no longer held.
func TestSettle(t *testing.T) {
	h := newHand(t, config(unreachable))
	s := h.sent(h.packet(), 100)
	s.finished(&s.records[1], nil)
	h.wantAccounts(0, 2, 0, 0)
	if h.held.Load() != 100 {
		t.Errorf("%d bytes are held", h.held.Load())
	}
	s.finished(&s.records[0], kerr.RequestTimedOut)
	if h.held.Load() != 0 {
		t.Errorf("%d bytes are held", h.held.Load())
	}
	d := h.from.Next(h.t)
	if !slices.Equal(d.Again, []int{0}) {
		t.Errorf("sent again: %v", d.Again)
	}
	h.log.want(t, `topic \"intsink.reports.v1\": REQUEST_TIMED_OUT`)
	s = h.sent(d, 100)
	s.finished(&s.records[0], nil)
	h.wantAccounts(2, 0, 0, 1)
}

// TestSettleInAnyOrder: each of many records that fail is found, whatever the order of their results.
func TestSettleInAnyOrder(t *testing.T) {
	h := newHand(t, config(unreachable))
	h.bed.Write(collecttest.Packet(0, 255))
	s := h.sent(h.from.Next(t), 100)
	var want []int
	for n := range 255 {
		i := n * 101 % 255
		if n%3 == 0 {
			s.finished(&s.records[i], nil)
			continue
		}
		want = append(want, i)
		s.finished(&s.records[i], kerr.RequestTimedOut)
	}
	d := h.from.Next(t)
	if !slices.Equal(d.Again, want) {
		t.Errorf("sent again: %v, want %v", d.Again, want)
	}
	d.Delivered(len(want))
	h.wantAccounts(255, 0, 0, 170)
}

func (s *said) want(t *testing.T, text string) {
	t.Helper()
	if !s.has(text) {
		t.Errorf("the log does not say %q:\n%s", text, strings.Join(s.lines, "\n"))
	}
}

// TestTooLargeRecords: a record that is as large as a batch, or in a batch that is as small as batches
// become, is dropped; another one is sent again at once in smaller batches.
func TestTooLargeRecords(t *testing.T) {
	for _, c := range []struct {
		name        string
		batch, size int
		dropped     bool
	}{
		{"fits into the batch", batchBytes, batchBytes - smallBatch/4, false},
		{"a byte more", batchBytes, batchBytes - smallBatch/4 + 1, true},
		{"a small one", 2 * smallBatch, 100, false},
		{"in a small batch", smallBatch + 1, 100, false},
		{"in the smallest batch", smallBatch, 100, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHand(t, config(unreachable))
			h.batch = c.batch
			d := h.packet()
			s := h.sent(d, c.size)
			s.finished(&s.records[0], nil)
			s.finished(&s.records[1], fmt.Errorf("produce: %w", kerr.MessageTooLarge))
			if h.shrink.Load() == c.dropped {
				t.Errorf("smaller batches are not %v", !c.dropped)
			}
			if c.dropped {
				h.wantAccounts(1, 0, 1, 0)
				return
			}
			if d := h.from.Next(h.t); !slices.Equal(d.Again, []int{1}) {
				t.Errorf("sent again: %v", d.Again)
			}
			h.wantAccounts(0, 2, 0, 1)
			h.log.want(t, fmt.Sprintf("a batch of up to %d bytes; trying half of it (message.max.bytes", c.batch))
		})
	}
}

// sendFirst sends d as the feed sends the first delivery after a failure.
func (h *hand) sendFirst(d *collect.Delivery) {
	d.First = true
	h.Send(d)
}

// TestSmallerBatches: batches become half as large, not smaller than smallBatch. While a client with
// smaller batches cannot be made, the log says why, and the next attempt tries again.
func TestSmallerBatches(t *testing.T) {
	c := cluster(t)
	conf := config(c.ListenAddrs())
	h := newHand(t, conf)
	for _, want := range []int{batchBytes / 2, batchBytes / 4} {
		before := h.client
		h.shrink.Store(true)
		h.sendFirst(h.packet())
		h.Flush(context.Background())
		if h.batch != want || h.client == before || h.shrink.Load() || h.client.OptValue(kgo.ProducerBatchMaxBytes) != int32(want) {
			t.Errorf("batches of %d bytes, want %d; a new client: %v", h.batch, want, h.client != before)
		}
	}
	h.wantAccounts(4, 0, 0, 0)
	h.c.TLS = &TLS{CA: filepath.Join(t.TempDir(), "none")}
	h.shrink.Store(true)
	h.sendFirst(h.packet())
	h.log.want(t, "tls.ca: open ")
	h.c.TLS = nil
	h.Send(h.from.Next(h.t))
	h.Flush(context.Background())
	h.wantAccounts(6, 0, 0, 2)
	if h.batch != batchBytes/8 {
		t.Errorf("batches of %d bytes", h.batch)
	}
	h.batch = smallBatch + 2
	h.shrink.Store(true)
	h.sendFirst(h.packet())
	if h.batch != smallBatch {
		t.Errorf("batches of %d bytes", h.batch)
	}
	h.Flush(context.Background())
	h.wantAccounts(8, 0, 0, 2)
}

// TestRenew: the client is replaced after an error that it may keep, by one with batches as large, before
// the first delivery that is sent again; it stays after an error that passes.
func TestRenew(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("produce: %w", kerr.ClusterAuthorizationFailed), true},
		{kerr.UnknownServerError, true},
		{kerr.NotEnoughReplicas, false},
		{kerr.UnknownTopicOrPartition, false},
		{context.DeadlineExceeded, false},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			h := newHand(t, config(cluster(t).ListenAddrs()))
			before := h.client
			s, held, next := h.sent(h.packet(), 100), h.sent(h.packet(), 100), h.packet()
			s.finished(&s.records[0], c.err)
			s.finished(&s.records[1], nil)
			h.Send(next)
			if h.client != before {
				t.Error("a client that holds records was replaced")
			}
			h.Flush(context.Background())
			held.finished(&held.records[0], nil)
			held.finished(&held.records[1], nil)
			h.Send(h.from.Next(t))
			h.Flush(context.Background())
			if (h.client != before) != c.want || h.batch != batchBytes || h.renew.Load() {
				t.Errorf("a new client: %v, with batches of %d bytes, and another one later: %v", h.client != before, h.batch, h.renew.Load())
			}
			h.wantAccounts(6, 0, 0, 1)
		})
	}
}

// TestNothingPassesWhatFailed: the client is replaced for no other delivery than the first that is sent
// again, also where it holds nothing: another one would arrive before what failed.
func TestNothingPassesWhatFailed(t *testing.T) {
	for name, err := range map[string]error{"an error that the client keeps": kerr.ClusterAuthorizationFailed, "a batch too large": kerr.MessageTooLarge} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, config(cluster(t).ListenAddrs()))
			before, next := h.client, h.packet()
			s := h.sent(h.packet(), 100)
			s.finished(&s.records[0], err)
			s.finished(&s.records[1], err)
			h.Send(next)
			h.Flush(context.Background())
			if h.client != before {
				t.Error("a new client for a delivery that did not fail")
			}
			again := h.from.Next(t)
			if !again.First {
				t.Error("the feed does not say that it is the first")
			}
			h.Send(again)
			h.Flush(context.Background())
			if h.client == before {
				t.Error("no new client for what failed")
			}
			h.wantAccounts(4, 0, 0, 2)
		})
	}
}

// TestExplain: errors of the broker name the topic and what to do.
func TestExplain(t *testing.T) {
	o := &Output{c: Config{Topic: "t"}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{kgo.ErrClientClosed, "stopped"},
		{kerr.UnknownTopicOrPartition, "; create it, with 12 partitions or more"},
		{kerr.TopicAuthorizationFailed, "; the user needs the rights Describe and Write on the topic"},
		{kerr.ClusterAuthorizationFailed, "; the user needs the rights Describe and Write on the topic"},
		{kerr.UnknownTopicID, "; it was deleted and created again: going on with the new one"},
		{kerr.NotEnoughReplicas, `topic "t": produce: NOT_ENOUGH_REPLICAS`},
	} {
		got := o.explain(fmt.Errorf("produce: %w", c.err))
		if !strings.Contains(got.Error(), c.want) {
			t.Errorf("%v, want %q", got, c.want)
		}
		if stopped := c.want == "stopped"; errors.Is(got, collect.ErrStopped) != stopped || !stopped && (!errors.Is(got, c.err) || !strings.HasPrefix(got.Error(), `topic "t": produce: `)) {
			t.Errorf("%v", got)
		}
	}
	if !errors.Is(smaller{kerr.MessageTooLarge}, collect.ErrAdjusted) || errors.Is(smaller{kerr.MessageTooLarge}, collect.ErrStopped) {
		t.Error("records of a batch that was too large are not sent again at once")
	}
}

// TestConnectionsInTheLog: what comes of a stop is not logged.
func TestConnectionsInTheLog(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {kgo.ErrClientClosed, 0}, {fmt.Errorf("dial: %w", context.Canceled), 0}, {errors.New("refused"), 1}, {context.DeadlineExceeded, 1},
	} {
		log := &said{}
		connections{log.say}.OnBrokerConnect(kgo.BrokerMetadata{Host: "::1", Port: 9092}, 0, nil, c.err)
		if len(log.lines) != c.want || c.want > 0 && !log.has("[::1]:9092") {
			t.Errorf("%v: logged %q", c.err, log.lines)
		}
	}
}

// TestProtobuf: messages are records in the format that is configured, with the key of their flow.
func TestProtobuf(t *testing.T) {
	c := cluster(t)
	conf := config(c.ListenAddrs())
	conf.Format = collect.Protobuf
	h := newHand(t, conf)
	if h.Format() != collect.Protobuf {
		t.Error("the collector makes records in another format")
	}
	d := h.packet()
	want := []string{string(d.Record(collect.Protobuf, 0)), string(d.Record(collect.Protobuf, 1))}
	flow, _ := d.Flow(0)
	h.Send(d)
	h.Flush(context.Background())
	client, err := kgo.NewClient(kgo.SeedBrokers(conf.Brokers...), kgo.ConsumeTopics(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var got []string
	for len(got) < 2 && ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			if got = append(got, string(r.Value)); string(r.Key) != fmt.Sprintf("%016x", flow) {
				t.Errorf("key %q", r.Key)
			}
		})
	}
	if !slices.Equal(got, want) || want[0] == "" {
		t.Errorf("messages %q, want %q", got, want)
	}
}

// TestAppendKey: a key is preceded by its length: the flow's hash in hexadecimal digits, the node's id,
// or nothing.
func TestAppendKey(t *testing.T) {
	h := newHand(t, config(unreachable))
	d := h.packet()
	flow, ok := d.Flow(1)
	if !ok {
		t.Fatal("no flow")
	}
	for key, want := range map[Key]string{ByFlow: fmt.Sprintf("\x10%016x", flow), ByNode: "\x013", NoKey: "\x00"} {
		o := &Output{c: Config{Key: key}}
		if got := o.appendKey([]byte("before"), d, 1); string(got) != "before"+want {
			t.Errorf("by %s: %q, want %q", key, got, want)
		}
	}
	d.Delivered(2)
}

// TestOptions: the client gets what is configured.
func TestOptions(t *testing.T) {
	conf := config(unreachable)
	conf.Linger, conf.Buffer = 7*time.Millisecond, 1000
	o := output(t, conf)
	defer o.Close()
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"client id", o.client.OptValue(kgo.ClientID), "intsink-collect"},
		{"topic", o.client.OptValue(kgo.DefaultProduceTopic), topic},
		{"acks", o.client.OptValue(kgo.RequiredAcks), kgo.AllISRAcks()},
		{"linger", o.client.OptValue(kgo.ProducerLinger), 7 * time.Millisecond},
		{"batch", o.client.OptValue(kgo.ProducerBatchMaxBytes), int32(batchBytes)},
		{"buffer", o.client.OptValue(kgo.MaxBufferedBytes), int64(1000 + slack)},
		{"metadata", o.client.OptValue(kgo.MetadataMinAge), time.Second},
	} {
		if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	for _, c := range []struct{ name, file, want string }{
		{"a line", "secret\n", "secret"}, {"no line feed", "secret", "secret"}, {"of Windows", "secret\r\n", "secret"},
		{"two lines", "secret\nmore\n", "secret"}, {"spaces belong to it", " a b \n", " a b "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &SASL{PasswordFile: passwordFile(t, c.file)}
			if got, err := s.password(); err != nil || got != c.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	files, _ := certificates(t)
	for _, c := range []struct {
		name            string
		t               TLS
		ca, certificate bool
	}{
		{"of the system", TLS{}, false, false}, {"with an authority", TLS{CA: files.CA}, true, false},
		{"with a certificate", *files, true, true}, {"with a certificate only", TLS{Certificate: files.Certificate, Key: files.Key}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.t.Config()
			if err != nil || got.MinVersion != 0x303 || (got.RootCAs != nil) != c.ca || (len(got.Certificates) == 1) != c.certificate {
				t.Errorf("%v, %+v", err, got)
			}
		})
	}
}
