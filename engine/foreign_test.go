package engine

import (
	"bytes"
	"encoding/binary"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// through takes frame through a sink that takes INT as c says, twice, so that the
// second packet is like one that is known; it returns what left.
func through(t *testing.T, c inthdr.Config, frame []byte) (out [][]byte, l LinkCounters) {
	t.Helper()
	b := newBed(t, func(r *Rules) { r.INT = c })
	for range 2 {
		b.network.RX = append(b.network.RX, bytes.Clone(frame))
		b.Poll()
	}
	b.step(2e6)
	l = b.Snapshot().Links[0]
	out = b.host.TX
	b.balance()
	return out, l
}

// allVersions takes INT of every version by every marking.
func allVersions() inthdr.Config {
	port, gre := uint16(5000), uint16(0x88b6)
	return inthdr.Config{
		UDPPort: &port, DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}, GREProtocol: &gre,
		VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}, Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103},
		Version2: true, Version1: true, Version0: true,
	}
}

// expectBoth checks that both packets left as want, counted for the reason; ReasonNone:
// as sound INT.
func expectBoth(t *testing.T, out [][]byte, l LinkCounters, want []byte, reason inthdr.Reason) {
	t.Helper()
	if len(out) != 2 || !bytes.Equal(out[0], want) || !bytes.Equal(out[1], want) {
		t.Errorf("left %x\nwant twice %x", out, want)
	}
	counts := [inthdr.NumReasons]uint64{}
	if reason != inthdr.ReasonNone {
		counts[reason] = 2
	}
	if l.Malformed != counts {
		t.Errorf("malformed %v, want %v", l.Malformed, counts)
	}
	if n := l.INT[inthdr.MD] + l.INT[inthdr.Destination] + l.INT[inthdr.MX]; (n != 0) != (reason == inthdr.ReasonNone) {
		t.Errorf("%d packets were taken as INT", n)
	}
}

// TestVersionFitsItsShim: a header of INT 1.0 behind a shim of 2.x, and the other way,
// is something else in every place; where it may stand it is removed.
func TestVersionFitsItsShim(t *testing.T) {
	const header1, header1C, header2 = "10000000 00000000", "12000000 00000000", "20000106 00000000 00000000"
	gpe := func(next, rest string) string { return "0c0000" + next + "00000700" + rest }
	const ethernet = "020000000004 020000000003 88b5 01020304"
	cases := []struct {
		name, body string
		tos, proto byte
		port       uint16
		want       string // body; empty: unchanged
	}{
		{"DSCP, shim of 2.x, header of 1.0", "10030000" + header1 + "00000000" + "7061796c6f6164", 23 << 2, 17, 2000, ""},
		{"DSCP, shim of 2.x, header of 1.0 with C", "10030000" + header1C + "00000000" + "7061796c6f6164", 23 << 2, 17, 2000, ""},
		{"DSCP, shim of 1.0, header of 2.x", "01000400" + header2 + "7061796c6f6164", 23 << 2, 17, 2000, ""},
		{"DSCP, shim of 1.0, header of 1.0", "01000300" + header1 + "7061796c6f6164", 23 << 2, 17, 2000, "7061796c6f6164"},
		{"DSCP, shim of 2.x, header of 2.x", "10030000" + header2 + "7061796c6f6164", 23 << 2, 17, 2000, "7061796c6f6164"},
		{"port, header of 1.0", "140307d0" + header1 + "00000000" + "7061796c6f6164", 0, 17, 5000, ""},
		{"port, header of 1.0 with C", "140307d0" + header1C + "00000000" + "7061796c6f6164", 0, 17, 5000, ""},
		{"GRE, header of 1.0", "0000 88b6" + "10030800" + header1 + "00000000", 0, 47, 0, ""},
		{"GRE, header of 1.0 with C", "0000 88b6" + "10030800" + header1C + "00000000", 0, 47, 0, ""},
		{"VXLAN-GPE, shim of 2.x, header of 1.0", gpe("82", "10030003"+header1+"00000000"+ethernet), 0, 17, 4790, ""},
		{"VXLAN-GPE, shim of 1.0, header of 2.x", gpe("82", "01000403"+header2+ethernet), 0, 17, 4790, ""},
		{"VXLAN-GPE, next protocol of 1.0, all of 2.x", gpe("08", "10030003"+header2+ethernet), 0, 17, 4790, ""},
		{"VXLAN-GPE, next protocol of 2016, header of 1.0", gpe("05", "01000303"+header1+ethernet), 0, 17, 4790, gpe("03", ethernet)}, // Ver 0, Rep 1 of 2016
		{"VXLAN-GPE, next protocol of 1.0, all of 1.0", gpe("08", "01000303"+header1+ethernet), 0, 17, 4790, gpe("03", ethernet)},
		{"Geneve, which has no shim, header of 1.0", "0300 6558 00000700" + "01030102" + header1 + ethernet, 0, 17, 6081, "0000 6558 00000700" + ethernet},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			build := func(tos byte, body string) []byte {
				b := unhex(t, body)
				if c.proto == 17 {
					b = udp(c.port, b)
				}
				return ipv4(tos, c.proto, b)
			}
			in := build(c.tos, c.body)
			out, l := through(t, allVersions(), in)
			if c.want == "" {
				expectBoth(t, out, l, in, inthdr.ReasonVersion)
				return
			}
			expectBoth(t, out, l, build(0, c.want), inthdr.ReasonNone)
		})
	}
}

// TestTypesThatAreNotTaken: text behind a DSCP that ordinary traffic has looks like a
// Destination header; without that type it stays.
func TestTypesThatAreNotTaken(t *testing.T) {
	ntp := ipv4(0, 17, udp(123, unhex(t, "24010000 00000000 00000000 00000000")))
	c := inthdr.Config{DSCP: []inthdr.DSCP{{Value: 0, Mask: 63}}, Version2: true}
	out, l := through(t, c, ntp)
	expectBoth(t, out, l, ntp, inthdr.ReasonNPT) // 0x24: NPT 1
	text := ipv4(0, 17, udp(80, append([]byte(" \x02i\x00"), "n front of words"...)))
	out, l = through(t, c, text)
	expectBoth(t, out, l, ipv4(0, 17, udp(80, []byte("of words"))), inthdr.ReasonNone)
	c.Ignored[inthdr.Destination] = true
	out, l = through(t, c, text)
	expectBoth(t, out, l, text, inthdr.ReasonType)
	md := unhex(t, "10030000 20000106 00000000 00000000 2a2a")
	out, l = through(t, c, ipv4(0, 17, udp(80, md)))
	expectBoth(t, out, l, ipv4(0, 17, udp(80, md[16:])), inthdr.ReasonNone)
	c.Ignored[inthdr.MD] = true
	out, l = through(t, c, ipv4(0, 17, udp(80, md)))
	expectBoth(t, out, l, ipv4(0, 17, udp(80, md)), inthdr.ReasonType)
}

// TestINTOfGEANT: INT 1.0 with timestamps of 64 bits has paths and latencies.
func TestINTOfGEANT(t *testing.T) {
	c := inthdr.Config{DSCP: []inthdr.DSCP{{Value: 32, Mask: 63}}, Version1: true}
	const hop = "01000920 10000607 cc000065 00000001 00010002 00038d7ea4c68001 00038d7ea4c681f5"
	sample := ipv4(32<<2, 17, udp(2000, unhex(t, hop+"7061796c6f6164")))
	want := ipv4(8<<2, 17, udp(2000, unhex(t, "7061796c6f6164")))
	out, l := through(t, c, sample)
	if expected := (inthdr.ReasonHopML); l.Malformed[expected] != 2 || !bytes.Equal(out[0], want) {
		t.Errorf("as INT 1.0: malformed %v, left %x", l.Malformed, out)
	}
	c.GEANT = true
	out, l = through(t, c, sample)
	expectBoth(t, out, l, want, inthdr.ReasonNone)

	b := newBed(t, func(r *Rules) {
		r.INT = c
		p := &r.Watches[0].Policy
		p.Events = event.PathChange.Set() | event.EndToEnd.Set()
		p.Thresholds.PTP = true
	})
	send := func(ingress, latency, level2 uint64) {
		b.now += 200e6
		f := bytes.Clone(sample)
		f[44], f[48], f[50] = 10, 7, 0xce // level-2 interfaces as well, 16 bits each
		stack := f[54:]
		binary.BigEndian.PutUint16(stack[4:], uint16(ingress))
		binary.BigEndian.PutUint64(stack[8:], uint64(b.now)-latency)
		binary.BigEndian.PutUint32(stack[24:], uint32(level2))
		f = ipv4(f[15], 17, udp(2000, append(f[42:82:82], "payload"...)))
		b.network.RX = append(b.network.RX, f)
		b.Poll()
	}
	expect := func(what string, paths, latencies uint64) {
		t.Helper()
		b.Tick(b.now)
		r := b.Snapshot().Reported
		if r[event.PathChange] != paths || r[event.EndToEnd] != latencies {
			t.Errorf("%s: %d reports of path_change and %d of end_to_end; want %d, %d", what, r[event.PathChange], r[event.EndToEnd], paths, latencies)
		}
	}
	send(1, 100_000, 0x00030004)
	send(1, 110_000, 0x00030004)
	expect("the same again", 0, 0)
	send(2, 100_000, 0x00030004)
	expect("another ingress interface", 1, 0)
	send(2, 100_000, 0x00030005)
	expect("another level-2 interface", 2, 0)
	for range 3 {
		send(2, 900_000, 0x00030005)
	}
	expect("slower", 2, 1)
	b.balance()
}

// TestTooDeepUnderINT: once INT of the outer layer is gone, what is too deep inside
// is told as well.
func TestTooDeepUnderINT(t *testing.T) {
	inner := withINT(t, plain(1), nil)[14:]
	for range 4 {
		inner = ipv4(0, 4, inner)[14:]
	}
	shim := unhex(t, "18030004 20000106 00000000 00000000") // NPT 2, IP in IP
	f := ipv4(0, 17, udp(5000, append(shim, inner...)))
	want := ipv4(0, packet.ProtoIPv4, inner)
	port := uint16(5000)
	out, l := through(t, inthdr.Config{UDPPort: &port, Version2: true}, f)
	if len(out) != 2 || !bytes.Equal(out[0], want) || l.INT[inthdr.MD] != 2 || l.Malformed[inthdr.ReasonTooDeep] != 2 {
		t.Errorf("left %x\nwant %x; INT %v, malformed %v", out, want, l.INT, l.Malformed)
	}
}
