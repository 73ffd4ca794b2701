package inthdr_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// TestIPLengthAndUDPLength: every IP length and UDP length against the frame, and
// what INT needs of them.
func TestIPLengthAndUDPLength(t *testing.T) {
	port := uint16(intPort)
	shim := append([]byte{0x14, 8, 0, 53}, mdBody(8)...)
	body := bytes.Repeat([]byte{0x77}, 200)
	markings := []struct {
		port   uint16
		config inthdr.Config
		header []byte
		mark   int // bytes behind UDP that show the mark
		length inthdr.Reason
	}{
		{intPort, inthdr.Config{UDPPort: &port, Version2: true}, shim, 0, inthdr.ReasonLength},
		{
			4790, inthdr.Config{VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}, Version2: true},
			append([]byte{0xc, 0, 0, 0x82, 0, 0, 7, 0, 0x10, 8, 0, 3}, mdBody(8)...), 8, inthdr.ReasonLength,
		},
		{
			6081, inthdr.Config{Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x103}, Version2: true},
			append([]byte{9, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 3, 1, 8}, mdBody(8)...), 8, inthdr.ReasonTunnel,
		},
	}
	for _, m := range markings {
		p, cases := inthdr.NewLocator(m.config), 0
		frame := behindUDP(m.port, append(bytes.Clone(m.header), body...), 0)
		for total := range len(frame) - 14 + 20 {
			for udp := range 512 {
				udp = int(uint16(udp - 256)) // 0xff00 to 255
				cases++
				b := bytes.Clone(frame)
				b = b[:len(b):len(b)]
				binary.BigEndian.PutUint16(b[16:], uint16(total))
				binary.BigEndian.PutUint16(b[38:], uint16(udp))
				before := bytes.Clone(b)
				var l packet.Layers
				var i inthdr.Info
				parsed := packet.Parse(b, len(b), &l)
				if ok := total >= 20 && 14+total <= len(b); ok != (parsed == packet.OK) {
					t.Fatalf("IP length %d of a frame of %d: %v", total, len(b), parsed)
				} else if !ok {
					continue
				}
				room := total - 28 // behind UDP
				var f faults
				f.add(udp != total-20, inthdr.ReasonUDPLength)
				f.add(room < m.mark+4, inthdr.ReasonTruncated)
				f.add(room < len(m.header), m.length)
				want := inthdr.Sound
				switch {
				case room < 0 || room < m.mark:
					want = inthdr.NotINT
				case f != 0:
					want = inthdr.Unsound
				}
				if got := p.Locate(b, &l, &i); got != want || want == inthdr.Unsound && !f.has(i.Reason) || !bytes.Equal(b, before) {
					t.Fatalf("port %d, IP length %d, UDP length %d: %v, %v; want %v by %b", m.port, total, udp, got, i.Reason, want, f)
				}
				if want == inthdr.Sound && int(i.End) != 42+len(m.header) {
					t.Fatalf("port %d, IP length %d: INT ends at %d", m.port, total, i.End)
				}
			}
		}
		enough(t, cases)
	}
}

// TestEveryCutOfATunnelsFirstSegment: if the first segment ends before INT does, the locator asks
// for more bytes. It never reads beyond the segment.
func TestEveryCutOfATunnelsFirstSegment(t *testing.T) {
	gre := uint16(0x88b6)
	c := shimCase{kind: 1, words: 6, chain: true, next: 3}
	teb := shimCase{kind: 1, words: 6, chain: true, inserted: true, next: 0x6558}
	for name, x := range map[string]struct {
		config inthdr.Config
		frame  []byte
		end    int // of INT
	}{
		"vxlan-gpe": {
			inthdr.Config{VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}, Version2: true},
			behindUDP(4790, append([]byte{0xc, 0, 0, 0x82, 0, 0, 7, 0}, c.bytes(0x82, 15)...), 0), 50 + 28 + 12,
		},
		"geneve": {
			inthdr.Config{Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x103}, Version2: true},
			behindUDP(6081, geneve(14, []option{{true, 1, 6}, {false, 0, 2}, {true, 2, 3}}), 0), 50 + 14*4,
		},
		"gre": {
			inthdr.Config{GREProtocol: &gre, Version2: true},
			behindIP(packet.ProtoGRE, greHeader(0xb000, 0x88b6, teb.bytes(0x88b6, 27))), 34 + 16 + 28 + 12,
		},
	} {
		for n := range len(x.frame) {
			b := x.frame[:n:n]
			var l packet.Layers
			var i inthdr.Info
			got, want := inthdr.NeedMore, inthdr.NeedMore
			if packet.Parse(b, len(x.frame), &l) == packet.OK {
				got = inthdr.NewLocator(x.config).Locate(b, &l, &i)
			}
			if n >= x.end {
				want = inthdr.Sound
			}
			if got != want || got == inthdr.Sound && int(i.End) != x.end {
				t.Errorf("%s, %d bytes: %v, %v, end %d; want %v", name, n, got, i.Reason, i.End, want)
			}
		}
	}
}
