package strip_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

func ioamLocator() *inthdr.Locator {
	return inthdr.NewLocator(inthdr.Config{Formats: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{7, 123}, FlowSequence: true, Ends: [][16]byte{intgen.RandomEnd.As16()}}}})
}

// TestStripUndoesIOAM: strip(insert(p)) == p for random packets, with options that stay in front of IOAM and behind it, in one
// header and in both, with nodes and with random bytes; the same in a tunnel; and not a byte outside of the frame is touched.
func TestStripUndoesIOAM(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 1))
	p, inserted, kinds := ioamLocator(), 0, map[string]int{}
	for n := range cases {
		orig, s, hops := intgen.RandomIOAM(r)
		marked, err := s.Insert(orig, hops)
		if err != nil {
			continue // a node or an option would be too long
		}
		inserted++
		if n%4 == 0 {
			orig, marked = tunnelled(r, s, orig, marked)
		}
		got, i := stripped(t, p, marked, r.IntN(40))
		if i.Inserted != s.IOAM.Tunnel {
			t.Fatalf("case %d: tunnel %v, want %v: %x", n, i.Inserted, s.IOAM.Tunnel, marked)
		}
		if got == nil || !bytes.Equal(got, orig) {
			t.Fatalf("case %d, %+v, %d hops, reason %v:\noriginal  %x\nwith IOAM %x\nstripped  %x", n, s.IOAM, len(hops), i.Reason, orig, marked, got)
		}
		x := &s.IOAM
		if x.Raw != nil {
			kinds["raw"]++
			continue
		}
		if i.Reason != 0 || int(i.Hops) != len(hops) || i.Copy != x.Active || i.MTUExceeded != x.Overflow {
			t.Fatalf("case %d, %+v: %+v, want %d hops", n, x, i, len(hops))
		}
		if number, bits := p.Sequence(marked, &i); x.Edge && (bits != 32 || number != uint64(x.Number)) {
			t.Fatalf("case %d: number %d of %d bits, want %d", n, number, bits, x.Number)
		}
		for kind, is := range map[string]bool{"edge": x.Edge, "front": x.Front, "destination": x.Destination, "snapshot": x.Snapshot != nil, "tunnel": x.Tunnel} {
			if is {
				kinds[kind]++
			}
		}
	}
	for _, k := range []string{"raw", "edge", "front", "destination", "snapshot", "tunnel"} {
		if kinds[k] < inserted/50 {
			t.Errorf("only %d of %d packets with %s", kinds[k], inserted, k)
		}
	}
	if inserted < cases/3 {
		t.Errorf("only %d of %d insertions", inserted, cases)
	}
}

// fromLinux is a packet as two namespaces of Linux 6.18 left it, which forwarded it with net.ipv6.conf.*.ioam6_enabled.
var fromLinux = unspaced("020000000002 020000000001 86dd" +
	"60000000 005d 00 3e db010000000000000000000000000001 db030000000000000000000000000002" +
	"11090100 314a0000 007b2008 f0000000" + strings.Repeat("00", 32) +
	"3e000066 00150016 6b0a9fb8 000c60e4 3f000065 000b000c 6b0a9fb8 000c60d7" +
	"0fa01389 000d0000 68656c6c6f")

func unspaced(s string) string { return strings.ReplaceAll(s, " ", "") }

func TestPacketOfLinux(t *testing.T) {
	frame, err := hex.DecodeString(fromLinux)
	if err != nil || len(frame) != 14+40+93 {
		t.Fatal(len(frame), err)
	}
	p := ioamLocator()
	var l packet.Layers
	var i inthdr.Info
	var o inthdr.Outers
	if packet.Parse(frame, len(frame), &l) != packet.OK || p.Find(frame, &l, &i, &o) != inthdr.Sound || i.Reason != 0 || i.Hops != 2 {
		t.Fatalf("not taken as IOAM: %+v", i)
	}
	layout, h := p.Layout(&i), p.Hops(frame, &i)
	for n, want := range []inthdr.Hop{
		{NodeID: 102, Ingress: 21, Egress: 22, IngressTime: 1795858360_811236000},
		{NodeID: 101, Ingress: 11, Egress: 12, IngressTime: 1795858360_811223000},
	} {
		var x inthdr.Hop
		layout.Read(&x, h.Frame[n*int(h.Info.HopLen):])
		if want.EgressTime = want.IngressTime; x.NodeID != want.NodeID || x.Ingress != want.Ingress || x.Egress != want.Egress ||
			x.IngressTime != want.IngressTime || x.EgressTime != want.EgressTime || x.Latency != inthdr.Unknown || x.Occupancy != inthdr.Unknown {
			t.Errorf("hop %d is %+v", n, x)
		}
	}
	if hops, told := p.IPHops(frame, int(l.L3), &i); !told || hops != 2 {
		t.Errorf("%d hops of IP, %v", hops, told)
	}
	want := append(bytes.Clone(frame[:54]), frame[54+80:]...)
	want[18], want[19], want[20] = 0, 13, 17
	head := strip.Strip(frame, &l, &i, &o)
	if !bytes.Equal(frame[head:], want) {
		t.Errorf("stripped %x\nwant     %x", frame[head:], want)
	}
}

// TestUnsoundIOAM: what cannot be taken out stays, for its reason; what can goes, whatever its contents.
func TestUnsoundIOAM(t *testing.T) {
	good, err := hex.DecodeString(fromLinux)
	if err != nil {
		t.Fatal(err)
	}
	const hop, option = 54, 58
	longer := func(b []byte, kind uint8, header []byte) []byte { // another header behind the first
		b = append(append(bytes.Clone(b[:hop+80]), header...), b[hop+80:]...)
		b[hop+80], b[hop] = 17, kind
		binary.BigEndian.PutUint16(b[18:], uint16(93+len(header)))
		return b
	}
	for _, x := range []struct {
		name   string
		change func(b []byte) []byte
		taken  bool
		want   inthdr.Reason
	}{
		{"another namespace", func(b []byte) []byte { b[option+5]++; return b }, false, inthdr.ReasonNone},
		{"another option", func(b []byte) []byte { b[option] = 0x1e; return b }, false, inthdr.ReasonNone},
		{"an unknown type of IOAM", func(b []byte) []byte { b[option+3] = 5; return b }, false, inthdr.ReasonNone},
		{"option beyond the header", func(b []byte) []byte { b[option+1]++; return b }, false, inthdr.ReasonIOAMOptions},
		{"foreign option beyond the header", func(b []byte) []byte { b[option+1]++; b[option+5]++; return b }, false, inthdr.ReasonNone},
		{"jumbo option", func(b []byte) []byte { return longer(b, 60, []byte{17, 0, 0xc2, 4, 0, 1, 0, 0}) }, false, inthdr.ReasonIOAMOptions},
		{"AH behind it", func(b []byte) []byte { return longer(b, 51, make([]byte, 8)) }, false, inthdr.ReasonIOAMAuthenticated},
		{"first fragment", func(b []byte) []byte { return longer(b, 44, []byte{17, 0, 0, 1, 0, 0, 0, 1}) }, false, inthdr.ReasonFragment},
		{"later fragment", func(b []byte) []byte { return longer(b, 44, []byte{17, 0, 1, 0, 0, 0, 0, 1}) }, false, inthdr.ReasonNone},
		{"a fragment that is whole", func(b []byte) []byte { return longer(b, 44, []byte{17, 0, 0, 0, 0, 0, 0, 1}) }, true, inthdr.ReasonNone},
		{"64 options in front", func(b []byte) []byte {
			many := []byte{17, 16}
			for range 64 {
				many = append(many, 0x1e, 0)
			}
			many = append(many, 1, 4, 0, 0, 0, 0)
			out := append(append(bytes.Clone(b[:hop]), many...), b[hop:]...)
			out[hop], out[20] = 0, 60
			binary.BigEndian.PutUint16(out[18:], uint16(93+len(many)))
			return out
		}, false, inthdr.ReasonIOAMOptions},
		{"headers of more than 2,048 bytes", func(b []byte) []byte {
			h := make([]byte, 2048)
			h[1] = 255
			for at := 2; at < len(h); at += 256 {
				h[at], h[at+1] = 1, uint8(min(254, len(h)-at-2))
			}
			return longer(b, 60, h)
		}, false, inthdr.ReasonIOAMOptions},
		{"node length", func(b []byte) []byte { b[option+6] ^= 8; return b }, true, inthdr.ReasonIOAMLength},
		{"trace type", func(b []byte) []byte { b[option+9] = 0x40; return b }, true, inthdr.ReasonIOAMLength},
		{"reserved bit of the type", func(b []byte) []byte { b[option+10] |= 1; return b }, true, inthdr.ReasonIOAMLength},
		{"no type", func(b []byte) []byte { b[option+6], b[option+8] = 0, 0; return b }, true, inthdr.ReasonIOAMLength},
		{"option too short", func(b []byte) []byte { b[option+1] = 6; b[option+8], b[option+9] = 1, 66; return b }, true, inthdr.ReasonIOAMLength},
		{"remaining length", func(b []byte) []byte { b[option+7] = 17; return b }, true, inthdr.ReasonIOAMRemaining},
		{"half a node", func(b []byte) []byte { b[option+7] = 9; return b }, true, inthdr.ReasonStack},
		{"snapshot", func(b []byte) []byte { b[option+10] = 2; return b }, true, inthdr.ReasonIOAMSnapshot},
		{"edge to edge", func(b []byte) []byte {
			b[option+3], b[option+6] = 3, 0xf0
			b[option+1], b[option+24], b[option+25] = 22, 1, 50
			return b
		}, true, inthdr.ReasonIOAMEdge},
		{"proof of transit", func(b []byte) []byte { b[option+3] = 2; return b }, true, inthdr.ReasonNone},
		{"no room", func(b []byte) []byte { b[option+6] |= 4; return b }, true, inthdr.ReasonNone},
	} {
		b := x.change(bytes.Clone(good))
		was := bytes.Clone(b)
		got, i := stripped(t, ioamLocator(), b, 0)
		if got != nil != x.taken || i.Reason != x.want || !bytes.Equal(b, was) {
			t.Errorf("%s: reason %v, want %v; stripped %x", x.name, i.Reason, x.want, got)
		}
		if want := append(bytes.Clone(good[:54]), good[54+80:]...); x.taken && x.name != "a fragment that is whole" && !bytes.Equal(got[54:], want[54:]) {
			t.Errorf("%s: stripped %x", x.name, got)
		}
	}
}

// TestOptionsBesideIOAM: those that stay keep their bytes, their order and their alignment, whatever padding there was.
func TestOptionsBesideIOAM(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 2))
	p := ioamLocator()
	for n := range cases / 4 {
		header, ours := []byte{17, 0}, 0
		for range r.IntN(12) {
			switch r.IntN(4) {
			case 0:
				header = append(header, make([]byte, r.IntN(4))...)
			case 1:
				header = append(header, append([]byte{1, 3}, make([]byte, 3)...)...)
			case 2:
				data := make([]byte, r.IntN(9))
				header = append(append(header, 0x1e, uint8(len(data))), data...)
			default:
				ours++
				header = append(header, 0x11, 10, 0, uint8(r.IntN(5)), 0, 7, 8, 0, 0x80, 0, 0, 0)
			}
		}
		for len(header)%8 != 0 {
			header = append(header, 0)
		}
		header[1] = uint8(len(header)/8 - 1)
		frame := append(append(must(t, fromLinux[:54*2]), header...), must(t, fromLinux[134*2:])...)
		binary.BigEndian.PutUint16(frame[18:], uint16(len(frame)-54))
		got, i := stripped(t, p, frame, 0)
		if ours == 0 {
			if got != nil {
				t.Fatalf("case %d: %x is taken as IOAM", n, header)
			}
			continue
		}
		before := staying(header)
		if got == nil || len(before) == 0 != (got[20] == 17) {
			t.Fatalf("case %d: %x, reason %v: %x", n, header, i.Reason, got)
		}
		if len(before) == 0 {
			continue
		}
		left := got[54 : 54+8+8*int(got[55])]
		after := staying(left)
		if left[0] != 17 || len(before) != len(after) || int(binary.BigEndian.Uint16(got[18:])) != len(got)-54 || !bytes.Equal(got[54+len(left):], frame[54+len(header):]) {
			t.Fatalf("case %d: %x became %x", n, header, left)
		}
		for k := range before {
			if before[k].at%8 != after[k].at%8 || !bytes.Equal(before[k].bytes, after[k].bytes) {
				t.Fatalf("case %d: option %d of %x in %x", n, k, header, left)
			}
		}
	}
}

type option struct {
	at    int
	bytes []byte
}

// staying are the options of a header that are neither padding nor IOAM.
func staying(h []byte) (all []option) {
	for at := 2; at < len(h); {
		n := 1
		if h[at] != 0 {
			n = 2 + int(h[at+1])
		}
		if h[at] == 0x1e {
			all = append(all, option{at, h[at : at+n]})
		}
		at += n
	}
	return all
}

func must(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzStripIOAM: whatever arrives, a packet that is not taken is not touched, and one that is loses what its headers say, and
// has no IOAM any more.
func FuzzStripIOAM(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 60 {
		orig, s, hops := intgen.RandomIOAM(r)
		if b, err := s.Insert(orig, hops); err == nil {
			f.Add(b)
		}
	}
	f.Add(must(&testing.T{}, fromLinux))
	p := ioamLocator()
	f.Fuzz(func(t *testing.T, frame []byte) {
		got, i := stripped(t, p, frame, 0)
		if got == nil {
			return
		}
		if len(got) != len(frame)-int(i.Removed) || i.Removed > i.End-i.Start || i.Removed == 0 || i.Removed%8 != 0 {
			t.Fatalf("%d bytes of %d are left; %+v", len(got), len(frame), i)
		}
		if h := p.Hops(frame, &i); h.Info.Hops != i.Hops || h.Info.StackLen != h.Info.Hops*h.Info.HopLen {
			t.Fatalf("%d bytes of %d hops, want %d", h.Info.StackLen, h.Info.Hops, i.Hops)
		}
		if i.Depth > 0 {
			return
		}
		var l packet.Layers
		if packet.Parse(got, len(got), &l) != packet.OK {
			t.Fatalf("left is no packet: %x of %x", got, frame)
		}
		var again inthdr.Info
		if r := p.Locate(got, &l, &again); r != inthdr.NotINT {
			t.Fatalf("left is IOAM again: %x of %x", got, frame)
		}
	})
}
