// ring: the memory of one worker, in segments: packets are written one behind the other, and never across the end of a
// segment.

package recorder

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"syscall"
)

// The memory has so many segments. A reader copies one, and then looks whether the worker was far enough from it: it has
// to stay a whole segment away. So all but two can be read.
const (
	segments = 64
	readable = segments - 2 // whole ones behind the one that is being written
)

// LeastMemory is the least memory that a recorder can have, in bytes: the longest packet fits a segment several times.
const LeastMemory = 1 << 20

// In front of each packet stand the length of both, the number of the episode, and the worker's time.
const (
	atSize, atEpisode, atNow = 0, 4, 8
	prefixLen                = 16
)

// endOfSegment in place of a length: nothing more stands in the segment.
const endOfSegment = 0

// ring has one writer; readers follow head.
type ring struct {
	memory  []byte
	segment int   // bytes of one, a multiple of 8
	begun   int64 // Unix nanoseconds

	number uint64 // of the segment that is being written, from 0 on; it is at number % segments
	at     int    // in it: where the next packet goes

	begins [segments]atomic.Int64 // time of the first packet of each; 0: it never had one
	head   atomic.Uint64          // number<<32 | at, up to where packets may be read
}

func newRing(memory int, now int64) *ring {
	b, err := syscall.Mmap(-1, 0, memory, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		panic(fmt.Sprintf("recorder: no memory for %d bytes: %v", memory, err))
	}
	syscall.Madvise(b, syscall.MADV_NOHUGEPAGE) // a page is zeroed when it is first written, by a worker; a kernel without them refuses
	return &ring{memory: b, segment: memory / segments &^ 7, begun: now}
}

func (g *ring) close() { syscall.Munmap(g.memory) }

// usable is how many bytes can be read when all were written.
func (g *ring) usable() int { return readable * g.segment }

// next returns room for a packet of n bytes behind its prefix, which it fills in.
func (g *ring) next(n int, now int64, episode uint32) []byte {
	need := align(prefixLen + n)
	if g.at+need > g.segment {
		if g.at < g.segment {
			binary.LittleEndian.PutUint32(g.memory[int(g.number%segments)*g.segment+g.at:], endOfSegment)
		}
		g.number++
		g.at = 0
	}
	k := int(g.number % segments)
	if g.at == 0 { // readers have to know before the segment is overwritten: a burst may fill several
		g.begins[k].Store(now)
		g.publish()
	}
	s := g.memory[k*g.segment+g.at:][:need:need]
	binary.LittleEndian.PutUint32(s[atSize:], uint32(need))
	binary.LittleEndian.PutUint32(s[atEpisode:], episode)
	binary.LittleEndian.PutUint64(s[atNow:], uint64(now))
	g.at += need
	return s[prefixLen:]
}

// publish lets readers see what was written.
func (g *ring) publish() {
	if head := g.number<<32 | uint64(g.at); head != g.head.Load() {
		g.head.Store(head)
	}
}

// oldest is the number of the oldest segment that can be read when head is the writer's.
func oldest(head uint64) uint64 { return max(head>>32, readable) - readable }

// align rounds up to a multiple of 8.
func align(n int) int { return (n + 7) &^ 7 }
