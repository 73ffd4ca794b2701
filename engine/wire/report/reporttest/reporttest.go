// Bytes of packets in the tests of reports: Hex reads them, Wire reads testdata/*.hex, Packet
// makes report packets, the constants are packets of the specifications' examples.

// Package reporttest has what the tests of package report and of its decoder share: the same
// bytes, which one writes and the other reads.
package reporttest

import (
	"bytes"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
)

// Hex returns the bytes of hexadecimal digits; blanks and line ends count for nothing.
func Hex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

//go:embed testdata/*.hex
var files embed.FS

// Wire returns the report packet of testdata/name.hex.
func Wire(t testing.TB, name string) []byte {
	t.Helper()
	b, err := files.ReadFile("testdata/" + name + ".hex")
	if err != nil {
		t.Fatal(err)
	}
	return Hex(t, string(b))
}

// Packet returns a report packet of node 3 and hw_id 5 with n reports: the sink's interfaces 1
// and 2, and a packet from 10.0.0.1:40000 to 10.0.0.2:5000 with INT-MD of one hop, node 42.
func Packet(t testing.TB, sequence uint32, n int) []byte {
	t.Helper()
	b := binary.BigEndian.AppendUint32(nil, 2<<28|5<<22|sequence&0x3fffff)
	b = binary.BigEndian.AppendUint32(b, 3)
	return append(b, bytes.Repeat(Hex(t, `140f 0120 40000000 00000000 00010002
		4500 0030 0001 4000 40 11 0000 0a000001 0a000002
		9c40 1388 001c 0000
		14 04 0035
		20 00 01 07 8000 0000 0000 0000
		0000002a`), n)...)
}

// Names are those that Wire takes.
func Names(t testing.TB) (names []string) {
	t.Helper()
	entries, err := files.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".hex"))
	}
	return names
}

// Parts of packets in hexadecimal digits.
const (
	GroupHex = `2 1 400007 00000003` // hw_id 5, sequence 7, node 3
	TCPHex   = `9c40 0050 00000001 00000002 5018 0200 1234 0000`

	// A plain TCP packet from 10.0.0.1:40000 to 10.0.0.2:80.
	IPv4TCPHex = `4500 0028 0001 4000 40 06 0000 0a000001 0a000002` + TCPHex

	// INT 2.1, section "Example with new UDP header and INT-MD inserted before
	// TCP", as the sink receives it.
	INTTCPHex = `45 5c 0050 0001 4000 40 11 0000 0a000001 0a000002
		e000 1388 003c 0000
		18 07 00 06
		20 00 02 06 9000 0000 0000 0000
		00000002 01000022
		00000001 02000011` + TCPHex

	// INT 2.1, section "Example with INT-MD in-between UDP header and UDP
	// payload": VXLAN between two hosts, three switches. The example's figure gives
	// the shim a Length of 7; three hops of two words and the header are 9.
	INTVXLANHex = `4500 0082 0001 4000 3d 11 0000 c0a80101 c0a80202
		ddd5 1388 006e 0000
		14 09 12b5
		20 00 02 05 c000 0000 0000 0000
		00000003 00050006
		00000002 00030004
		00000001 00010002
		08000000 00007b00
		020000000002 020000000001 0800
		4500 0028 0001 4000 40 06 0000 0a0a0101 0a0a0202` + TCPHex
)

// All returns the report packets of all names.
func All(t testing.TB) (packets [][]byte) {
	for _, name := range Names(t) {
		packets = append(packets, Wire(t, name))
	}
	return packets
}
