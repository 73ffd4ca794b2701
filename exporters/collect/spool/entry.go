// Entry: writes and reads one report packet or note as a pcap record with a checksum.

package spool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"net/netip"

	"intsink/internal/checksum"
)

// Kind says what an entry's payload is.
type Kind uint8

const (
	Report  Kind = iota // a report packet: the payload of a UDP datagram
	Note                // a gap, stats or episode record, made by the collector itself
	Message             // a message of IPFIX with one data record: that of a packet with IFA. It came by UDP, among others
)

// Entry is a report packet, or a note, as the spool keeps it.
type Entry struct {
	Kind     Kind
	Received int64          // Unix nanoseconds
	From, To netip.AddrPort // exporter and collector
	Start    int64          // of the stream, see streams.Place
	Sequence uint64
	Skipped  uint32 // see streams.Place; at most 2^32-1
	Records  uint16 // how many records the payload gives, for the accounts
	Payload  []byte
}

// The pcap header at the start of a segment (nanoseconds, raw IP), and lengths of records.
const (
	fileHeaderLen = 24
	magicNanos    = 0xa1b23c4d
	linkRaw       = 101
	snapLen       = 1 << 17

	packetHeaderLen = 16
	trailerLen      = 32
	trailerMagic    = 0x494e5453 // "INTS"
	maxEntry        = packetHeaderLen + 48 + 1<<16 + trailerLen

	protocolUDP  = 17
	protocolNote = 253
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendFileHeader(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, magicNanos)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 4)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	b = le.AppendUint32(b, snapLen)
	return le.AppendUint32(b, linkRaw)
}

// appendEntry appends one packet of the capture:
//
//	| seconds 4 | nanoseconds 4 | length 4 | length 4 |   little endian
//	| IPv4 20 or IPv6 40 | UDP 8, not in a note | payload |
//	| start 8 | sequence 8 | skipped 4 | records 2 | kind 1 | 0 1 | "INTS" 4 | CRC-32C 4 |   big endian
//
// The checksum is over everything from the seconds on.
func appendEntry(b []byte, e *Entry) []byte {
	le, be := binary.LittleEndian, binary.BigEndian
	from := len(b)
	b = le.AppendUint32(b, uint32(e.Received/1e9))
	b = le.AppendUint32(b, uint32(e.Received%1e9))
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	b = appendIP(b, e)
	b = append(b, e.Payload...)
	b = be.AppendUint64(b, uint64(e.Start))
	b = be.AppendUint64(b, e.Sequence)
	b = be.AppendUint32(b, e.Skipped)
	b = be.AppendUint16(b, e.Records)
	b = append(b, byte(e.Kind), 0)
	b = be.AppendUint32(b, trailerMagic)
	n := uint32(len(b) + 4 - from - packetHeaderLen)
	le.PutUint32(b[from+8:], n)
	le.PutUint32(b[from+12:], n)
	return be.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// appendIP appends the IP and UDP headers in front of the payload. The UDP checksum is 0.
func appendIP(b []byte, e *Entry) []byte {
	be := binary.BigEndian
	protocol, length := byte(protocolNote), len(e.Payload)
	if e.Kind != Note {
		protocol, length = protocolUDP, length+8
	}
	src, dst := e.From.Addr().Unmap(), e.To.Addr().Unmap()
	if src.Is4() {
		if !dst.Is4() {
			dst = netip.IPv4Unspecified() // the socket is bound to [::] and got an IPv4 packet
		}
		at := len(b)
		b = append(b, 0x45, 0)
		b = be.AppendUint16(b, uint16(20+length))
		b = append(b, 0, 0, 0x40, 0, 64, protocol, 0, 0)
		s, d := src.As4(), dst.As4()
		b = append(append(b, s[:]...), d[:]...)
		be.PutUint16(b[at+10:], ^checksum.Sum(b[at:]))
	} else {
		b = append(b, 0x60, 0, 0, 0)
		b = be.AppendUint16(b, uint16(length))
		b = append(b, protocol, 64)
		s, d := src.As16(), dst.As16()
		b = append(append(b, s[:]...), d[:]...)
	}
	if e.Kind == Note {
		return b
	}
	b = be.AppendUint16(b, e.From.Port())
	b = be.AppendUint16(b, e.To.Port())
	b = be.AppendUint16(b, uint16(length))
	return append(b, 0, 0)
}

var (
	errTorn    = errors.New("ends in the middle of an entry")
	errCorrupt = errors.New("not an entry of a spool")
)

// readEntry reads the entry at the start of b and returns its length. The payload is a part of
// b. The error is errTorn if b is too short.
func readEntry(b []byte) (e Entry, size int, err error) {
	if len(b) < packetHeaderLen {
		return e, 0, errTorn
	}
	le, be := binary.LittleEndian, binary.BigEndian
	size = packetHeaderLen + int(le.Uint32(b[8:]))
	if size > maxEntry || size < packetHeaderLen+20+trailerLen {
		return e, 0, errCorrupt
	}
	if size > len(b) {
		return e, 0, errTorn
	}
	b = b[:size]
	t := b[size-trailerLen:]
	if be.Uint32(t[24:]) != trailerMagic || be.Uint32(t[28:]) != crc32.Checksum(b[:size-4], castagnoli) {
		return e, 0, errCorrupt
	}
	e = Entry{
		Kind:     Kind(t[22]),
		Received: int64(le.Uint32(b))*1e9 + int64(le.Uint32(b[4:])),
		Start:    int64(be.Uint64(t)),
		Sequence: be.Uint64(t[8:]),
		Skipped:  be.Uint32(t[16:]),
		Records:  be.Uint16(t[20:]),
	}
	return e, size, e.readIP(b[packetHeaderLen : size-trailerLen])
}

// readIP reads addresses, ports and payload.
func (e *Entry) readIP(p []byte) error {
	be := binary.BigEndian
	var src, dst netip.Addr
	switch {
	case p[0] == 0x45:
		src, dst = netip.AddrFrom4([4]byte(p[12:])), netip.AddrFrom4([4]byte(p[16:]))
		p = p[20:]
	case p[0] == 0x60 && len(p) >= 40:
		src, dst = netip.AddrFrom16([16]byte(p[8:])), netip.AddrFrom16([16]byte(p[24:]))
		p = p[40:]
	default:
		return errCorrupt
	}
	var sport, dport uint16
	if e.Kind != Note {
		if len(p) < 8 {
			return errCorrupt
		}
		sport, dport = be.Uint16(p), be.Uint16(p[2:])
		p = p[8:]
	}
	e.From, e.To, e.Payload = netip.AddrPortFrom(src, sport), netip.AddrPortFrom(dst, dport), p
	return nil
}

// walk calls each with every entry of b from one offset up to another, and its place. It passes over what
// cannot be read, to the next whole entry. It returns where the last entry ends, and how many bytes it passed over.
func walk(b []byte, from, to int64, each func(e *Entry, at int64, size int)) (end, passed int64) {
	end = from
	for at := from; at < to; {
		e, n, err := readEntry(b[at:to])
		if err != nil {
			next := at + int64(resync(b[at:to]))
			passed += next - at
			at = next
			continue
		}
		each(&e, at, n)
		at += int64(n)
		end = at
	}
	return end, passed
}

// resync returns where in b, behind its first byte, the next whole entry begins; len(b) if there is none.
func resync(b []byte) int {
	le, be := binary.LittleEndian, binary.BigEndian
	for i := 1; i+packetHeaderLen+20+trailerLen <= len(b); i++ {
		n := le.Uint32(b[i+8:])
		end := i + packetHeaderLen + int(n)
		if n != le.Uint32(b[i+12:]) || n > maxEntry || n < 20+trailerLen || end > len(b) || be.Uint32(b[end-8:]) != trailerMagic {
			continue
		}
		if _, _, err := readEntry(b[i:]); err == nil {
			return i
		}
	}
	return len(b)
}
