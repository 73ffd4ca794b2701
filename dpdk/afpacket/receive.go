// RxBurst: takes frames that the kernel marked TP_STATUS_USER, puts VLAN tags back, has
// offload.go complete and cut them, makes mbufs of them.

package afpacket

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"intsink/dpdk/mbuf"
)

const (
	// special are the states of a frame that is more than a packet in a ring's frame.
	special = unix.TP_STATUS_COPY | unix.TP_STATUS_VLAN_VALID

	// scratchLen has room for the longest frame that Linux joins: 8 * 65535 bytes (BIG TCP).
	scratchLen = vnetHdrLen + 1<<19 + maxHeaders
)

// RxBurst receives up to a vector full of packets. Where none came, it has made no
// system call.
func (q *Queue) RxBurst(v *mbuf.Vec) int {
	if q.replacement.Load() != nil {
		q.replace()
	}
	if q.sockets.ring == nil {
		return 0
	}
	b := burst{v: v}
	for q.joined.more() && b.n < mbuf.MaxBurst {
		q.emitSegment(&b)
	}
	r := q.sockets.ring
	for b.n < mbuf.MaxBurst {
		h := r.header(r.at)
		s := status(h)
		if s&unix.TP_STATUS_USER == 0 {
			break
		}
		at := r.at + uint32(h.Mac)
		packet, vnet := r.mem[at:at+h.Snaplen], r.mem[at-vnetHdrLen:at]
		if s&special == 0 && h.Snaplen == h.Len && vnet[vnetFlags]&needsChecksum == 0 && vnet[vnetType] == 0 {
			q.emit(&b, 0, packet, nil)
		} else {
			q.receiveSpecial(&b, h, s, vnet, packet)
		}
		r.giveBack(h)
	}
	if b.n > 0 {
		add(&q.counters.rxPackets, uint64(b.n))
		add(&q.counters.rxBytes, b.bytes)
	}
	return b.n
}

// burst is the vector that is being filled.
type burst struct {
	v     *mbuf.Vec
	n     int
	bytes uint64
}

// receiveSpecial undoes what the kernel did to the frame.
//
//go:noinline
func (q *Queue) receiveSpecial(b *burst, h *unix.Tpacket2Hdr, s uint32, vnet, packet []byte) {
	if h.Snaplen < h.Len {
		if s&unix.TP_STATUS_COPY != 0 {
			if whole := q.readWhole(); whole != nil {
				vnet, packet = whole[:vnetHdrLen], whole[vnetHdrLen:]
			}
		}
		if len(packet) < int(h.Len) {
			add(&q.counters.truncated, segments(int(h.Len), vnet))
			return
		}
	}
	if vnet[vnetType] != 0 {
		frame := q.scratch[vnetHdrLen : vnetHdrLen+len(packet)]
		if h.Snaplen == h.Len {
			copy(frame, packet) // the ring's frame goes back before all segments have left
		}
		q.receiveJoined(b, frame, tagOf(h, s), vnet)
		return
	}
	if vnet[vnetFlags]&needsChecksum != 0 {
		start, offset := binary.NativeEndian.Uint16(vnet[vnetStart:]), binary.NativeEndian.Uint16(vnet[vnetOffset:])
		if !complete(packet, int(start), int(offset)) {
			add(&q.counters.uncut[UncutChecksum], 1)
			return
		}
	}
	q.emit(b, tagOf(h, s), packet, nil)
}

// receiveJoined cuts a frame, as far as b has room; RxBurst goes on with the rest.
func (q *Queue) receiveJoined(b *burst, frame []byte, tag uint32, vnet []byte) {
	if why, ok := q.joined.begin(frame, vnet); !ok {
		add(&q.counters.uncut[why], segments(len(frame), vnet))
		return
	}
	q.joined.tag = tag
	add(&q.counters.joined, 1)
	for q.joined.more() && b.n < mbuf.MaxBurst {
		q.emitSegment(b)
	}
}

func (q *Queue) emitSegment(b *burst) {
	n, payload := q.joined.next(&q.head)
	q.emit(b, q.joined.tag, q.head[:n], payload)
}

// tagOf is the VLAN tag that the kernel took out of the frame, 0 for none.
func tagOf(h *unix.Tpacket2Hdr, s uint32) uint32 {
	if s&unix.TP_STATUS_VLAN_VALID == 0 {
		return 0
	}
	tpid := uint32(unix.ETH_P_8021Q)
	if s&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
		tpid = uint32(h.Vlan_tpid)
	}
	return tpid<<16 | uint32(h.Vlan_tci)
}

// readWhole reads a frame that was longer than a frame of the ring, and its virtio_net_hdr, from
// the socket; nil if it is not there any more.
func (q *Queue) readWhole() []byte {
	for range 2 { // the first answer may be an error that waited: the link was down once
		n, err := recv(q.sockets.ring.fd, q.scratch)
		if err == 0 && n >= vnetHdrLen && n <= len(q.scratch) {
			return q.scratch[:n]
		}
	}
	return nil
}

// recv is recvfrom(2) without a wait. n is the length that the frame had, even where it
// is more than buf has room for.
func recv(fd int, buf []byte) (n int, err unix.Errno) {
	r, _, err := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)),
		unix.MSG_DONTWAIT|unix.MSG_TRUNC, 0, 0)
	return int(r), err
}

// emit puts a packet, the bytes of head and then those of body, into an mbuf, or a chain
// of them, with the VLAN tag, unless it is 0, back behind the MAC addresses. head is longer than
// these.
func (q *Queue) emit(b *burst, tag uint32, head, body []byte) {
	m := q.mbuf()
	if m == nil || len(head) < ethernetLen {
		q.lose(m)
		return
	}
	length := len(head) + len(body)
	if tag == 0 && len(body) == 0 && length <= m.Room() {
		copy(m.SetLen(length), head)
	} else if length = q.build(m, tag, head, body); length == 0 {
		q.lose(m)
		return
	}
	b.v[b.n] = m
	b.n++
	b.bytes += uint64(length)
}

// build is emit for a packet of parts, or one that may be too long for m. It returns the
// packet's length; 0 where there were not enough mbufs: m may be a chain then.
func (q *Queue) build(m *mbuf.Mbuf, tag uint32, head, body []byte) int {
	var tagged [macsLen + 4]byte
	parts := [3][]byte{head, body}
	if tag != 0 {
		copy(tagged[:], head[:macsLen])
		binary.BigEndian.PutUint32(tagged[macsLen:], tag)
		parts = [3][]byte{tagged[:], head[macsLen:], body}
	}
	rest := len(parts[0]) + len(parts[1]) + len(parts[2])
	length, part, last := rest, 0, m
	for {
		dst := last.SetLen(min(rest, last.Room()))
		rest -= len(dst)
		for len(dst) > 0 {
			k := copy(dst, parts[part])
			dst, parts[part] = dst[k:], parts[part][k:]
			if len(parts[part]) == 0 {
				part++
			}
		}
		if last != m {
			m.Chain(last)
		}
		if rest == 0 {
			return length
		}
		if last = q.mbuf(); last == nil {
			return 0
		}
	}
}

// lose counts a packet for which the pool had not enough mbufs.
func (q *Queue) lose(m *mbuf.Mbuf) {
	if m != nil {
		q.one[0] = m
		q.pool.FreeBulk(q.one, 1)
	}
	add(&q.counters.noMbuf, 1)
}

// mbuf takes one of those that were allocated before; nil where the pool is empty.
func (q *Queue) mbuf() *mbuf.Mbuf {
	if q.have == 0 {
		if !q.pool.AllocBulk(q.stash, mbuf.MaxBurst) {
			return nil
		}
		q.have = mbuf.MaxBurst
	}
	q.have--
	return q.stash[q.have]
}

// add adds to a counter that only this goroutine writes.
func add(c *atomic.Uint64, n uint64) { c.Store(c.Load() + n) }
