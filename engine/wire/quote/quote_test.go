package quote_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/quote"
	"intsink/internal/checksum"
)

// quoter finds INT of every marking of engine/wire/intgen: that of m.
func quoter(m intgen.Marking, before bool) *quote.Quoter {
	port, gre, marker := uint16(5000), uint16(0x88b6), uint64(0x0102030405060708)
	c := map[intgen.Marking]inthdr.Config{
		intgen.ByPort: {UDPPort: &port}, intgen.ByNewUDP: {UDPPort: &port},
		intgen.ByDSCP: {DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}}, intgen.ByProbeMarker: {ProbeMarker: &marker},
		intgen.ByGRE: {GREProtocol: &gre}, intgen.ByVXLANGPE: {VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}},
		intgen.ByGeneve: {Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}},
		intgen.ByIFA:    {Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}}},
		intgen.ByIOAM:   {Formats: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{123}, Ends: [][16]byte{intgen.RandomEnd.As16()}}}},
	}[m]
	c.Version2, c.BeforeOptions, c.Cut = true, before, true
	return &quote.Quoter{Locator: inthdr.NewLocator(c)}
}

// wrap makes an ICMP error of a kind and code with that MTU, which quotes a packet. With units of an extension's length
// field an extension structure follows the quote.
func wrap(version, kind, code byte, mtu uint16, quoted []byte, extension bool) []byte {
	icmp := []byte{kind, code, 0, 0, 0, 0, byte(mtu >> 8), byte(mtu)}
	icmp = append(icmp, quoted...)
	if extension {
		if version == 4 {
			icmp[5] = byte(len(quoted) / 4)
		} else {
			icmp[4] = byte(len(quoted) / 8)
		}
		icmp = append(icmp, 0x20, 0, 0xdf, 0xff, 1, 2, 3, 4)
	}
	f := append(bytes.Repeat([]byte{2}, 12), 0x08, 0x00)
	if version == 6 {
		f[12], f[13] = 0x86, 0xdd
		f = append(f, 0x60, 0, 0, 0, byte(len(icmp)>>8), byte(len(icmp)), 58, 64)
		f = append(f, bytes.Repeat([]byte{0xfd, 9}, 16)...)
	} else {
		f = append(f, 0x45, 0, byte((len(icmp)+20)>>8), byte(len(icmp)+20), 0, 1, 0, 0, 64, 1, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2)
		binary.BigEndian.PutUint16(f[24:], ^checksum.Sum(f[14:]))
	}
	at := len(f)
	f = append(f, icmp...)
	binary.BigEndian.PutUint16(f[at+2:], ^sumOf(f, version))
	return f
}

// sumOf is the sum of the ICMP message of an error, with the pseudo header of ICMPv6.
func sumOf(f []byte, version byte) uint16 {
	if version == 4 {
		return checksum.Sum(f[34:])
	}
	pseudo := binary.BigEndian.AppendUint32(bytes.Clone(f[22:54]), uint32(len(f)-54))
	return checksum.AddOnes(checksum.Sum(append(pseudo, 0, 0, 0, 58)), checksum.Sum(f[54:]))
}

// restore is what becomes of the error f.
func restore(t *testing.T, q *quote.Quoter, f []byte) ([]byte, quote.Result) {
	t.Helper()
	var l packet.Layers
	if packet.Parse(f, len(f), &l) != packet.OK || !quote.IsError(f, &l) {
		t.Fatalf("no ICMP error: %x", f)
	}
	b := append(bytes.Clone(f), 0xa5)
	head, r := q.Restore(b[:len(f):len(f)], &l)
	if b[len(f)] != 0xa5 {
		t.Fatal("written behind the frame")
	}
	return b[head:len(f)], r
}

// TestRestoreUndoesInsert: errors that quote random packets with INT of every marking, in any length, quote the packet
// as it was sent in the rest of that length, or are as they came.
func TestRestoreUndoesInsert(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	results := map[quote.Result]int{}
	for n := range 100_000 {
		orig, s, hops := intgen.Random(r)
		if n%4 == 0 {
			orig, s, hops = intgen.RandomIFA(r)
		}
		marked, err := s.Insert(orig, hops)
		if err != nil {
			continue
		}
		var was, is packet.Layers
		if packet.Parse(orig, len(orig), &was) != packet.OK || packet.Parse(marked, len(marked), &is) != packet.OK || is.Fragment != packet.NotFragment {
			continue
		}
		sent, seen := orig[was.L3:was.End], marked[is.L3:is.End]
		gone := len(seen) - len(sent)
		quoted := seen[:min(len(seen), 1000, 28+r.IntN(len(seen)))]
		version, extension := is.IPVersion, r.IntN(2) == 0
		if extension {
			quoted = seen[:min(len(seen), 1000)]
			quoted = append(bytes.Clone(quoted), make([]byte, max(-len(quoted)&7, 128-len(quoted)))...)
		}
		kind, code := byte(3), byte(4)
		if version == 6 {
			kind, code = 2, 0
			if extension {
				kind = 3
			}
		} else if extension {
			kind, code = 11, 0
		}
		f := wrap(version, kind, code, 1400, quoted, extension)
		got, result := restore(t, quoter(s.Marking, s.BeforeOptions), f)
		results[result]++
		if result != quote.Restored {
			if !bytes.Equal(got, f) {
				t.Fatalf("case %d, %v: changed", n, result)
			}
			if len(quoted) >= min(len(seen), 900) && len(seen) < 900 && !s.GREInserted {
				t.Fatalf("case %d, %+v: %v of a whole quote\nquoted %x", n, s, result, quoted)
			}
			continue
		}
		mtu := uint16(1400)
		if kind == 3 && version == 4 || kind == 2 {
			mtu = uint16(max(1400-gone, map[byte]int{4: 68, 6: 1280}[version]))
		}
		left := bytes.Clone(quoted[:0:0])
		left = append(left, sent[:min(len(sent), max(len(quoted)-gone, inFront(s, &is, seen)))]...)
		if extension {
			size := max(len(quoted)-gone, 0)
			left = append(left, make([]byte, max(size-len(left), 0))...)
			unit := map[byte]int{4: 4, 6: 8}[version]
			left = append(left, make([]byte, max(-len(left)&(unit-1), 128-len(left)))...)
		}
		if want := wrap(version, kind, code, mtu, left, extension); !bytes.Equal(got, want) {
			t.Fatalf("case %d, marking %d, extension %v, %d bytes quoted, %d of INT:\nseen %x\ngot  %x\nwant %x", n, s.Marking, extension, len(quoted), gone, seen, got, want)
		}
		f[len(f)-1] ^= 1 // a checksum that is wrong stays wrong
		if got, result := restore(t, quoter(s.Marking, s.BeforeOptions), f); result == quote.Restored && sumOf(got, version)%0xffff == 0 {
			t.Fatalf("case %d: a wrong checksum was made right", n)
		}
	}
	for r := range quote.NumResults {
		if results[r] == 0 && r != quote.Malformed {
			t.Errorf("no error was %v: %v", r, results)
		}
	}
	t.Log(results)
}

// inFront is how much of the original packet stands in front of a stack of IFA; 0: it is no IFA.
func inFront(s *intgen.Source, is *packet.Layers, seen []byte) int {
	if s.Marking != intgen.ByIFA {
		return 0
	}
	l4 := 8
	switch at := is.L4 - is.L3; seen[at+1] {
	case packet.ProtoTCP:
		l4 = int(seen[at+4+12]>>4) * 4
	case packet.ProtoGRE:
		l4 = packet.GREHeaderLen(binary.BigEndian.Uint16(seen[at+4:]))
	}
	return int(is.L4-is.L3) + l4
}

// TestGolden: bytes of one error, as a router sends it.
func TestGolden(t *testing.T) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	in := unhex("4500003e00014000401126ac0a0000010a010001" + "03e81388002a36e8" + "140707d0" + "20000407f000000000000000" + "0000000200010002000003e80100000a" + "6869")
	out := unhex("4500001e00014000401126cc0a0000010a010001" + "03e807d0000a")
	for _, c := range []struct {
		name  string
		reach int
		want  quote.Result
	}{{"whole", 62, quote.Restored}, {"INT", 60, quote.Restored}, {"within INT", 59, quote.Short}, {"of RFC 792", 28, quote.Short}, {"no ports", 22, quote.NumResults}} {
		t.Run(c.name, func(t *testing.T) {
			f := wrap(4, 3, 4, 1400, in[:c.reach], false)
			got, r := restore(t, quoter(intgen.ByPort, false), f)
			if r != c.want || r != quote.Restored && !bytes.Equal(got, f) {
				t.Fatalf("result %d, want %d: %x", r, c.want, got)
			}
			if r == quote.Restored && (!bytes.HasPrefix(got[42:], out) || sumOf(got, 4) != 0xffff || got[41]|got[40] == 0 || binary.BigEndian.Uint16(got[40:]) != 1368) {
				t.Errorf("got %x\nwant the quote %x and an MTU of 1368", got, out)
			}
		})
	}
	in[28] = 0xf4 // a type that does not exist
	if _, r := restore(t, quoter(intgen.ByPort, false), wrap(4, 11, 0, 0, in, false)); r != quote.Malformed {
		t.Errorf("result %d of unsound INT", r)
	}
}

// TestRestoreUndoesIOAM: errors that quote whole packets with IOAM quote them as they were sent.
func TestRestoreUndoesIOAM(t *testing.T) {
	r, restored := rand.New(rand.NewPCG(61, 3)), 0
	q := quoter(intgen.ByIOAM, false)
	for range 5000 {
		orig, s, hops := intgen.RandomIOAM(r)
		marked, err := s.Insert(orig, hops)
		var was, is packet.Layers
		if err != nil || packet.Parse(orig, len(orig), &was) != packet.OK || was.IPVersion != 6 || packet.Parse(marked, len(marked), &is) != packet.OK {
			continue
		}
		sent, seen := orig[was.L3:was.End], marked[is.L3:is.End]
		want := wrap(6, 2, 0, uint16(9000-len(seen)+len(sent)), sent, false)
		if got, result := restore(t, q, wrap(6, 2, 0, 9000, seen, false)); result != quote.Restored || !bytes.Equal(got, want) {
			t.Fatalf("%v: %x\nbecame %x\nwant   %x", result, seen, got, want)
		}
		restored++
	}
	if restored < 2000 {
		t.Errorf("only %d quotes", restored)
	}
}

// FuzzRestore: whatever an error quotes, nothing outside of it is touched, and lengths and checksum agree where it changes.
func FuzzRestore(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		orig, s, hops := intgen.Random(r)
		if marked, err := s.Insert(orig, hops); err == nil {
			var l packet.Layers
			if packet.Parse(marked, len(marked), &l) == packet.OK {
				f.Add(marked[l.L3:], uint8(s.Marking), uint8(3), l.IPVersion == 6, true)
			}
		}
	}
	f.Fuzz(func(t *testing.T, quoted []byte, marking, kind uint8, six, extension bool) {
		version, kinds := byte(4), []byte{3, 4, 5, 11, 12}
		if six {
			version, kinds = 6, []byte{1, 2, 3, 4}
		}
		quoted = quoted[:min(len(quoted), 2000)&^7]
		frame := wrap(version, kinds[int(kind)%len(kinds)], 0, 0, quoted, extension)
		got, result := restore(t, quoter(intgen.Marking(marking%8), marking&8 != 0), frame)
		switch {
		case result != quote.Restored && !bytes.Equal(got, frame):
			t.Error("changed")
		case result == quote.Restored && (sumOf(got, version)%0xffff != 0 || packet.Parse(got, len(got), new(packet.Layers)) != packet.OK):
			t.Errorf("lengths or checksum do not agree: %x", got)
		}
	})
}

// TestEveryResultHasAName, that of a packet without INT included.
func TestEveryResultHasAName(t *testing.T) {
	for r := range quote.NumResults + 1 {
		if r.String() == "" {
			t.Errorf("result %d has no name", r)
		}
	}
}
