package collect

import (
	"net/netip"
	"testing"

	"intsink/engine/report/reporttest"
	"intsink/exporters/collect/spool"
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
	if small.room() > smallestClass {
		t.Errorf("a batch for 100 bytes has room for %d", small.room())
	}
	for _, c := range []struct{ bytes, class int }{{0, 0}, {4 << 10, 0}, {4<<10 + 1, 1}, {4 << 20, 10}, {4<<20 + 1, classes}, {1 << 30, classes}} {
		if got := class(c.bytes); got != c.class {
			t.Errorf("class of %d bytes is %d, want %d", c.bytes, got, c.class)
		}
	}
}
