package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/internal/checksum"
)

// The packet of a switch of Transparent Security with one hop, whose shim Length
// counts the shim, and what its host sent.
const (
	securityIn = "02000000000202000000000108004500004500010000401166a50a0000010a00000203e8022b00310000" +
		"18070011 2000010a 80005453 80004000 00000064 0000000001010000 04d216a0000d0000 68656c6c6f"
	securityOut = "0200000000020200000000010800 4500002100010000401166c90a0000010a000002 04d216a0000d0000 68656c6c6f"
)

// security takes INT as Transparent Security has it.
func security(inclusive bool) inthdr.Config {
	port, d := uint16(555), inthdr.Domain{ID: 0x5453}
	d.Bits[0].Length, d.Bits[0].SourceOnly = 8, true
	return inthdr.Config{UDPPort: &port, Version2: true, ShimInclusive: inclusive, Domains: []inthdr.Domain{d}}
}

// TestTransparentSecuritySwitch: its packets come out whole where shim_length says how
// they count, and stay as they are where it does not.
func TestTransparentSecuritySwitch(t *testing.T) {
	in, want := unhex(t, securityIn), unhex(t, securityOut)
	binary.BigEndian.PutUint16(want[24:], 0)
	binary.BigEndian.PutUint16(want[24:], ^checksum.Sum(want[14:34]))
	out, l := through(t, security(true), in)
	// Its DS Instruction 0x8000 asks for the device id; the fourth word is DS Flags.
	expectBoth(t, out, l, want, inthdr.ReasonNone)
	out, l = through(t, security(false), in)
	expectBoth(t, out, l, in, inthdr.ReasonOriginal)
}

// TestShimsThatCountThemselves: IPv4 and IPv6, UDP and TCP, one to three hops.
func TestShimsThatCountThemselves(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for _, proto := range []uint8{intgen.UDP, intgen.TCP} {
			for hops := 1; hops <= 3; hops++ {
				t.Run(fmt.Sprintf("IPv6 %v, protocol %d, %d hops", v6, proto, hops), func(t *testing.T) {
					f := intgen.Flow{
						SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Proto: proto, SrcPort: 1234, DstPort: 5792,
						Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"),
					}
					shim := 14 + 20 + 8
					if v6 {
						f.Src, f.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
						shim += 20
					}
					orig := f.Frame(40, 1)
					s := intgen.Source{
						Marking: intgen.ByNewUDP, UDPPort: 555, Bitmap: 0x8000, MaxHops: 10, DomainID: 0x5453, DSInstruction: 0x8000,
						SourceOnly: []byte{0, 0, 0, 0, 1, 1, 0, 0},
					}
					marked, err := s.Insert(bytes.Clone(orig), []intgen.Hop{{NodeID: 234}, {NodeID: 123}, {NodeID: 100}}[:hops])
					if err != nil {
						t.Fatal(err)
					}
					out, l := through(t, security(false), marked)
					expectBoth(t, out, l, orig, inthdr.ReasonNone)
					out, l = through(t, security(true), marked) // a word too few is no packet either
					if proto == intgen.UDP {
						expectBoth(t, out, l, marked, inthdr.ReasonOriginal)
					}
					marked[shim+1]++
					out, l = through(t, security(true), marked)
					expectBoth(t, out, l, orig, inthdr.ReasonNone)
					out, l = through(t, security(false), marked)
					if proto == intgen.UDP {
						expectBoth(t, out, l, marked, inthdr.ReasonOriginal)
					}
				})
			}
		}
	}
}

// TestInclusiveLengthOfEveryShim: all shims of 2.x are read that way, one behind the
// other as well; Geneve has none.
func TestInclusiveLengthOfEveryShim(t *testing.T) {
	forEachEncapsulation(t, func(t *testing.T, e *enclosed) {
		orig, marked := e.frames(t, false)
		c := e.int
		c.Version2 = true
		countShims(t, inthdr.NewLocator(c), marked)
		c.ShimInclusive = true
		out, l := through(t, c, marked)
		expectBoth(t, out, l, orig, inthdr.ReasonNone)
	})
}

// countShims makes the Length of every shim in f count the shim. The innermost checksum
// follows; of those around it, which cover both, that changes nothing.
func countShims(t *testing.T, p *inthdr.Locator, f []byte) {
	t.Helper()
	var l packet.Layers
	var i inthdr.Info
	var o inthdr.Outers
	if packet.Parse(f, len(f), &l) != packet.OK || p.Find(f, &l, &i, &o) != inthdr.Sound {
		t.Fatalf("no INT: %x", f)
	}
	if i.Marking == inthdr.ByGeneve {
		return
	}
	over := append([]packet.Layers{l}, o[:i.Depth]...)
	for at := int(i.Shim); at < int(i.End); {
		next := at + 4 + 4*int(f[at+1])
		f[at+1]++
		for _, l := range over {
			sum := int(l.L4) + 6
			if l.Proto == packet.ProtoGRE && f[l.L4]&0x80 != 0 {
				sum = int(l.L4) + 4
			} else if l.Proto != packet.ProtoUDP {
				continue
			}
			if v := binary.BigEndian.Uint16(f[sum:]); v != 0 {
				binary.BigEndian.PutUint16(f[sum:], v-1)
				break
			}
		}
		at = next
	}
}

// TestPacketThatNPT2WouldNotLeave: of packets alike but for their original, those
// whose original is none stay as they are.
func TestPacketThatNPT2WouldNotLeave(t *testing.T) {
	port := uint16(5000)
	for _, c := range []struct {
		name  string
		proto byte
		good  string
		bad   []string
	}{
		{"UDP", 17, "04d216a0000d0000 68656c6c6f", []string{"04d216a0000c0000 68656c6c6f", "04d216a0000e0000 68656c6c6f", "16a0000d0000 68656c6c6f0000"}},
		{
			"TCP", 6, "04d20050 00000001 00000000 6010ffff 00000000 01010101 6869",
			[]string{"04d20050 00000001 00000000 4010ffff 00000000 01010101 6869", "04d20050 00000001 00000000 7010ffff 00000000 01010101 6869"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			frame := func(original string) []byte {
				shim := []byte{0x18, 4, 0, c.proto, 0x20, 0, 1, 6, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
				return ipv4(0, 17, udp(port, append(shim, unhex(t, original)...)))
			}
			b := newBed(t, func(r *Rules) { r.INT = inthdr.Config{UDPPort: &port, Version2: true} })
			var want [][]byte
			for _, bad := range c.bad {
				for _, original := range []string{c.good, bad, c.good, bad} {
					b.network.RX = [][]byte{frame(original)}
					b.Poll()
					if original == bad {
						want = append(want, frame(bad))
					} else {
						want = append(want, ipv4(0, c.proto, unhex(t, c.good)))
					}
				}
			}
			for k, w := range want {
				if !bytes.Equal(b.host.TX[k], w) {
					t.Errorf("packet %d left as %x\nwant %x", k, b.host.TX[k], w)
				}
			}
			b.step(2e6)
			if l := b.Snapshot().Links[0]; l.Malformed[inthdr.ReasonOriginal] != uint64(len(want)/2) || l.INT[inthdr.MD] != uint64(len(want)/2) {
				t.Errorf("malformed %v, INT %v", l.Malformed, l.INT)
			}
			b.balance()
		})
	}
}
