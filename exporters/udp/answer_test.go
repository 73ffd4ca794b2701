package udp

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"intsink/exporters"
)

// control is a control message as recvmsg returns it (struct cmsghdr, cmsg(3)).
func control(level, kind int32, data ...byte) []byte {
	b := binary.NativeEndian.AppendUint64(nil, uint64(16+len(data)))
	b = binary.NativeEndian.AppendUint32(b, uint32(level))
	b = binary.NativeEndian.AppendUint32(b, uint32(kind))
	b = append(b, data...)
	return append(b, make([]byte, -len(data)&7)...)
}

// extended is a struct sock_extended_err of linux/errqueue.h with an address behind it.
func extended(errno unix.Errno, origin byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(errno))
	return append(append(b, origin, 3, 3, 0), make([]byte, 8+16)...)
}

// TestAnswerOf: the reason of an ICMP answer is found among control messages, by level, type and origin;
// what is too short, or of another kind, is passed over.
func TestAnswerOf(t *testing.T) {
	refused, tooBig := extended(unix.ECONNREFUSED, originICMP), extended(unix.EMSGSIZE, originICMP6)
	ttl := control(unix.SOL_IP, unix.IP_TTL, 64, 0, 0, 0, originICMP)
	for _, c := range []struct {
		name string
		oob  []byte
		want exporters.DropReason
		ok   bool
	}{
		{"ICMP", control(unix.SOL_IP, unix.IP_RECVERR, refused...), exporters.DropRefused, true},
		{"ICMPv6", control(unix.SOL_IPV6, unix.IPV6_RECVERR, tooBig...), exporters.DropPacketTooBig, true},
		{"no route", control(unix.SOL_IP, unix.IP_RECVERR, extended(unix.EHOSTUNREACH, originICMP)...), exporters.DropUnreachable, true},
		{"the kernel's own", control(unix.SOL_IP, unix.IP_RECVERR, extended(unix.EMSGSIZE, 1)...), exporters.DropPacketTooBig, false},
		{"the kernel's own, IPv6", control(unix.SOL_IPV6, unix.IPV6_RECVERR, extended(unix.EMSGSIZE, 1)...), exporters.DropPacketTooBig, false},
		{"as short as can be", control(unix.SOL_IP, unix.IP_RECVERR, refused[:5]...), exporters.DropRefused, true},
		{"without origin", control(unix.SOL_IP, unix.IP_RECVERR, refused[:4]...), 0, false},
		{"without anything", control(unix.SOL_IPV6, unix.IPV6_RECVERR), 0, false},
		{"another type", control(unix.SOL_IP, unix.IP_TTL, refused...), 0, false},
		{"another type, IPv6", control(unix.SOL_IPV6, unix.IPV6_HOPLIMIT, tooBig...), 0, false},
		{"another level", control(unix.SOL_SOCKET, unix.IP_RECVERR, refused...), 0, false},
		{"type of IPv6 at the level of IPv4", control(unix.SOL_IP, unix.IPV6_RECVERR, refused...), 0, false},
		{"type of IPv4 at the level of IPv6", control(unix.SOL_IPV6, unix.IP_RECVERR, tooBig...), 0, false},
		{"behind another", slices.Concat(ttl, control(unix.SOL_IP, unix.IP_RECVERR, refused...)), exporters.DropRefused, true},
		{"behind one too short", slices.Concat(control(unix.SOL_IP, unix.IP_RECVERR, 1), control(unix.SOL_IPV6, unix.IPV6_RECVERR, tooBig...)), exporters.DropPacketTooBig, true},
		{"cut", control(unix.SOL_IP, unix.IP_RECVERR, refused...)[:20], 0, false},
		{"nothing", nil, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := answerOf(c.oob); got != c.want || ok != c.ok {
				t.Errorf("reason %v, %v; want %v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}
