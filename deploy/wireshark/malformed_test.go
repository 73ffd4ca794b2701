package wireshark_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"intsink/engine/wire/intgen"
)

func TestMalformedLengths(t *testing.T) {
	s := &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: 0x8000, MaxHops: 9}
	good := insert(t, s, udp(9, nil), twoHops...)[udpPayload:]
	change := func(at int, v byte) []byte {
		b := slices.Clone(good)
		b[at] = v
		return b
	}
	group := coalesced(t)
	reports := func(at int, v byte) []byte {
		b := slices.Clone(group)
		b[at] = v
		return b
	}
	cases := []struct {
		name, field string
		frame       []byte
	}{
		{"shim cut", "int.malformed", udp(5000, good[:3])},
		{"header cut", "int.malformed", udp(5000, good[:10])},
		{"stack cut", "int.malformed", udp(5000, good[:18])},
		{"type 0", "int.malformed", udp(5000, change(0, 0x04))},
		{"NPT 3", "int.malformed", udp(5000, change(0, 0x1c))},
		{"Length too long", "int.malformed", udp(5000, change(1, 255))},
		{"Length too short", "int.malformed", udp(5000, change(1, 2))},
		{"Destination of no words", "int.malformed", udp(5000, []byte{0x24, 0, 0, 53, 1, 2, 3, 4})},
		{"version 3", "int.malformed", udp(5000, change(4, 0x30))},
		{"Hop ML 0", "int.malformed", udp(5000, change(6, 0))},
		{"bitmap beyond Hop ML", "int.malformed", udp(5000, change(8, 0xc0))},
		{"group header cut", "int_report.malformed", udp(8555, group[:7])},
		{"no report", "int_report.malformed", udp(8555, group[:8])},
		{"report cut", "int_report.malformed", udp(8555, group[:60])},
		{"Report Length too long", "int_report.malformed", udp(8555, reports(9, 254))},
		{"MD Length too long", "int_report.malformed", udp(8555, reports(10, 255))},
		{"MD Length too short", "int_report.malformed", udp(8555, reports(10, 2))},
		{"version 9", "int_report.malformed", udp(8555, reports(0, 0x90))},
		{"1.0 Length too short", "int_report.malformed", udp(8555, reports(0, 0x13))},
	}
	var frames [][]byte
	for _, c := range cases {
		frames = append(frames, c.frame)
	}
	for i, got := range fields(t, capture(t, frames...), []string{"int.malformed", "int_report.malformed"}) {
		c := cases[i]
		if (got[0] != "") != (c.field == "int.malformed") || (got[1] != "") != (c.field == "int_report.malformed") {
			t.Errorf("%s: got %q, want %s", c.name, got, c.field)
		}
	}
}

// originals are good packets of every encapsulation and report version.
func originals(t *testing.T) (all [][]byte) {
	add := func(m intgen.Marking, proto uint8, bitmap uint16) {
		s := &intgen.Source{Marking: m, UDPPort: 5000, DSCP: 23, Mask: 63, ProbeMarker: 0x0102030405060708, Bitmap: bitmap, MaxHops: 9}
		all = append(all, insert(t, s, flow(proto, 53).Frame(60, 3), twoHops...))
	}
	add(intgen.ByPort, intgen.UDP, everything)
	add(intgen.ByNewUDP, intgen.TCP, 0xffff)
	add(intgen.ByNewUDP, intgen.UDP, 0x8001)
	add(intgen.ByDSCP, intgen.TCP, everything)
	add(intgen.ByProbeMarker, intgen.UDP, everything)
	add(intgen.ByIFA, intgen.TCP, everything)
	add(intgen.ByIFA, intgen.UDP, everything)
	body := intBody(t)
	words := uint8(len(body) / 4)
	return append(all,
		udp(4790, slices.Concat([]byte{0x0c, 0, 0, 0x82, 0, 0, 5, 0}, []byte{0x10, words, 0, 0x82}, body, []byte{0x10, words, 0, 3}, body, make([]byte, 40))),
		udp(6081, slices.Concat([]byte{words + 1, 0, 0x65, 0x58, 0, 0, 5, 0}, []byte{0x01, 0x03, 1, words}, body, make([]byte, 40))),
		udp(5000, slices.Concat([]byte{1, 0, 9, 0, 0x10, 0, 3, 6, 0xd0, 0, 0, 0}, make([]byte, 24))),
		udp(8555, coalesced(t)), udp(8555, coalesced(t)),
		udp(8555, slices.Concat([]byte{0x17, 0x55, 0x01, 0x49}, make([]byte, 24), inPacket(t, 9, 100)[14:])),
		udp(8555, slices.Concat([]byte{0x02, 0x40, 0, 6}, make([]byte, 24), inPacket(t, 9, 100))))
}

// setLengths makes IPv4 and UDP agree with the frame, so that a cut reaches the
// dissector.
func setLengths(b []byte) {
	binary.BigEndian.PutUint16(b[16:], uint16(len(b)-14))
	if b[23] == intgen.UDP {
		binary.BigEndian.PutUint16(b[38:], uint16(len(b)-34))
		binary.BigEndian.PutUint16(b[40:], 0)
	}
}

// Whatever comes, Lua has nothing to say (tshark sees to that).
func TestCorrupted(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	good := originals(t)
	var frames [][]byte
	for i := range 400 {
		b := slices.Clone(good[i%len(good)])
		if i%2 == 0 {
			b = b[:udpPayload+rnd.IntN(len(b)-udpPayload+1)]
			setLengths(b)
		}
		for range i % 5 {
			if at := udpPayload + rnd.IntN(min(64, len(b)-udpPayload+1)); at < len(b) {
				b[at] = byte(rnd.Uint32())
			}
		}
		frames = append(frames, b)
	}
	marks := []string{"-V", "-o", "int.dscp_on:TRUE", "-o", "int.probe_marker:0102030405060708",
		"-o", "udp.try_heuristic_first:TRUE", "-o", "tcp.try_heuristic_first:TRUE"}
	for n := udpPayload; n < udpPayload+20; n += 3 {
		tshark(t, snapped(t, n, good...), marks...)
	}
	out := tshark(t, capture(t, frames...), marks...)
	if n := strings.Count(out, "In-band Network Telemetry"); n < len(frames)/2 {
		t.Errorf("only %d times INT in %d frames", n, len(frames))
	}
}

// Any protocol may stand in the shim; headers inside headers come to an end.
func TestProtocolsAndNesting(t *testing.T) {
	var frames [][]byte
	for proto := range 256 {
		shim := []byte{0x18, 3, 0, byte(proto), 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
		frames = append(frames, udp(5000, append(shim, make([]byte, 64)...)))
		frames = append(frames, udp(5000, append(shim, 0x45, 0x60, byte(proto), 0x11)))
	}
	frames = append(frames, udp(5000, slices.Repeat([]byte{0x24, 1, 5000 >> 8, 5000 & 0xff, 1, 2, 3, 4}, 150)))
	frames = append(frames, udp(4790, append([]byte{0x0c, 0, 0, 0x82, 0, 0, 5, 0}, slices.Repeat([]byte{0x20, 1, 0, 0x82, 1, 2, 3, 4}, 150)...)))
	nested := coalesced(t)
	for range 12 {
		nested = slices.Concat([]byte{2 << 4, 0, 0, 1, 0, 0, 0, 9}, []byte{0x03, 0xff, 0, 0}, udp(8555, nested))
	}
	frames = append(frames, udp(8555, nested))
	tshark(t, capture(t, frames...), "-V")
}

// A packet that the capture cut short is not malformed.
func TestSnapped(t *testing.T) {
	s := &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: 0x8000, MaxHops: 9}
	frame := insert(t, s, udp(9, nil), twoHops...)
	expect(t, snapped(t, len(frame)-4, frame), []want{
		{"int.malformed", ""}, {"int.cut", "1"}, {"int.hop.node_id", "7"},
	})
	expect(t, snapped(t, udpPayload+30, udp(8555, coalesced(t))), []want{
		{"int_report.malformed", ""}, {"int_report.cut", "1,1"}, {"int_report.node_id", "99"},
	})
}
