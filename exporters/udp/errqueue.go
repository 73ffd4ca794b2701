// Reads the socket's error queue: ICMP answers for report packets that were sent.

package udp

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"

	"intsink/exporters"
)

// An ICMP answer to a report packet that was sent before stands in the socket's error queue,
// one entry a packet (IP_RECVERR, ip(7)). Without that option sendmmsg loses the error if a
// message of the same call was sent.

// answers is what came back for packets that were sent: how many were lost, by
// reason.
type answers [exporters.NumDropReasons]uint64

// errorQueue reads a socket's error queue. Its buffers are kept.
type errorQueue struct {
	raw  syscall.RawConn
	data [1]byte
	oob  [256]byte
}

// maxAnswers bounds what is read at once: as many as a batch can cause, twice.
const maxAnswers = 128

func newErrorQueue(c syscall.Conn) (*errorQueue, error) {
	raw, err := c.SyscallConn()
	return &errorQueue{raw: raw}, err
}

// read takes what is in the queue and adds it to a. It does not block.
func (q *errorQueue) read(a *answers) (n int) {
	q.raw.Control(func(fd uintptr) {
		for n < maxAnswers {
			_, oobn, _, _, err := unix.Recvmsg(int(fd), q.data[:], q.oob[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
			if err != nil {
				return
			}
			if reason, ok := answerOf(q.oob[:oobn]); ok {
				a[reason]++
				n++
			}
		}
	})
	return n
}

// SO_EE_ORIGIN_ICMP and SO_EE_ORIGIN_ICMP6 of linux/errqueue.h.
const (
	originICMP  = 2
	originICMP6 = 3
)

// answerOf returns the reason in the control messages of one entry; false where it is the kernel's
// own answer to a send, which the send has returned, too.
func answerOf(oob []byte) (exporters.DropReason, bool) {
	for len(oob) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			break
		}
		oob = rest
		v4 := h.Level == unix.SOL_IP && h.Type == unix.IP_RECVERR
		v6 := h.Level == unix.SOL_IPV6 && h.Type == unix.IPV6_RECVERR
		if !v4 && !v6 || len(data) < 5 {
			continue
		}
		// struct sock_extended_err (linux/errqueue.h): __u32 ee_errno; __u8 ee_origin; ...
		errno, origin := syscall.Errno(binary.NativeEndian.Uint32(data)), data[4]
		return classify(errno), origin == originICMP || origin == originICMP6
	}
	return 0, false
}
