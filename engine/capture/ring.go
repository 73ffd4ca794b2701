// Record: a captured packet with its link, verdict, events, watch, copied in by the worker
// and read out by the capture; the ring of bytes between both.

package capture

import (
	"encoding/binary"
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
)

// Record is one packet, at one stage.
type Record struct {
	Time      int64 // Unix nanoseconds by the wall clock, of the packet's burst
	Link      int   // as workers index them
	Host      bool  // the port is the link's on the host side; else that on the network side
	Out       bool  // as it leaves the sink; else as it came
	ToNetwork bool  // it goes from the host to the network
	Dropped   bool  // it did not leave, for Reason
	Reason    uint8 // engine.DropReason
	Malformed inthdr.Reason
	Events    event.Set // of the reports about it
	Watch     string    // of its flow; "": none
	Len       int       // of the packet
	Data      []byte    // of it, as much as was asked for
}

// Offsets in the ring. What can change after the packet was copied has a place of its own.
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

// Slot is a record that was copied and is not published yet; nil: there is none.
type Slot []byte

// SetDropped says that the packet did not leave.
func (s Slot) SetDropped(reason uint8) {
	if s != nil {
		s[atFlags] |= flagDropped
		s[atReason] = reason
	}
}

func flag(b bool, f uint8) uint8 {
	if b {
		return f
	}
	return 0
}

// put copies r, whose Data and Len are those of m, into the ring; nil: there is no room.
func (g *ring) put(r *Record, m *mbuf.Mbuf, snap int) Slot {
	n := min(m.PktLen(), snap)
	name := min(len(r.Watch), maxWatch)
	s := g.write(headerLen + name + n)
	if s == nil {
		return nil
	}
	o := binary.LittleEndian
	o.PutUint64(s[atTime:], uint64(r.Time))
	o.PutUint32(s[atEvents:], uint32(r.Events))
	o.PutUint32(s[atLen:], uint32(m.PktLen()))
	o.PutUint32(s[atDataLen:], uint32(n))
	o.PutUint16(s[atLink:], uint16(r.Link))
	s[atFlags] = flag(r.Host, flagHost) | flag(r.Out, flagOut) | flag(r.ToNetwork, flagToNetwork) | flag(r.Dropped, flagDropped)
	s[atReason], s[atMalformed], s[atWatchLen] = r.Reason, uint8(r.Malformed), uint8(name)
	to := s[headerLen:]
	copy(to, r.Watch[:name])
	m.AppendTo(to[name:name:len(to)], n)
	return Slot(s)
}

// get is the record that is read next; false: there is none. Its Data are in the ring until
// done is called.
func (g *ring) get(r *Record) bool {
	s := g.read()
	if s == nil {
		return false
	}
	o := binary.LittleEndian
	f := s[atFlags]
	name, n := int(s[atWatchLen]), int(o.Uint32(s[atDataLen:]))
	*r = Record{
		Time: int64(o.Uint64(s[atTime:])), Link: int(o.Uint16(s[atLink:])), Host: f&flagHost != 0, Out: f&flagOut != 0,
		ToNetwork: f&flagToNetwork != 0, Dropped: f&flagDropped != 0, Reason: s[atReason], Malformed: inthdr.Reason(s[atMalformed]),
		Events: event.Set(o.Uint32(s[atEvents:])), Watch: string(s[headerLen:][:name]), Len: int(o.Uint32(s[atLen:])), Data: s[headerLen+name:][:n],
	}
	return true
}

// ring passes records from the worker to the reader, without a lock. A record is written in
// one piece, and seen by the reader when it is published: until then the worker may change it.
type ring struct {
	bytes []byte // a power of two
	next  uint64 // behind what was written; the worker's

	_    [64]byte      // the worker's line and the reader's
	head atomic.Uint64 // behind what is published
	_    [64]byte
	tail atomic.Uint64 // behind what was read
}

// sizeLen is the length of the size in front of each record, and of what fills the end of
// the ring where the next record does not fit there: then the record is only that, with skip.
const (
	sizeLen = 4
	skip    = 1 << 31
)

func newRing(size int) *ring { return &ring{bytes: make([]byte, size)} }

// write makes room for a record of n bytes; nil: there is none. Records that take more than
// half of the ring have none.
func (r *ring) write(n int) []byte {
	need := align(sizeLen + n)
	size := uint64(len(r.bytes))
	at := r.next & (size - 1)
	fill := uint64(0)
	if at+uint64(need) > size {
		fill = size - at
	}
	if uint64(need) > size/2 || r.next+fill+uint64(need)-r.tail.Load() > size {
		return nil
	}
	if fill > 0 {
		binary.LittleEndian.PutUint32(r.bytes[at:], skip|uint32(fill))
		r.next, at = r.next+fill, 0
	}
	binary.LittleEndian.PutUint32(r.bytes[at:], uint32(need))
	r.next += uint64(need)
	return r.bytes[at+sizeLen:][:n:n]
}

// publish shows the reader all that was written.
func (r *ring) publish() {
	if r.head.Load() != r.next {
		r.head.Store(r.next)
	}
}

// read is the next record, and as much of what follows it as keeps the next one aligned; nil:
// there is none. It is valid until done is called.
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

// done gives the room of the record that read returned back.
func (r *ring) done() {
	tail := r.tail.Load()
	at := tail & uint64(len(r.bytes)-1)
	r.tail.Store(tail + uint64(binary.LittleEndian.Uint32(r.bytes[at:])))
}

// align rounds up to a multiple of 8: there is always room for a size before the end.
func align(n int) int { return (n + 7) &^ 7 }
