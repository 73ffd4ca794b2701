// Record: a captured packet with its link, verdict, events, watch, copied in by the worker
// and read out by the capture; the ring of bytes between both.

package capture

import (
	"encoding/binary"
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
)

// Record is one packet as it came or as it left.
type Record struct {
	Time      int64 // Unix nanoseconds by the wall clock, of the packet's burst
	Link      int   // index of the link
	Host      bool  // the port is the link's on the host side; else that on the network side
	Out       bool  // as it leaves the sink; else as it came
	ToNetwork bool  // it goes from the host to the network
	Dropped   bool  // it did not leave, for Reason
	Reason    uint8 // burst.DropReason
	Malformed inthdr.Reason
	Events    event.Set // events of the reports about it
	Watch     string    // the watch of its flow; "": none
	Episode   uint32    // number of the episode of a queue that it passed; 0: none. Captures of live packets do not tell
	Len       int       // length of the packet
	Data      []byte    // its first bytes, up to the snap length
}

// Offsets in the ring. Fields that may change after the packet was copied have bytes of their own.
const (
	atTime, atEvents, atLen, atDataLen = 0, 8, 12, 16
	atLink, atFlags, atReason          = 20, 22, 23
	atMalformed, atWatchLen            = 24, 25
	headerLen                          = 28
)

const (
	flagHost = 1 << iota
	flagOut
	flagToNetwork
	flagDropped
)

const maxWatch = 255 // bytes of a watch's name

// Slot is a record that was copied and is not published yet. The zero Slot may be used: it changes
// nothing.
type Slot struct{ header *[headerLen]byte }

// SetDropped marks the packet as dropped, for reason.
func (s Slot) SetDropped(reason uint8) {
	if s.header != nil {
		s.header[atFlags] |= flagDropped
		s.header[atReason] = reason
	}
}

func flag(b bool, f uint8) uint8 {
	if b {
		return f
	}
	return 0
}

// head is what a record says of a packet, but for its lengths.
type head struct {
	time      int64
	where     uint64 // link, flags and reason: what stands behind atDataLen, above 32 bits
	events    event.Set
	malformed inthdr.Reason
	watch     string
}

func (r *Record) head() head {
	flags := flag(r.Host, flagHost) | flag(r.Out, flagOut) | flag(r.ToNetwork, flagToNetwork) | flag(r.Dropped, flagDropped)
	where := uint64(uint16(r.Link))<<32 | uint64(flags)<<(32+8*(atFlags-atLink)) | uint64(r.Reason)<<(32+8*(atReason-atLink))
	return head{time: r.Time, where: where, events: r.Events, malformed: r.Malformed, watch: r.Watch[:min(len(r.Watch), maxWatch)]}
}

// put copies h and the first snap bytes of m into the ring. It returns the zero Slot if there
// is no room.
func (g *ring) put(h *head, m *mbuf.Mbuf, snap int) Slot {
	n, size := min(m.PktLen(), snap), uint64(len(g.bytes))
	need := uint64(align(sizeLen + headerLen + len(h.watch) + n))
	at := g.next & (size - 1)
	if at+need > size || need > size/2 || g.next+need-g.tail.Load() > size {
		if at = g.fill(need); at == size {
			return Slot{}
		}
	}
	s := g.bytes[at:][:need]
	g.next += need
	binary.LittleEndian.PutUint32(s, uint32(need))
	h.write(s[sizeLen:], m, n)
	return Slot{(*[headerLen]byte)(s[sizeLen:])}
}

// Room is how many bytes Write takes with n bytes of a packet.
func (r *Record) Room(n int) int { return headerLen + min(len(r.Watch), maxWatch) + n }

// Write writes the fields of r and the first n bytes of m, no more than it has, to s, which is Room(n) bytes long. Of the
// fields, Len and Data are those of m.
func (r *Record) Write(s []byte, m *mbuf.Mbuf, n int) {
	h := r.head()
	h.write(s, m, n)
}

func (h *head) write(s []byte, m *mbuf.Mbuf, n int) {
	o, b := binary.LittleEndian, (*[headerLen]byte)(s)
	o.PutUint64(b[atTime:], uint64(h.time))
	o.PutUint64(b[atEvents:], uint64(h.events)|uint64(m.PktLen())<<32) // and atLen
	o.PutUint64(b[atDataLen:], h.where|uint64(uint32(n)))
	o.PutUint32(b[atMalformed:], uint32(h.malformed)|uint32(len(h.watch))<<8)
	to := s[headerLen:]
	if copy(to, h.watch); n <= m.DataLen() { // as most packets, in one segment
		copy(to[len(h.watch):], m.Bytes()[:n])
	} else {
		m.AppendTo(to[len(h.watch):len(h.watch):len(to)], n)
	}
}

// get reads the next record into r. It returns false if there is none. r.Data lies in the ring,
// valid until done is called.
func (g *ring) get(r *Record) bool {
	s := g.read()
	if s == nil {
		return false
	}
	r.Read(s)
	return true
}

// Read reads what Write has written; what stands behind it in s does not count. r.Data lies in s.
func (r *Record) Read(s []byte) {
	o := binary.LittleEndian
	f := s[atFlags]
	name, n := int(s[atWatchLen]), int(o.Uint32(s[atDataLen:]))
	*r = Record{
		Time: int64(o.Uint64(s[atTime:])), Link: int(o.Uint16(s[atLink:])), Host: f&flagHost != 0, Out: f&flagOut != 0,
		ToNetwork: f&flagToNetwork != 0, Dropped: f&flagDropped != 0, Reason: s[atReason], Malformed: inthdr.Reason(s[atMalformed]),
		Events: event.Set(o.Uint32(s[atEvents:])), Watch: string(s[headerLen:][:name]), Len: int(o.Uint32(s[atLen:])), Data: s[headerLen+name:][:n],
	}
}

// ring passes records from the worker to the reader without a lock. A record is written in one
// piece; the reader sees it when it is published, and until then the worker may change it.
type ring struct {
	bytes []byte // its length is a power of two
	next  uint64 // end of the records that were written; only the worker uses it

	_    [64]byte      // keeps the fields of worker and reader on different cache lines
	head atomic.Uint64 // end of the records that are published
	_    [64]byte
	tail atomic.Uint64 // end of the records that were read
}

// sizeLen is the length of the size in front of each record. If a record does not fit at the end
// of the ring, a size with the bit skip fills that end, and the record follows at the start.
const (
	sizeLen = 4
	skip    = 1 << 31
)

func newRing(size int) *ring { return &ring{bytes: make([]byte, size)} }

// fill fills the end of the ring where a record of need bytes does not fit there, and returns where it goes; the length of the ring: it
// finds no room. Records of more than half of the ring never do.
//
//go:noinline
func (r *ring) fill(need uint64) (at uint64) {
	size := uint64(len(r.bytes))
	at = r.next & (size - 1)
	rest := uint64(0)
	if at+need > size {
		rest = size - at
	}
	if need > size/2 || r.next+rest+need-r.tail.Load() > size {
		return size
	}
	if rest > 0 {
		binary.LittleEndian.PutUint32(r.bytes[at:], skip|uint32(rest))
		r.next, at = r.next+rest, 0
	}
	return at
}

// publish makes all written records visible to the reader.
func (r *ring) publish() {
	if r.head.Load() != r.next {
		r.head.Store(r.next)
	}
}

// read returns the next record, with the bytes that align the one after it, or nil if there is
// none. It is valid until done is called.
func (r *ring) read() []byte {
	for tail := r.tail.Load(); tail != r.head.Load(); {
		at := tail & uint64(len(r.bytes)-1)
		n := uint64(binary.LittleEndian.Uint32(r.bytes[at:]))
		if n&skip == 0 {
			return r.bytes[at+sizeLen : at+n]
		}
		tail += n &^ skip
		r.tail.Store(tail)
	}
	return nil
}

// done frees the room of the record that read returned.
func (r *ring) done() {
	tail := r.tail.Load()
	at := tail & uint64(len(r.bytes)-1)
	r.tail.Store(tail + uint64(binary.LittleEndian.Uint32(r.bytes[at:])))
}

// align rounds up to a multiple of 8, so that a size always fits in front of the ring's end.
func align(n int) int { return (n + 7) &^ 7 }
