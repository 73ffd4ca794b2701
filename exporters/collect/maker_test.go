package collect

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"intsink/engine/wire/report/reporttest"
	"intsink/exporters/collect/spool"
	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// TestMakingRecordsAllocatesNothing: neither decoding a packet nor encoding its records in both
// formats allocates, in a batch whose slices have grown before.
func TestMakingRecordsAllocatesNothing(t *testing.T) {
	e := spool.Entry{From: netip.MustParseAddrPort("192.0.2.1:1"), To: netip.MustParseAddrPort("192.0.2.2:2"), Payload: reporttest.Packet(t, 0, 8)}
	m := newMaker(record.NewDecoder(record.Options{}), nil)
	b := newBatch(0)
	both := uint8(1<<JSON | 1<<Protobuf)
	once := func() {
		b.raw, b.entries, b.items = b.raw[:0], b.entries[:0], b.items[:0]
		b.encoded[JSON], b.encoded[Protobuf] = b.encoded[JSON][:0], b.encoded[Protobuf][:0]
		if n := m.packet(b, e, both); n != 8 {
			t.Fatalf("%d records", n)
		}
	}
	once()
	if n := testing.AllocsPerRun(1000, once); n > 0 {
		t.Errorf("%v allocations of 8 records", n)
	}
}

// TestRoomOfBatches: a batch that has held a burst is not used again for a single report
// packet, and a batch counts with the memory that it takes, not with its contents.
func TestRoomOfBatches(t *testing.T) {
	m := newMaker(nil, nil)
	large := m.newBatch(1 << 20)
	large.encoded[JSON] = make([]byte, 0, 1<<20)
	large.add(&record.Record{}, 1<<JSON)
	large.seal()
	if large.bytes < 2<<20 {
		t.Errorf("a batch with two MiB of room counts for %d bytes", large.bytes)
	}
	large.release()
	small := m.newBatch(100)
	if small.room() > 2*smallestClass {
		t.Errorf("a batch for 100 bytes has room for %d", small.room())
	}
	for _, c := range []struct{ bytes, class int }{{0, 0}, {4 << 10, 0}, {4<<10 + 1, 1}, {4 << 20, 10}, {4<<20 + 1, classes}, {1 << 30, classes}} {
		if got := class(c.bytes); got != c.class {
			t.Errorf("class of %d bytes is %d, want %d", c.bytes, got, c.class)
		}
	}
}

// TestBatchesAreUsedAgain: a batch of as many report packets as before has the memory of one that was released, whichever
// encoding its records are in.
func TestBatchesAreUsedAgain(t *testing.T) {
	e := spool.Entry{From: netip.MustParseAddrPort("192.0.2.1:1"), To: netip.MustParseAddrPort("192.0.2.2:2"), Payload: reporttest.Packet(t, 0, 8)}
	const rounds = 16
	for packets := 1; packets <= 128; packets += 1 + packets/2 {
		for format := range numFormats {
			m, seen := newMaker(record.NewDecoder(record.Options{}), nil), map[*Batch]bool{}
			for range rounds {
				b := m.newBatch(packets * len(e.Payload))
				for range packets {
					m.packet(b, e, 1<<format)
				}
				m.seal(b)
				seen[b] = true
				b.release()
			}
			if len(seen) == rounds { // under the race detector, a pool forgets one of four at random
				t.Errorf("format %d, %d packets: %d batches for %d", format, packets, len(seen), rounds)
			}
		}
	}
}

// wordDecoder makes a record of every four bytes behind a header of eight.
type wordDecoder struct{}

func (wordDecoder) Records(p []byte, o *record.Origin, yield func(*record.Record)) (int, error) {
	n := len(p)/4 - 2
	var r record.Record
	for i := range n {
		r.Reset(record.Report)
		r.Exporter, r.Received, r.Start, r.Sequence, r.Index = o.Exporter, o.Received, o.Start, o.Sequence, uint16(i)
		yield(&r)
	}
	return n, nil
}

// sizesOutput settles what it is sent at once, and keeps how large it was.
type sizesOutput struct {
	slowOutput
	records, raw, room []int
	sequences          []uint64
}

func (o *sizesOutput) Send(d *Delivery) {
	o.records, o.raw, o.room = append(o.records, d.Len()), append(o.raw, len(d.raw)), append(o.room, d.Size())
	for _, e := range d.entries {
		o.sequences = append(o.sequences, e.Sequence)
	}
	d.Delivered(d.Len())
}

// TestBatchesAreBounded: what one call brings at most, datagrams of the largest size with a report in
// every four bytes, arrives completely and in order, in batches of bounded size; so do many notes.
func TestBatchesAreBounded(t *testing.T) {
	const largest = 65507
	const each = largest/4 - 2
	out := &sizesOutput{}
	c, _ := collectorBed(t, Options{
		Queue: 1 << 30, Stats: time.Hour, Listens: []Listen{{Address: "127.0.0.1:0", Sockets: 1, Buffer: 1 << 20, Streams: 5000}},
		Decoder: func() Decoder { return wordDecoder{} }, // an output that falls behind reads the log
	}, 0, NamedOutput{"out", out})
	l := c.listens[0]
	header := func(node, n uint32) streams.Header { return streams.Header{Node: node, Sequence: n, Version: 2} }
	key := streams.Key{Node: 3, Version: 2}
	c.mu.Lock() // the collector looks for streams that ended meanwhile
	s := l.streams.Find(key, header(3, 0), streams.Times{})
	var taken []incoming
	for n := range uint32(perCall) {
		d := &datagram{from: entryOf(n, 1).From, payload: make([]byte, largest)}
		taken = append(taken, incoming{d, spool.Report, s, s.See(header(3, n), streams.Times{}, nil)})
	}
	l.datagrams, l.inHand = perCall, perCall
	c.mu.Unlock()
	c.deliver(l, newMaker(wordDecoder{}, nil), taken, nil)
	c.mu.Lock()
	for node := range uint32(4999) {
		h := header(node+4, 0)
		l.streams.Find(streams.Key{Exporter: netip.AddrFrom4([4]byte{10, byte(node >> 8), byte(node)}), Node: h.Node, Version: 2}, h, streams.Times{}).See(h, streams.Times{}, nil)
	}
	c.mu.Unlock()
	c.tell()
	until(t, "all is delivered", func() bool { return c.Snapshot().Outputs[0].Delivered == perCall*each+5000 })
	if got := c.Snapshot(); !got.Outputs[0].Balanced() || got.Listens[0].Packets != perCall || got.Listens[0].Datagrams != perCall {
		t.Errorf("%+v", got.Listens[0])
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if r, b, m := slices.Max(out.records), slices.Max(out.raw), slices.Max(out.room); r >= batchRecords+each || b >= batchRaw+maxDatagram || m > 16<<20 {
		t.Errorf("batches of up to %d records, %d bytes of entries, %d bytes of memory", r, b, m)
	}
	if notes := len(out.sequences) - perCall; notes != 5000 || !slices.IsSorted(out.sequences[:perCall]) {
		t.Errorf("%d notes behind %v", notes, out.sequences[:perCall])
	}
}
