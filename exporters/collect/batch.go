// Batch: encoded records and the report packets that they came in, shared by outputs; pools of
// batches by their memory, and the size of a batch in queues.

package collect

import (
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"intsink/exporters/collect/spool"
	"intsink/exporters/record"
)

// Format is an encoding of records.
type Format uint8

const (
	JSON     Format = iota // an object a record, each followed by a line feed
	Protobuf               // a message intsink.v1.Report a record, without its length in front
	Columns                // record.Columns: Batch.Columns has them, not Bytes
	Flow                   // a data record of IPFIX each, as record.AppendFlow makes it
	numFormats
)

// Batch holds encoded records and the report packets that they came in. Outputs share it.
type Batch struct {
	raw     []byte // the payloads of entries, one behind the other
	entries []spool.Entry
	items   []item
	encoded [numFormats][]byte
	columns *record.Columns // nil until the batch had some
	bytes   int             // size of the batch in a queue, set by seal
	refs    atomic.Int32
}

// A batch that has so many records, or so many bytes of entries, gets no further report packet. Queues
// and outputs that are empty take a batch of any size, and one call of recvmmsg(2) may bring 4 MiB with a
// million reports: what outputs set aside for one delivery would not do. Report packets of ordinary
// size reach neither with a call.
const (
	batchRecords = 4096
	batchRaw     = 256 << 10
)

// full reports whether the batch gets no further report packet.
func (b *Batch) full() bool { return len(b.items) >= batchRecords || len(b.raw) >= batchRaw }

// item is one record of a batch.
type item struct {
	end  [numFormats]uint32 // where the record ends in encoded, by format
	flow uint64             // hash of the flow, the same in both directions; 0: none
	time int64              // Unix nanoseconds, see Time
	node uint32
	kind record.Type
	from uint16 // names the exporter; only with Flow
}

// Len returns the number of records.
func (b *Batch) Len() int { return len(b.items) }

// Bytes returns the records from up to, not including, to in format f, one behind the other.
func (b *Batch) Bytes(f Format, from, to int) []byte {
	start, end := uint32(0), uint32(0)
	if from > 0 {
		start = b.items[from-1].end[f]
	}
	if to > 0 {
		end = b.items[to-1].end[f]
	}
	return b.encoded[f][start:end:end]
}

// Record returns record i in format f; JSON comes without its line feed.
func (b *Batch) Record(f Format, i int) []byte {
	r := b.Bytes(f, i, i+1)
	if f == JSON {
		r = r[:len(r)-1]
	}
	return r
}

// Columns returns the records as columns, for outputs with that format.
func (b *Batch) Columns() *record.Columns { return b.columns }

// has reports whether the batch has its records in format f.
func (b *Batch) has(f Format) bool {
	if f == Columns {
		return b.columns != nil && b.columns.Len() > 0
	}
	return len(b.encoded[f]) > 0
}

// Flow returns a hash of record i's flow, the same for both directions. It returns false if
// the record has no flow, or is not in JSON or protobuf.
func (b *Batch) Flow(i int) (uint64, bool) { return b.items[i].flow, b.items[i].flow != 0 }

// Node returns the node id of record i.
func (b *Batch) Node(i int) uint32 { return b.items[i].node }

// From names the exporter that record i is of, in short: two may share a name. It is known of records in Flow.
func (b *Batch) From(i int) uint16 { return b.items[i].from }

// Time returns when record i was, in Unix nanoseconds: when its sink says that it was, and not after its receipt, however wrong the
// clock of the sink is.
func (b *Batch) Time(i int) int64 { return b.items[i].time }

// Type returns the type of record i.
func (b *Batch) Type(i int) record.Type { return b.items[i].kind }

// add appends a record in each format whose bit is set.
func (b *Batch) add(r *record.Record, formats uint8) {
	it := item{node: r.NodeID, kind: r.Type, time: min(r.Time, r.Received)}
	if formats&(1<<JSON|1<<Protobuf) != 0 {
		it.flow = flowHash(r)
	}
	if formats&(1<<JSON) != 0 {
		b.encoded[JSON] = append(record.AppendJSON(b.encoded[JSON], r), '\n')
	}
	if formats&(1<<Protobuf) != 0 {
		b.encoded[Protobuf] = record.AppendProto(b.encoded[Protobuf], r)
	}
	if formats&(1<<Columns) != 0 {
		if b.columns == nil {
			b.columns = record.NewColumns()
		}
		b.columns.Append(r)
	}
	if formats&(1<<Flow) != 0 {
		from := r.Exporter.As16()
		it.from = uint16(xxhash.Sum64(from[:]))
		b.encoded[Flow] = record.AppendFlow(b.encoded[Flow], r)
	}
	for f := range b.encoded {
		it.end[f] = uint32(len(b.encoded[f]))
	}
	b.items = append(b.items, it)
}

// addEntry appends a report packet or a note, and copies its payload.
func (b *Batch) addEntry(e spool.Entry) *spool.Entry {
	at := len(b.raw)
	b.raw = append(b.raw, e.Payload...)
	e.Payload = b.raw[at:len(b.raw):len(b.raw)]
	b.entries = append(b.entries, e)
	return &b.entries[len(b.entries)-1]
}

// flowHash returns a hash that is the same for both directions of a flow, and 0 if the record
// has no flow.
func flowHash(r *record.Record) uint64 {
	if !r.Has(record.KnownAddresses) {
		return 0
	}
	var key [37]byte
	src, dst := netip.AddrPortFrom(r.Source, r.SourcePort), netip.AddrPortFrom(r.Destination, r.DestinationPort)
	if dst.Compare(src) < 0 {
		src, dst = dst, src
	}
	s, d := src.Addr().As16(), dst.Addr().As16()
	copy(key[:], s[:])
	copy(key[16:], d[:])
	binary.BigEndian.PutUint16(key[32:], src.Port())
	binary.BigEndian.PutUint16(key[34:], dst.Port())
	key[36] = r.Protocol
	return max(xxhash.Sum64(key[:]), 1)
}

// A batch keeps its memory when it is released, and queues hold batches: one that had grown for
// a burst would take as much memory for a single report packet. So there is a pool for each
// class of size, and a batch counts in queues with the memory that it has.
const (
	smallestClass = 4 << 10 // most bytes of a batch in the first pool
	classes       = 11      // number of pools, each for up to twice the bytes of the one before: 4 MiB
	overhead      = 1 << 10 // bytes that a batch takes besides its slices
)

var pools [classes]sync.Pool

// class returns the pool for batches of so many bytes, or classes if they are too large for any.
func class(bytes int) int {
	c := 0
	for limit := smallestClass; c < classes && bytes > limit; limit *= 2 {
		c++
	}
	return c
}

// newBatch returns an empty batch from the pool for so many bytes, or from the next one: slices that grow have up to
// twice the room that they need, so batches for as many bytes may all be there. The caller holds it.
func newBatch(bytes int) *Batch {
	c := min(class(bytes), classes-1)
	b, _ := pools[c].Get().(*Batch)
	if b == nil {
		b, _ = pools[min(c+1, classes-1)].Get().(*Batch)
	}
	if b == nil {
		b = new(Batch)
	}
	b.raw, b.entries, b.items, b.bytes = b.raw[:0], b.entries[:0], b.items[:0], 0
	for f := range b.encoded {
		b.encoded[f] = b.encoded[f][:0]
	}
	if b.columns != nil {
		b.columns.Reset()
	}
	b.refs.Store(1)
	return b
}

// release returns a batch to its pool when nobody holds it any more. Batches too large for any
// pool are left to the garbage collector.
func (b *Batch) release() {
	if b.refs.Add(-1) > 0 {
		return
	}
	if c := class(b.room()); c < classes {
		pools[c].Put(b)
	}
}

// room returns how many bytes of memory a batch has, used or not.
func (b *Batch) room() int {
	n := overhead + cap(b.raw) + cap(b.entries)*int(unsafe.Sizeof(b.entries[0])) + cap(b.items)*int(unsafe.Sizeof(b.items[0]))
	for f := range b.encoded {
		n += cap(b.encoded[f])
	}
	if b.columns != nil {
		n += b.columns.Size()
	}
	return n
}

// seal sets the size that the batch has in queues. Nothing is added afterwards.
func (b *Batch) seal() {
	if b.columns != nil {
		b.columns.Seal()
	}
	b.bytes = b.room()
}
