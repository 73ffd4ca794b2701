package inthdr_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

// The examples of INT 2.1, with addresses, ports and payloads of our own. The test
// writes the checksums, of what arrives and of what must leave.
var examples = []struct {
	name   string
	config func() inthdr.Config
	packet string // from IPv4 on
	want   string // what leaves
	hops   int
}{
	{
		"INT-MD over TCP", func() inthdr.Config {
			return inthdr.Config{DSCP: []inthdr.DSCP{{Value: 0x17, Mask: 0x3f}}, Version2: true}
		},
		"455c 004d 0001 4000 4006 0000 c0000201 c6336401" + // DSCP 0x17, 77 bytes
			"8235 0050 00000001 00000002 5018 1000 0000 0000" +
			"10 07 00 28" + // MD, NPT 0, Length 7, DSCP 10
			"2000 0206 9000 0000 0000 0000" + // Hop ML 2, Remaining Hop Count 6
			"00000002 00000022 00000001 00000011" +
			"4845 4c4c 4f",
		"4528 002d 0001 4000 4006 0000 c0000201 c6336401" +
			"8235 0050 00000001 00000002 5018 1000 0000 0000" +
			"4845 4c4c 4f",
		2,
	},
	{
		"new UDP header and INT-MD inserted before TCP", func() inthdr.Config { p := uint16(intPort); return inthdr.Config{UDPPort: &p, Version2: true} },
		"4500 0051 0001 4000 4011 0000 c0000201 c6336401" +
			"8235 1388 003d 0000" +
			"18 07 00 06" + // MD, NPT 2, Length 7, TCP follows
			"2000 0206 9000 0000 0000 0000" +
			"00000002 00000022 00000001 00000011" +
			"8235 0050 00000001 00000002 5018 1000 0000 0000" + "01",
		"4500 0029 0001 4000 4006 0000 c0000201 c6336401" +
			"8235 0050 00000001 00000002 5018 1000 0000 0000" + "01",
		2,
	},
	{
		"INT-MD in-between UDP header and UDP payload", func() inthdr.Config { p := uint16(intPort); return inthdr.Config{UDPPort: &p, Version2: true} },
		"4500 0041 0001 4000 4011 0000 c0000201 c6336401" +
			"8235 1388 002d 0000" +
			"14 07 0035" + // MD, NPT 1, Length 7, port 53
			"2000 0206 9000 0000 0000 0000" +
			"00000002 00000022 00000001 00000011" +
			"4845 4c4c 4f",
		"4500 0021 0001 4000 4011 0000 c0000201 c6336401" +
			"8235 0035 000d 0000" +
			"4845 4c4c 4f",
		2,
	},
	{
		"INT-MX in-between UDP header and UDP payload", func() inthdr.Config { p := uint16(intPort); return inthdr.Config{UDPPort: &p, Version2: true} },
		"4500 0031 0001 4000 4011 0000 c0000201 c6336401" +
			"8235 1388 001d 0000" +
			"34 03 0035" + // MX, NPT 1, Length 3
			"2000 0000 9000 0000 0000 0000" +
			"4845 4c4c 4f",
		"4500 0021 0001 4000 4011 0000 c0000201 c6336401" +
			"8235 0035 000d 0000" +
			"4845 4c4c 4f",
		0,
	},
}

const ethernet = "020000000001 020000000002 0800"

// writeChecksums computes the IPv4 header checksum, and that of TCP or UDP over
// everything behind it.
func writeChecksums(b []byte) {
	ip := b[14:34]
	binary.BigEndian.PutUint16(ip[10:], ^sum16(ip))
	l4, at := b[34:], 6
	if ip[9] == packet.ProtoTCP {
		at = 16
	}
	pseudo := append([]byte{0, ip[9], byte(len(l4) >> 8), byte(len(l4))}, ip[12:20]...)
	binary.BigEndian.PutUint16(l4[at:], ^sum16(append(pseudo, l4...)))
}

// sum16 is the one's complement sum of RFC 1071, word by word.
func sum16(b []byte) uint16 {
	s := uint32(0)
	for i, v := range b {
		s += uint32(v) << (8 - 8*(i&1))
	}
	for s>>16 != 0 {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestExamplesOfTheSpecification(t *testing.T) {
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			b, want := unhex(t, ethernet+e.packet), unhex(t, ethernet+e.want)
			writeChecksums(want)
			if b[23] != want[23] { // the original's L4 stands behind INT
				copy(b[len(b)-len(want)+34:], want[34:])
			}
			writeChecksums(b)
			p := inthdr.NewLocator(e.config())
			var l packet.Layers
			var i inthdr.Info
			if s := packet.Parse(b, len(b), &l); s != packet.OK {
				t.Fatalf("parse: %v", s)
			}
			if r := p.Locate(b, &l, &i); r != inthdr.Sound || i.Reason != 0 || int(i.Hops) != e.hops {
				t.Fatalf("%v, %v, %d hops", r, i.Reason, i.Hops)
			}
			head := strip.Strip(b, &l, &i, nil)
			if got := b[head:]; !bytes.Equal(got, want) {
				t.Errorf("left\n%x, want\n%x", got, want)
			}
		})
	}
}
