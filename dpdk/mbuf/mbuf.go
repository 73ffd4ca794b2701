// Mbuf, the overlay of struct rte_mbuf: Bytes, Adj, Prepend, SetLen; Refusal, why a port
// did not take a packet; Layout, the offsets of its fields.

package mbuf

import (
	"unsafe"
)

// MaxBurst is the most packets that one burst holds.
const MaxBurst = 64

// Mbuf overlays struct rte_mbuf. It is never made by Go code.
type Mbuf struct {
	_          notInHeap
	bufAddr    unsafe.Pointer
	bufIOVA    uint64
	dataOff    uint16
	refcnt     uint16
	nbSegs     uint16
	port       uint16
	olFlags    uint64
	packetType uint32
	pktLen     uint32
	dataLen    uint16
	vlanTCI    uint16
	hash       [8]byte
	vlanOuter  uint16
	bufLen     uint16
	pool       unsafe.Pointer
	next       *Mbuf
	txOffload  uint64
	shinfo     unsafe.Pointer
	privSize   uint16
	timesync   uint16
	dynfield1  [9]uint32
}

// Bytes is the first segment's data, with cap == len. It stays valid until the
// mbuf is freed or handed to a port.
func (m *Mbuf) Bytes() []byte {
	// SAFETY: the mbuf's owner keeps data_off + data_len <= buf_len, and the
	// buffer lives as long as its pool.
	return unsafe.Slice((*byte)(unsafe.Add(m.bufAddr, m.dataOff)), int(m.dataLen))
}

// Part is n bytes of the first segment's data, from byte from on; nil where it has fewer.
// Neither may be negative.
func (m *Mbuf) Part(from, n int) []byte {
	if uint(from)+uint(n) > uint(m.dataLen) || uint(n) > maxSegment {
		return nil
	}
	// SAFETY: as for Bytes; this is a part of its range.
	return (*[maxSegment]byte)(unsafe.Add(m.bufAddr, int(m.dataOff)+from))[:n:n]
}

// maxSegment is more than the data of a segment, whose length has 16 bits.
const maxSegment = 1 << 16

// PktLen is the length of the whole chain in bytes.
func (m *Mbuf) PktLen() int { return int(m.pktLen) }

// DataLen is the length of this segment in bytes.
func (m *Mbuf) DataLen() int { return int(m.dataLen) }

// NbSegs is the number of segments of the chain that m starts.
func (m *Mbuf) NbSegs() int { return int(m.nbSegs) }

// Next is the following segment, nil at the end.
func (m *Mbuf) Next() *Mbuf { return m.next }

// PortID is the port that the packet arrived on.
func (m *Mbuf) PortID() uint16 { return m.port }

// Headroom is the number of free bytes in front of the data.
func (m *Mbuf) Headroom() int { return int(m.dataOff) }

// Room is the number of bytes from the start of the data to the end of the
// buffer.
func (m *Mbuf) Room() int { return int(m.bufLen) - int(m.dataOff) }

// Adj drops n bytes from the front of the packet, all from the first segment
// (rte_pktmbuf_adj). An n that is negative or beyond DataLen changes nothing.
func (m *Mbuf) Adj(n int) {
	if uint(n) > uint(m.dataLen) {
		return
	}
	m.dataOff += uint16(n)
	m.dataLen -= uint16(n)
	m.pktLen -= uint32(n)
}

// Prepend grows the packet by n bytes at its front and returns the first
// segment's bytes, the new ones as they happen to be; nil, and nothing changed,
// where the headroom is too small (rte_pktmbuf_prepend).
func (m *Mbuf) Prepend(n int) []byte {
	if uint(n) > uint(m.dataOff) {
		return nil
	}
	m.dataOff -= uint16(n)
	m.dataLen += uint16(n)
	m.pktLen += uint32(n)
	return m.Bytes()
}

// SetLen gives m, a single segment, n bytes and returns them; nil, and nothing
// changed, where n does not fit.
func (m *Mbuf) SetLen(n int) []byte {
	if n < 0 || n > m.Room() {
		return nil
	}
	m.dataLen, m.pktLen = uint16(n), uint32(n)
	return m.Bytes()
}

// Reset makes m, a fresh mbuf, an empty single segment with the given headroom,
// which must not be larger than the buffer.
func (m *Mbuf) Reset(headroom int) {
	m.dataOff = uint16(headroom)
	m.dataLen, m.pktLen = 0, 0
	m.nbSegs, m.next = 1, nil
	m.olFlags = 0
}

// Refusal is why a port did not take an mbuf that it was to transmit.
type Refusal uint8

const (
	// RefusedFull: its queue is full; the mbuf may be offered again.
	RefusedFull Refusal = iota
	// RefusedTooLong: the frame is longer than the port's MTU allows. Those behind it may be
	// taken.
	RefusedTooLong
	// RefusedDown: the port's link is down, or its device is gone: it takes nothing.
	RefusedDown
	// RefusedFrame: the kernel does not take this frame. Those behind it may be taken.
	RefusedFrame
)

// Layout is the offset of every field that Go uses, in the order buf_addr,
// data_off, refcnt, nb_segs, port, ol_flags, pkt_len, data_len, buf_len, next, and
// the size of the whole, to be compared with C.
func Layout() []uintptr {
	var m *Mbuf
	return []uintptr{
		unsafe.Offsetof(m.bufAddr), unsafe.Offsetof(m.dataOff), unsafe.Offsetof(m.refcnt), unsafe.Offsetof(m.nbSegs),
		unsafe.Offsetof(m.port), unsafe.Offsetof(m.olFlags), unsafe.Offsetof(m.pktLen), unsafe.Offsetof(m.dataLen),
		unsafe.Offsetof(m.bufLen), unsafe.Offsetof(m.next), unsafe.Sizeof(*m),
	}
}
