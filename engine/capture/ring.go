// Records between one producer and one consumer, in a ring of bytes.

package capture

import (
	"encoding/binary"
	"sync/atomic"
)

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
