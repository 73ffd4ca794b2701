package afpacket

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// ipv4 is a frame of an IPv4 packet; fragment is its field of flags and offset.
func ipv4(protocol uint8, fragment uint16, payload []byte) []byte {
	f := append([]byte(nil), "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01\x08\x00"...)
	ip := make([]byte, 20)
	ip[0], ip[8], ip[9] = 0x45, 64, protocol
	binary.BigEndian.PutUint16(ip[2:], uint16(20+len(payload)))
	binary.BigEndian.PutUint16(ip[4:], 0x1234)
	binary.BigEndian.PutUint16(ip[6:], fragment)
	copy(ip[12:], "\x0a\x00\x00\x01\x0a\x00\x00\x02")
	binary.BigEndian.PutUint16(ip[10:], ^slowSum(ip))
	return append(append(f, ip...), payload...)
}

// ipv6 is a frame of an IPv6 packet.
func ipv6(protocol uint8, payload []byte) []byte {
	f := append([]byte(nil), "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01\x86\xdd"...)
	ip := make([]byte, 40)
	ip[0], ip[6], ip[7], ip[8], ip[23], ip[24], ip[39] = 0x60, protocol, 64, 0xfd, 1, 0xfd, 2
	binary.BigEndian.PutUint16(ip[4:], uint16(len(payload)))
	return append(append(f, ip...), payload...)
}

// fragments4 are the two of a UDP datagram.
func fragments4() (first, last []byte) {
	payload := make([]byte, 1480)
	copy(payload, "\x03\xe8\x07\xd0\x05\xd0\x00\x00")
	return ipv4(unix.IPPROTO_UDP, 0x2000, payload), ipv4(unix.IPPROTO_UDP, 1480/8, payload[:8])
}

func fragments6() (first, last []byte) {
	payload := make([]byte, 8+1232)
	copy(payload, "\x11\x00\x00\x01\x00\x00\x00\x07\x03\xe8\x07\xd0\x04\xf0\x00\x00")
	last = append([]byte(nil), payload[:32]...)
	binary.BigEndian.PutUint16(last[2:], 1232)
	return ipv6(44, payload), ipv6(44, last)
}

// slowSum is the folded sum of big-endian words, as RFC 1071 has it.
func slowSum(b []byte) uint16 {
	s := uint32(0)
	for i, c := range b {
		s += uint32(c) << (8 * (1 - i%2))
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// transportSum is 0xffff where the transport checksum of the frame is right.
func transportSum(t testing.TB, frame []byte) uint16 {
	t.Helper()
	ip := frame[ethernetLen:]
	for binary.BigEndian.Uint16(frame[len(frame)-len(ip)-2:]) == unix.ETH_P_8021Q {
		ip = ip[4:]
	}
	var pseudo, payload []byte
	if ip[0]>>4 == 4 {
		if slowSum(ip[:20]) != 0xffff || int(binary.BigEndian.Uint16(ip[2:])) != len(ip) {
			t.Errorf("IPv4 header %x of %d bytes", ip[:20], len(ip))
		}
		payload = ip[20:]
		pseudo = append(append(pseudo, ip[12:20]...), 0, ip[9])
	} else {
		payload = ip[40:]
		if int(binary.BigEndian.Uint16(ip[4:])) != len(payload) {
			t.Errorf("IPv6 header %x of %d bytes", ip[:40], len(ip))
		}
		pseudo = append(append(pseudo, ip[8:40]...), 0, ip[6])
	}
	pseudo = binary.BigEndian.AppendUint16(pseudo, uint16(len(payload)))
	return slowSum(append(pseudo, payload...))
}
