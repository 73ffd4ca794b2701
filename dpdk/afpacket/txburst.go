// TxBurst: sends by one sendmmsg(2); tells from the kernel's error why a frame was refused.

package afpacket

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"intsink/dpdk/mbuf"
)

// maxPieces are the segments of mbufs that one call hands over: a burst of frames of
// four each.
const maxPieces = 4 * mbuf.MaxBurst

// mmsghdr is struct mmsghdr of sendmmsg(2).
type mmsghdr struct {
	hdr unix.Msghdr
	len uint32
	_   [4]byte
}

// sender is what one call of sendmmsg reads.
type sender struct {
	messages [mbuf.MaxBurst]mmsghdr
	pieces   [maxPieces]unix.Iovec
}

// TxBurst hands v[:n] to the kernel and returns how many it took, from the front. The
// rest stay the caller's; Refusal tells why the first of them was not taken.
func (q *Queue) TxBurst(v *mbuf.Vec, n int) int {
	if n == 0 {
		return 0
	}
	if q.sockets.ring == nil && q.replacement.Load() != nil { // RxBurst is not called
		q.replace()
	}
	if !q.port.up.Load() {
		q.refusal = mbuf.RefusedDown
		return 0
	}
	sent, bytes := 0, uint64(0)
	for sent < n {
		filled := q.sender.fill(v, sent, n)
		if filled == 0 {
			q.refusal = mbuf.RefusedFrame
			break
		}
		k, err := sendmmsg(q.sockets.tx, &q.sender.messages[0], filled)
		for _, m := range v[sent : sent+k] {
			bytes += uint64(m.PktLen())
		}
		sent += k
		if err != 0 && err != unix.EINTR {
			q.refusal = refusalOf(err)
			break
		}
	}
	if sent > 0 {
		q.pool.FreeBulk(v, sent)
		add(&q.counters.txPackets, uint64(sent))
		add(&q.counters.txBytes, bytes)
	}
	return sent
}

// fill makes messages of v[from:n], as far as there are pieces, and returns how many: 0
// where the first packet alone has more segments than there are pieces.
func (s *sender) fill(v *mbuf.Vec, from, n int) int {
	piece, count := 0, 0
	for _, m := range v[from:n] {
		if piece+m.NbSegs() > maxPieces {
			break
		}
		first := piece
		for ; m != nil; m = m.Next() {
			b := m.Bytes()
			if len(b) == 0 {
				continue // a segment that Pullup emptied
			}
			s.pieces[piece].Base = &b[0]
			s.pieces[piece].SetLen(len(b))
			piece++
		}
		s.messages[count].hdr.Iov = &s.pieces[first]
		s.messages[count].hdr.SetIovlen(piece - first)
		count++
	}
	return count
}

// sendmmsg hands messages to the kernel without a wait; where it takes only some of
// them, err is 0, and the next call tells why.
func sendmmsg(fd int, first *mmsghdr, n int) (taken int, err unix.Errno) {
	r, _, err := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(first)), uintptr(n), unix.MSG_DONTWAIT, 0, 0)
	if err != 0 {
		return 0, err
	}
	return int(r), 0
}

// refusalOf says what the kernel's error (packet_snd in net/packet/af_packet.c) means.
func refusalOf(err unix.Errno) mbuf.Refusal {
	switch err {
	case unix.ENOBUFS, unix.EAGAIN, unix.ENOMEM:
		return mbuf.RefusedFull
	case unix.EMSGSIZE:
		return mbuf.RefusedTooLong
	case unix.ENETDOWN, unix.ENXIO, unix.ENODEV, unix.ENETUNREACH, unix.EBADF:
		return mbuf.RefusedDown
	}
	return mbuf.RefusedFrame
}
