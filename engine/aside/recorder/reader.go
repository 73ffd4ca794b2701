// Reader: reads the packets of a recorder while its worker goes on writing.

package recorder

import (
	"encoding/binary"

	"intsink/engine/aside/capture"
)

// Reader reads the packets that were there when it was made, from the oldest on.
type Reader struct {
	Missed bool  // packets were overwritten before they could be read
	Now    int64 // of the packet that Next returned last: the worker's time, which never steps

	ring  *ring
	since int64
	until uint64 // where the ring's head was
	next  uint64 // number of the segment to be copied next
	copy  []byte // of a segment
	rest  []byte // of it
}

// Read returns a reader of the packets that are not older than since, by the worker's clock. Safe from any goroutine.
func (r *Recorder) Read(since int64) *Reader {
	x := &Reader{ring: r.ring, since: since}
	if r.ring != nil {
		x.until = r.ring.head.Load()
		x.next = oldest(x.until)
	}
	return x
}

// Next reads the next packet into p, and reports whether there is one. p.Data is valid until Next is called again.
func (x *Reader) Next(p *capture.Record) bool {
	for {
		for len(x.rest) > 0 {
			s := x.rest
			n := binary.LittleEndian.Uint32(s[atSize:])
			if n == endOfSegment {
				break
			}
			x.rest = s[n:]
			if x.Now = int64(binary.LittleEndian.Uint64(s[atNow:])); x.Now >= x.since {
				p.Read(s[prefixLen:n])
				p.Episode = binary.LittleEndian.Uint32(s[atEpisode:])
				return true
			}
		}
		if x.rest = nil; x.ring == nil || !x.load() {
			return false
		}
	}
}

// load copies the next segment that is still there. False: there is none any more.
func (x *Reader) load() bool {
	g := x.ring
	for ; x.next <= x.until>>32; x.next++ {
		end := g.segment
		if x.next == x.until>>32 {
			end = int(x.until & (1<<32 - 1))
		} else if g.begins[(x.next+1)%segments].Load() < x.since {
			continue // all of its packets are older
		}
		x.copy = append(x.copy[:0], g.memory[int(x.next%segments)*g.segment:][:end]...)
		if oldest(g.head.Load()) > x.next {
			x.Missed = true
			continue
		}
		x.next++
		x.rest = x.copy
		return true
	}
	return false
}

// Reach says since when the recorder has all packets that it took, by the worker's clock, and whether it has overwritten older
// ones: else that is since the worker began. Safe from any goroutine.
func (r *Recorder) Reach() (since int64, overwritten bool) {
	if r.ring == nil {
		return 0, false
	}
	n := oldest(r.ring.head.Load())
	if n == 0 {
		return r.ring.begun, false
	}
	return r.ring.begins[n%segments].Load(), true
}

// On tells whether there is memory to record packets in. Safe from any goroutine.
func (r *Recorder) On() bool { return r.ring != nil }
