// The TPACKET_V2 receive ring that the kernel writes: geometry, mapping, the next frame and how it
// is given back, PACKET_STATISTICS.

package afpacket

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is a packet socket and the memory that the kernel writes its frames to: blocks
// of blockLen, each with as many frames as fit, the rest of it empty.
//
//	|tpacket2_hdr|sockaddr_ll|..|virtio_net_hdr|packet ... |tpacket2_hdr|...
//	^ at                                       ^ at + Mac
//
// A queue that does not receive has a nil ring.
type ring struct {
	fd       int
	mem      []byte
	frameLen uint32
	frames   int
	at       uint32 // of the frame that is read next
}

// ringGeometry is the length of a frame that has room for a packet of mtu, and how
// many blocks hold at least that many frames.
func ringGeometry(frames, mtu int) (frameLen, perBlock, blocks int) {
	const (
		align = 64
		tags  = 8 // 802.1ad and 802.1Q, though the kernel takes one of them out
	)
	frameLen = min(blockLen, (ringHead+ethernetLen+tags+mtu+align-1)&^(align-1))
	perBlock = blockLen / frameLen
	return frameLen, perBlock, max(1, (frames+perBlock-1)/perBlock)
}

// mapRing gives the socket a ring of at least that many frames. A packet that is longer
// than its frame comes by the socket.
func mapRing(fd, frames, mtu int) (*ring, error) {
	frameLen, perBlock, blocks := ringGeometry(frames, mtu)
	req := unix.TpacketReq{
		Block_size: blockLen, Block_nr: uint32(blocks), Frame_size: uint32(frameLen), Frame_nr: uint32(blocks * perBlock),
	}
	if err := unix.SetsockoptTpacketReq(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return nil, fmt.Errorf("receive ring of %d frames of %d bytes (%d MiB): %w; lower rx_desc", blocks*perBlock, frameLen, blocks*blockLen>>20, err)
	}
	mem, err := unix.Mmap(fd, 0, blocks*blockLen, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("receive ring of %d MiB: mmap: %w; lower rx_desc", blocks*blockLen>>20, err)
	}
	return &ring{fd: fd, mem: mem, frameLen: uint32(frameLen), frames: blocks * perBlock}, nil
}

// header is the tpacket2_hdr of the frame at offset at.
func (r *ring) header(at uint32) *unix.Tpacket2Hdr {
	// SAFETY: next keeps at on the start of a frame within mem, which is mapped, page
	// aligned and longer than a header.
	return (*unix.Tpacket2Hdr)(unsafe.Pointer(&r.mem[at]))
}

// status tells whose the frame is, and what is special about it.
func status(h *unix.Tpacket2Hdr) uint32 { return atomic.LoadUint32(&h.Status) }

// giveBack hands the frame at r.at to the kernel, and goes on to the next one.
func (r *ring) giveBack(h *unix.Tpacket2Hdr) {
	atomic.StoreUint32(&h.Status, unix.TP_STATUS_KERNEL)
	r.at = r.next(r.at)
}

// next is the offset of the frame behind the one at offset at.
func (r *ring) next(at uint32) uint32 {
	at += r.frameLen
	if at&(blockLen-1)+r.frameLen > blockLen {
		at = at&^(blockLen-1) + blockLen
	}
	if at >= uint32(len(r.mem)) {
		return 0
	}
	return at
}

// offset of frame i, counted from the one that is read next.
func (r *ring) offset(i int) uint32 {
	perBlock := blockLen / int(r.frameLen)
	i = (int(r.at)/blockLen*perBlock + int(r.at)%blockLen/int(r.frameLen) + i) % r.frames
	return uint32(i/perBlock*blockLen + i%perBlock*int(r.frameLen))
}

// waiting is the number of frames that the kernel has filled. They stand in a row.
func (r *ring) waiting() int {
	if r == nil {
		return 0
	}
	low, high := 0, r.frames
	for low < high {
		middle := (low + high) / 2
		if status(r.header(r.offset(middle)))&unix.TP_STATUS_USER != 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// drops are the frames that found no room since it was called last (PACKET_STATISTICS).
func (r *ring) drops() uint64 {
	if r == nil {
		return 0
	}
	s, err := unix.GetsockoptTpacketStats(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0
	}
	return uint64(s.Drops)
}

func (r *ring) close() {
	if r == nil {
		return
	}
	unix.Munmap(r.mem)
	unix.Close(r.fd)
}
