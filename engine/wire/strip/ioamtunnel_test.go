package strip_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

// Parts of a packet that a router put into IPv6 with IOAM (RFC 9486): outer header, hop-by-hop options, and what is
// inside, IPv4 and IPv6.
const (
	encapsulated = "60000000 0057 00 3e db010000000000000000000000000001 db030000000000000000000000000002"
	encapTrace   = "29050100 312a0000 007b2000 f0000000" + "3e000066 00150016 6b0a9fb8 000c60e4" + "3f000065 000b000c 6b0a9fb8 000c60d7"
	insideIPv6   = "60000000 000f 11 40 2001000000000000000000000000000a 2001000000000000000000000000000b 0fa01389 000f0000 68656c6c6f2121"
	insideIPv4   = "45000023 0001 0000 40 11 66c5 0a000001 0a000002 0fa01389 000f0000 68656c6c6f2121"
)

func endsAtB(t *testing.T) *inthdr.Locator {
	c := ioam.Config{Namespaces: []uint16{123}, Ends: [][16]byte{[16]byte(must(t, unspaced("db030000000000000000000000000002")))}}
	return inthdr.NewLocator(inthdr.Config{Formats: inthdr.Formats{IOAM: &c}, Fragments: true})
}

// encap is an encapsulated packet behind that link header, with the EtherType.
func encap(t *testing.T, link, inside string) []byte {
	trace := encapTrace
	if inside[0] == '4' {
		trace = "04" + trace[2:]
	}
	b := must(t, unspaced(link+"86dd"+encapsulated+trace+inside))
	at := len(unspaced(link))/2 + 2
	binary.BigEndian.PutUint16(b[at+4:], uint16(len(b)-at-40))
	return b
}

// TestTunnelOfIOAMThatEndsHere: the outer header goes with all of its options, the inner packet gets the EtherType.
func TestTunnelOfIOAMThatEndsHere(t *testing.T) {
	const macs, tags = "020000000002 020000000001", "8100 0007 8100 0009"
	for _, x := range []struct{ link, inside, want string }{
		{macs, insideIPv6, macs + "86dd" + insideIPv6},
		{macs, insideIPv4, macs + "0800" + insideIPv4},
		{macs + tags, insideIPv4, macs + tags + "0800" + insideIPv4},
	} {
		got, i := stripped(t, endsAtB(t), encap(t, x.link, x.inside), 9)
		if want := must(t, unspaced(x.want)); !bytes.Equal(got, want) || i.Hops != 2 || i.Reason != 0 {
			t.Errorf("%s: %+v\ngot  %x\nwant %x", x.inside, i, got, want)
		}
	}
}

// TestTunnelsOfIOAMThatStay: what is no tunnel that ends here loses its IOAM alone; what cannot be ended is not touched, for its
// reason.
func TestTunnelsOfIOAMThatStay(t *testing.T) {
	const macs = "020000000002 020000000001"
	const hop, inner = 54, 54 + 48
	behind := func(kind uint8, header ...byte) func(b []byte) []byte { // another header behind hop-by-hop
		return func(b []byte) []byte {
			header[0], b[hop] = b[hop], kind
			b = slices.Insert(b, inner, header...)
			binary.BigEndian.PutUint16(b[18:], uint16(len(b)-54))
			return b
		}
	}
	set := func(at int, values ...byte) func(b []byte) []byte {
		return func(b []byte) []byte { copy(b[at:], values); return b }
	}
	for _, x := range []struct {
		name   string
		inside string
		change func(b []byte) []byte
		gone   int // bytes
		want   inthdr.Reason
	}{
		{"it ends here", insideIPv6, set(0), 88, 0},
		{"another destination", insideIPv6, set(53, 3), 48, 0},
		{"segments are left", insideIPv6, behind(43, 0, 0, 4, 1, 0, 0, 0, 0), 48, 0},
		{"the last segment", insideIPv6, behind(43, 0, 0, 4, 0, 0, 0, 0, 0), 96, 0},
		{"destination options behind", insideIPv4, behind(60, 0, 0, 0x1e, 4, 1, 2, 3, 4), 96, 0},
		{"a packet to the node itself", insideIPv6, set(hop, 17), 48, 0},
		{"no next header", insideIPv6, set(hop, 59), 48, 0},
		{"ESP", insideIPv6, set(hop, 50), 48, 0},
		{"AH", insideIPv6, behind(51, 0, 0, 0, 0, 0, 0, 0, 0), 0, inthdr.ReasonIOAMAuthenticated},
		{"a first fragment", insideIPv6, behind(44, 0, 0, 0, 1, 0, 0, 0, 7), 0, inthdr.ReasonFragment},
		{"a later fragment", insideIPv6, behind(44, 0, 0, 0, 8, 0, 0, 0, 7), 0, 0},
		{"a fragment that is whole", insideIPv6, behind(44, 0, 0, 0, 0, 0, 0, 0, 7), 96, 0},
		{"another namespace", insideIPv6, set(hop+9, 124), 0, 0},
		{"IPv4 that says IPv6", insideIPv4, set(hop, 41), 0, inthdr.ReasonIOAMTunnel},
		{"IPv6 that says IPv4", insideIPv6, set(hop, 4), 0, inthdr.ReasonIOAMTunnel},
		{"longer inside than outside", insideIPv6, set(inner+5, 16), 0, inthdr.ReasonIOAMTunnel},
		{"longer IPv4 inside", insideIPv4, set(inner+3, 0x24), 0, inthdr.ReasonIOAMTunnel},
		{"half a header inside", insideIPv6, func(b []byte) []byte { b[19] = 48 + 39; return b[:inner+39] }, 0, inthdr.ReasonIOAMTunnel},
		{"nothing inside", insideIPv6, func(b []byte) []byte { b[19] = 48; return b[:inner] }, 0, inthdr.ReasonIOAMTunnel},
		{"bytes behind the packet inside", insideIPv6, set(inner+5, 14), 88, 0},
		{"a node length that cannot be", insideIPv6, set(hop+10, 0x28), 88, inthdr.ReasonIOAMLength},
	} {
		b := x.change(encap(t, macs, x.inside))
		was := bytes.Clone(b)
		got, i := stripped(t, endsAtB(t), b, 0)
		if len(was)-len(got) != x.gone && (got != nil || x.gone != 0) || i.Reason != x.want || !bytes.Equal(b, was) {
			t.Errorf("%s: reason %v, want %v; %d bytes went, want %d", x.name, i.Reason, x.want, len(was)-len(got), x.gone)
		}
		if got != nil && i.Inserted && !bytes.Equal(got[14:], was[len(was)-len(got)+14:]) {
			t.Errorf("%s: left %x of %x", x.name, got, was)
		}
	}
	labelled := encap(t, macs+"8847 00010140", insideIPv4)
	labelled = slices.Delete(labelled, 18, 20) // behind labels there is no EtherType
	if got, i := stripped(t, endsAtB(t), labelled, 0); got != nil || i.Reason != inthdr.ReasonIOAMTunnel {
		t.Errorf("IPv4 behind labels: %v, %x", i.Reason, got)
	}
	inVXLAN, err := (&intgen.Tunnel{Encap: intgen.IPIP, Src: intgen.RandomEnd, Dst: intgen.RandomEnd}).Wrap(encap(t, macs, insideIPv6))
	if err != nil {
		t.Fatal(err)
	}
	if got, i := stripped(t, endsAtB(t), inVXLAN, 0); got != nil || i.Reason != inthdr.ReasonIOAMTunnel {
		t.Errorf("inside of a tunnel: %v, %x", i.Reason, got)
	}
}

// TestNothingEndsByDefault: without an end, a tunnel loses its IOAM and stays.
func TestNothingEndsByDefault(t *testing.T) {
	b := encap(t, "020000000002 020000000001", insideIPv4)
	got, i := stripped(t, ioamLocator(), b, 0)
	want := append(bytes.Clone(b[:54]), b[54+48:]...)
	want[19], want[20] = byte(len(want)-54), 4
	if i.Inserted || !bytes.Equal(got, want) {
		t.Errorf("%x", got)
	}
}

// FuzzIOAMTunnel: whatever arrives, what leaves is the end of what came, behind its link header, or what it was without IOAM.
func FuzzIOAMTunnel(f *testing.F) {
	for _, inside := range []string{insideIPv6, insideIPv4, strings.Repeat("00", 40)} {
		f.Add(encap(&testing.T{}, "020000000002 020000000001", inside))
		f.Add(encap(&testing.T{}, "020000000002 020000000001 81000005", inside))
	}
	p := endsAtB(&testing.T{})
	f.Fuzz(func(t *testing.T, frame []byte) {
		var l, left packet.Layers
		var i inthdr.Info
		var o inthdr.Outers
		if packet.Parse(frame, len(frame), &l) != packet.OK || p.Find(frame, &l, &i, &o) != inthdr.Sound || !i.Inserted {
			return
		}
		b := bytes.Clone(frame)
		if i.Start != l.L3 || i.End != l.L4 || i.Removed != l.L4-l.L3 || i.Depth > 0 {
			t.Fatalf("%+v", i)
		}
		got := b[strip.Strip(b, &l, &i, &o):]
		if packet.Parse(got, len(got), &left) != packet.OK || left.L3 != l.L3 || left.EtherType != i.Next && left.EtherType != l.EtherType {
			t.Fatalf("left is no packet: %x of %x", got, frame)
		}
		same := bytes.Clone(frame[l.L4:])
		if same[0]>>4 == 4 { // ECN and the checksum that covers it
			same[1], same[10], same[11] = got[left.L3+1]&3|same[1]&^3, got[left.L3+10], got[left.L3+11]
		} else {
			same[1] = same[1]&^0x30 | got[left.L3+1]&0x30
		}
		if !bytes.Equal(got[left.L3:], same) {
			t.Fatalf("left %x of %x", got, frame)
		}
	})
}
