// Writes the protobuf wire format: tags, varints, fixed numbers, nested messages.

package record

import (
	"encoding/binary"
	"math"
	"net/netip"
)

// Wire types of protobuf, the lower three bits of a tag.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// putTag appends a tag of one byte or two: field numbers are below 2048.
func putTag(b []byte, field, wire int) []byte {
	tag := field<<3 | wire
	if tag < 0x80 {
		return append(b, byte(tag))
	}
	return append(b, byte(tag)|0x80, byte(tag>>7))
}

func putNumber(b []byte, field int, v uint64) []byte {
	b = putTag(b, field, wireVarint)
	if v < 0x80 { // most are
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}

func putFixed64(b []byte, field int, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(putTag(b, field, wireFixed64), v)
}

func putFloat(b []byte, field int, v float32) []byte {
	return binary.LittleEndian.AppendUint32(putTag(b, field, wireFixed32), math.Float32bits(v))
}

func putText(b []byte, field int, s string) []byte {
	b = binary.AppendUvarint(putTag(b, field, wireBytes), uint64(len(s)))
	return append(b, s...)
}

func putAddr(b []byte, field int, a netip.Addr) []byte {
	b, at := openField(b, field)
	return closeField(appendAddr(b, a), at)
}

// putNames appends, for each bit of set, its name as an element of the repeated field.
func putNames(b []byte, field int, set uint32, names []string) []byte {
	for bit, name := range names {
		if set>>bit&1 != 0 {
			b = putText(b, field, name)
		}
	}
	return b
}

// putHex appends bytes as a text of hexadecimal digits if there are any.
func putHex(b []byte, field int, bytes []byte) []byte {
	if len(bytes) == 0 {
		return b
	}
	b = binary.AppendUvarint(putTag(b, field, wireBytes), uint64(2*len(bytes)))
	return appendHex(b, bytes)
}

// openField starts a text or a message. closeField writes its length in front: into the one byte that openField leaves
// for it, as long as it has at most 127.
func openField(b []byte, field int) ([]byte, int) {
	b = append(putTag(b, field, wireBytes), 0)
	return b, len(b)
}

func closeField(b []byte, start int) []byte {
	n := len(b) - start
	if n < 0x80 {
		b[start-1] = byte(n)
		return b
	}
	var length [binary.MaxVarintLen64]byte
	width := binary.PutUvarint(length[:], uint64(n))
	b = append(b, length[:width-1]...) // room
	copy(b[start-1+width:], b[start:start+n])
	copy(b[start-1:], length[:width])
	return b
}
