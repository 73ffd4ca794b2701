package report

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"intsink/engine/wire/report/reporttest"
)

// plainSum is RFC 1071 as written down there: 16 bits at a time.
func plainSum(b []byte) uint16 {
	var s uint32
	for i := range b {
		s += uint32(b[i]) << (8 * (1 - i%2))
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// TestUDPFrameDSCP: DSCP and TTL stand where they belong, ECN stays 0, and the checksum is right.
func TestUDPFrameDSCP(t *testing.T) {
	f := UDPFrame{Src: netip.MustParseAddrPort("192.0.2.1:1"), Dst: netip.MustParseAddrPort("192.0.2.10:2"), DSCP: 46, TTL: 3}
	frame := make([]byte, f.HeaderLen())
	f.Put(frame)
	if ip := frame[14:34]; ip[1] != 46<<2 || ip[8] != 3 || plainSum(ip) != 0xffff {
		t.Errorf("% x", ip)
	}
	f.Src, f.Dst = netip.MustParseAddrPort("[2001:db8::1]:1"), netip.MustParseAddrPort("[2001:db8::a]:2")
	frame = make([]byte, f.HeaderLen())
	f.Put(frame)
	if ip := frame[14:54]; ip[0] != 0x6b || ip[1] != 0x80 || ip[7] != 3 {
		t.Errorf("% x", ip)
	}
}

func TestUDPFrame(t *testing.T) {
	f := UDPFrame{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2},
		Src: netip.MustParseAddrPort("192.0.2.1:49152"), Dst: netip.MustParseAddrPort("192.0.2.10:8555"),
	}
	v6 := f
	v6.Src, v6.Dst = netip.MustParseAddrPort("[2001:db8::1]:49152"), netip.MustParseAddrPort("[2001:db8::a]:8555")
	mapped := f
	mapped.Dst = netip.MustParseAddrPort("[::ffff:192.0.2.10]:8555")
	tagged, tagged6 := f, v6
	tagged.VLAN, tagged6.VLAN = 100, 100
	const ip4 = `45 00 %04x 0000 4000 40 11 %04x c0000201 c000020a`
	const ip6 = `60000000 %04x 11 40 20010db8000000000000000000000001 20010db800000000000000000000000a`
	for _, c := range []struct {
		name   string
		f      UDPFrame
		header int
		link   string
		v6     bool
	}{
		{"IPv4", f, 42, `020000000002 020000000001 0800`, false},
		{"IPv4 mapped", mapped, 42, `020000000002 020000000001 0800`, false},
		{"IPv4 tagged", tagged, 46, `020000000002 020000000001 8100 0064 0800`, false},
		{"IPv6", v6, 62, `020000000002 020000000001 86dd`, true},
		{"IPv6 tagged", tagged6, 66, `020000000002 020000000001 8100 0064 86dd`, true},
	} {
		for _, payload := range []int{0, 1, 8, 77, 1400} {
			t.Run(fmt.Sprintf("%s %d", c.name, payload), func(t *testing.T) {
				if c.f.HeaderLen() != c.header {
					t.Fatalf("HeaderLen %d, want %d", c.f.HeaderLen(), c.header)
				}
				frame := bytes.Repeat([]byte{0xa5}, c.header+payload)
				c.f.Put(frame)
				if !bytes.Equal(frame[c.header:], bytes.Repeat([]byte{0xa5}, payload)) {
					t.Error("the payload changed")
				}
				link := reporttest.Hex(t, c.link)
				if !bytes.HasPrefix(frame, link) {
					t.Errorf("link header %x, want %x", frame[:len(link)], link)
				}
				ip := frame[len(link):]
				want, addresses := reporttest.Hex(t, fmt.Sprintf(ip6, payload+8)), ip[8:min(40, len(ip))]
				if !c.v6 {
					want = reporttest.Hex(t, fmt.Sprintf(ip4, payload+28, binary.BigEndian.Uint16(ip[10:])))
					addresses = ip[12:20]
					if plainSum(ip[:20]) != 0xffff {
						t.Error("IPv4 header checksum")
					}
				}
				if !bytes.HasPrefix(ip, want) {
					t.Errorf("IP header %x, want %x", ip[:len(want)], want)
				}
				udp := ip[len(want):]
				if want := reporttest.Hex(t, fmt.Sprintf("c000 216b %04x", payload+8)); !bytes.HasPrefix(udp, want) {
					t.Errorf("UDP header %x, want %x", udp[:6], want)
				}
				pseudo := append(bytes.Clone(addresses), 0, 17, byte(len(udp)>>8), byte(len(udp)))
				if plainSum(append(pseudo, udp...)) != 0xffff {
					t.Error("UDP checksum")
				}
			})
		}
	}
}

// A computed checksum of zero is sent as ones.
func TestUDPChecksumIsNeverZero(t *testing.T) {
	f := UDPFrame{Src: netip.MustParseAddrPort("192.0.2.1:1"), Dst: netip.MustParseAddrPort("192.0.2.2:2")}
	frame := make([]byte, f.HeaderLen()+2)
	f.Put(frame)
	copy(frame[42:], frame[40:42]) // adding the checksum itself makes the sum all ones
	f.Put(frame)
	if got := frame[40:42]; got[0] != 0xff || got[1] != 0xff {
		t.Errorf("checksum %x", got)
	}
}

func TestUDPFrameOddInput(t *testing.T) {
	var f UDPFrame
	f.Put(make([]byte, f.HeaderLen()))
	f.Put(make([]byte, f.HeaderLen()-1))
	f.Dst = netip.MustParseAddrPort("192.0.2.2:2") // no source
	f.Put(make([]byte, f.HeaderLen()))
	f.Src = netip.MustParseAddrPort("[2001:db8::1]:1")
	f.Put(make([]byte, f.HeaderLen()))
	f.Put(nil)
}
