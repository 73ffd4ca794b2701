// Digits of numbers and addresses, several at a time: records have a dozen of them, which package strconv writes one by one.

package record

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"strconv"
)

// hex8 returns the eight hexadecimal digits of v, the first one in the highest byte.
func hex8(v uint32) uint64 {
	x := uint64(v) // a nibble a byte
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	letters := (x + 6*everyByte) >> 4 & everyByte // 1 in the bytes of 10 and more
	return x + '0'*everyByte + ('a'-10-'0')*letters
}

const everyByte = 0x0101010101010101

// appendHex64 appends all 16 digits of v.
func appendHex64(b []byte, v uint64) []byte {
	return be.AppendUint64(be.AppendUint64(b, hex8(uint32(v>>32))), hex8(uint32(v)))
}

// appendHexNumber appends v in hexadecimal digits without zeros in front.
func appendHexNumber(b []byte, v uint64) []byte {
	if v < 16 {
		return append(b, hexDigits[v])
	}
	n := (bits.Len64(v) + 3) / 4
	if n <= 8 {
		return be.AppendUint64(b, hex8(uint32(v)<<(32-4*n)))[:len(b)+n]
	}
	return appendHex64(b, v<<(64-4*n))[:len(b)+n]
}

// decimals has the three digits of the numbers below 1000, the first one in the lowest byte, and above them how many are zeros in front.
var decimals = func() (all [1000]uint32) {
	for i := range all {
		v := uint32(i)
		all[i] = '0' + v/100 | ('0'+v/10%10)<<8 | ('0'+v%10)<<16
		switch {
		case v < 10:
			all[i] |= 2 << 24
		case v < 100:
			all[i] |= 1 << 24
		}
	}
	return all
}()

// appendDecimal appends v in decimal digits.
func appendDecimal(b []byte, v uint64) []byte {
	switch {
	case v < 1000:
		return appendFirst(b, uint32(v))
	case v < 1e6:
		b = appendFirst(b, uint32(v)/1000)
		return binary.LittleEndian.AppendUint32(b, decimals[uint32(v)%1000])[:len(b)+3]
	}
	return strconv.AppendUint(b, v, 10)
}

// appendFirst appends v, below 1000, without zeros in front.
func appendFirst(b []byte, v uint32) []byte {
	d := decimals[v]
	zeros := d >> 24
	return binary.LittleEndian.AppendUint32(b, d>>(8*zeros))[:len(b)+3-int(zeros)]
}

// appendAddr appends a without a zone.
func appendAddr(b []byte, a netip.Addr) []byte {
	if !a.Is4() {
		return a.WithZone("").AppendTo(b)
	}
	at := len(b)
	b = append(b, "255.255.255.255."...)
	for _, v := range a.As4() {
		d := decimals[v]
		zeros := d >> 24
		binary.LittleEndian.PutUint32(b[at:], d>>(8*zeros))
		at += 3 - int(zeros)
		b[at] = '.'
		at++
	}
	return b[:at-1]
}
