// maker: makes encoded records of report packets, of gap, stats and episode notes (whose JSON the spool
// keeps), and of spooled entries.

package collect

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"unsafe"

	"intsink/exporters/collect/spool"
	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// Decoder makes records of report packets; *record.Decoder is one.
type Decoder interface {
	// Records calls yield with a record for each report of packet, valid until yield returns,
	// and returns how many there were. The error says which part could not be read.
	Records(packet []byte, o *record.Origin, yield func(*record.Record)) (n int, err error)
}

// messageDecoder is a Decoder that does the same with the data records of a message of IPFIX (spool.Message).
type messageDecoder interface {
	Message(m []byte, o *record.Origin, yield func(*record.Record)) (n int, err error)
}

// maker makes records of report packets and notes. It is for one goroutine.
type maker struct {
	decoder Decoder
	observe func(*record.Record) // is called with each record; may be nil

	origin  record.Origin
	batch   *Batch
	formats uint8
	behind  int64 // how long before its receipt the latest record is, nanoseconds
	yield   func(*record.Record)
	growth  float64 // estimate: bytes of memory that a batch takes for a byte of report packets
}

func newMaker(d Decoder, observe func(*record.Record)) *maker {
	m := &maker{decoder: d, observe: observe, growth: firstGrowth}
	m.yield = m.add
	return m
}

// firstGrowth is maker.growth before the first batch.
const firstGrowth = 10

// newBatch returns a batch with room for report packets of so many bytes and their records.
func (m *maker) newBatch(payload int) *Batch {
	b := newBatch(int(float64(payload) * m.growth))
	if cap(b.raw) < payload { // else append would move raw, and entries would keep the old memory
		b.raw = make([]byte, 0, payload)
	}
	return b
}

// seal seals b, and updates growth by its size.
func (m *maker) seal(b *Batch) {
	b.seal() // sets the size of columns, too
	if n := len(b.raw); n > 0 {
		taken := n + len(b.entries)*int(unsafe.Sizeof(b.entries[0])) + len(b.items)*int(unsafe.Sizeof(b.items[0]))
		for f := range b.encoded {
			taken += len(b.encoded[f])
		}
		if b.columns != nil {
			taken += b.columns.Size()
		}
		m.growth = float64(taken) / float64(n)
	}
}

// add puts a record into the batch.
func (m *maker) add(r *record.Record) {
	if m.observe != nil {
		m.observe(r)
	}
	m.behind = r.Received - r.Time
	m.batch.add(r, m.formats)
}

// packet puts a report packet and its records into b, and returns how many records it has. If
// there are none, b stays unchanged.
func (m *maker) packet(b *Batch, e spool.Entry, formats uint8) int {
	before := len(b.items)
	raw := len(b.raw)
	m.batch, m.formats = b, formats
	m.origin = record.Origin{Exporter: e.From.Addr(), Received: e.Received, Start: e.Start, Sequence: e.Sequence}
	payload := b.addEntry(e).Payload
	if e.Kind == spool.Message {
		m.decoder.(messageDecoder).Message(payload, &m.origin, m.yield)
	} else {
		m.decoder.Records(payload, &m.origin, m.yield)
	}
	n := len(b.items) - before
	if n == 0 {
		b.entries, b.raw = b.entries[:len(b.entries)-1], b.raw[:raw]
		return 0
	}
	b.entries[len(b.entries)-1].Records = uint16(n)
	return n
}

// sound reports whether the first report of a packet can be decoded, and no bit of it is set that never is. Of 1.0
// and 0.5, which have few such bits, an IP packet must be in it, as far as there is anything.
func (m *maker) sound(packet []byte) (ok bool) {
	bare := false
	if d, strict := m.decoder.(interface {
		Plausible(packet []byte) (bare, ok bool)
	}); strict {
		if bare, ok = d.Plausible(packet); !ok {
			return false
		}
		ok = false
	}
	first := true
	m.decoder.Records(packet, &record.Origin{}, func(r *record.Record) {
		if first {
			ok = bare || r.Flags&record.Malformed == 0 && (r.Version == record.Version20 || r.Version == record.UnknownVersion || r.Has(record.KnownAddresses))
			first = false
		}
	})
	return ok
}

var recordVersions = [...]record.Version{0: record.Version05, 1: record.Version10, 2: record.Version20, streams.IPFIX: record.UnknownVersion}

// note puts a gap, stats or episode record of a stream into b.
func (m *maker) note(b *Batch, k streams.Key, start, now int64, n spool.Notice, formats uint8) {
	n.Version, n.Node, n.HwID, n.Port, n.Instance = k.Version, k.Node, k.HwID, k.Collector.Port(), k.Instance
	payload, err := json.Marshal(n)
	if err != nil { // cannot be: numbers encode always
		panic(err)
	}
	e := b.addEntry(spool.Entry{
		Kind: spool.Note, Received: now, From: netip.AddrPortFrom(k.Exporter, 0), To: netip.AddrPortFrom(k.Collector.Addr(), 0),
		Start: start, Records: 1, Payload: payload,
	})
	m.addNote(b, e, n, formats)
}

func (m *maker) addNote(b *Batch, e *spool.Entry, n spool.Notice, formats uint8) {
	var r record.Record
	r.Type, r.NodeID, r.HwID, r.Stats = n.Type, n.Node, n.HwID, n.Stats
	r.First, r.Last, r.Count = n.First, n.Last, n.Count
	if n.Version > 0 {
		r.Known = record.KnownNode
	}
	r.Version = recordVersions[min(n.Version, streams.IPFIX)]
	r.Time, r.Received, r.Exporter, r.Start = cmp.Or(n.Time, e.Received), e.Received, e.From.Addr(), e.Start
	if n.Type == record.EpisodeType {
		r.Episodes = []record.Episode{{Sinks: n.Sinks}}
		r.Episodes[0].Get(n.Episode)
	}
	b.add(&r, formats)
}

// entry puts an entry of the spool and its records into b.
func (m *maker) entry(b *Batch, e spool.Entry, formats uint8) {
	if e.Kind != spool.Note {
		m.packet(b, e, formats)
		return
	}
	var n spool.Notice
	if json.Unmarshal(e.Payload, &n) == nil && n.Type < record.NumTypes {
		m.addNote(b, b.addEntry(e), n, formats)
	}
}

// remake returns a batch with the entries of b, encoded in other formats.
func (m *maker) remake(b *Batch, formats uint8) *Batch {
	other := m.newBatch(len(b.raw))
	for _, e := range b.entries {
		m.entry(other, e, formats)
	}
	m.seal(other)
	return other
}
