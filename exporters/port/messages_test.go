package port

import (
	"bytes"
	"net"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// TestARPBytes: the packet format of RFC 826, padded to Ethernet's shortest
// frame.
func TestARPBytes(t *testing.T) {
	n := &neighbor{mac: ours, source: addr("192.0.2.1")}
	want := unhex(t, `
		ffffffffffff 020000000001 0806
		0001 0800 06 04 0001
		020000000001 c0000201
		000000000000 c00002fe`)
	if got := arpFrom(n, arpRequest, MAC{}, "192.0.2.254"); len(got) != 60 ||
		!bytes.Equal(got[:len(want)], want) || !bytes.Equal(got[len(want):], make([]byte, 60-len(want))) {
		t.Errorf("request\n%x, want\n%x", got, want)
	}
	n.vlan = 100
	want = unhex(t, `
		0200000000fe 020000000001 8100 0064 0806
		0001 0800 06 04 0002
		020000000001 c0000201
		0200000000fe c00002fe`)
	if got := arpFrom(n, arpReply, theirs, "192.0.2.254"); len(got) != 60 || !bytes.Equal(got[:len(want)], want) {
		t.Errorf("reply\n%x, want\n%x", got, want)
	}
	used := bytes.Repeat([]byte{0xee}, 100) // a buffer that had another packet
	if n := n.putARP(used, arpReply, theirs, addr("192.0.2.254")); n != 60 || !bytes.Equal(used[:len(want)], want) || !bytes.Equal(used[len(want):60], make([]byte, 60-len(want))) {
		t.Errorf("in a used buffer: %d bytes, %x", n, used)
	}
}

// TestSolicitationBytes: RFC 4861, section 4.3, and RFC 4291, section 2.7.1, for
// the multicast address.
func TestSolicitationBytes(t *testing.T) {
	n := &neighbor{mac: ours, source: addr("2001:db8::1")}
	got := solicits(n, "2001:db8::1234:5678")
	want := unhex(t, `
		3333ff345678 020000000001 86dd
		60000000 0020 3a ff
		20010db8000000000000000000000001 ff0200000000000000000001ff345678
		87 00 0000 00000000 20010db8000000000000000012345678
		01 01 020000000001`)
	copy(want[56:58], got[56:58]) // the checksum is gopacket's to judge, below
	if !bytes.Equal(got, want) {
		t.Errorf("\n%x, want\n%x", got, want)
	}
	used := bytes.Repeat([]byte{0xee}, 100) // a buffer that had another packet
	if n := n.putSolicitation(used, addr("2001:db8::1234:5678")); !bytes.Equal(used[:n], got) {
		t.Errorf("in a used buffer\n%x, want\n%x", used[:n], got)
	}
}

// TestNDChecksums: gopacket computes the same checksum over the same message.
func TestNDChecksums(t *testing.T) {
	n := &neighbor{mac: ours, vlan: 7, source: addr("2001:db8::1")}
	for name, frame := range map[string][]byte{
		"solicitation":                        solicits(n, "2001:db8::fe"),
		"advertisement":                       adverts(n, "2001:db8::fe", theirs),
		"advertisement to who has no address": adverts(n, "::", theirs),
	} {
		p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
		if p.ErrorLayer() != nil {
			t.Fatalf("%s: %v", name, p.ErrorLayer().Error())
		}
		ip, icmp := p.Layer(layers.LayerTypeIPv6).(*layers.IPv6), p.Layer(layers.LayerTypeICMPv6).(*layers.ICMPv6)
		if ip.HopLimit != 255 || p.Layer(layers.LayerTypeDot1Q).(*layers.Dot1Q).VLANIdentifier != 7 {
			t.Errorf("%s: hop limit %d", name, ip.HopLimit)
		}
		icmp.SetNetworkLayerForChecksum(ip)
		body := gopacket.NewSerializeBuffer()
		payload := gopacket.Payload(icmp.Payload)
		if err := gopacket.SerializeLayers(body, gopacket.SerializeOptions{ComputeChecksums: true}, icmp, payload); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(body.Bytes(), frame[18+40:]) {
			t.Errorf("%s: %x, gopacket says %x", name, frame[18+40:], body.Bytes())
		}
	}
}

func TestAdvertisementFlags(t *testing.T) {
	n := &neighbor{mac: ours, source: addr("2001:db8::1")}
	for _, c := range []struct {
		from  string
		flags byte
		dst   string
		mac   string
	}{
		{"2001:db8::fe", 0x60, "2001:db8::fe", "02:00:00:00:00:fe"},
		{"::", 0x20, "ff02::1", "33:33:00:00:00:01"}, // RFC 4861, section 7.2.4
	} {
		f := adverts(n, c.from, theirs)
		p := gopacket.NewPacket(f, layers.LayerTypeEthernet, gopacket.Default)
		na, ok := p.Layer(layers.LayerTypeICMPv6NeighborAdvertisement).(*layers.ICMPv6NeighborAdvertisement)
		if !ok || na.Flags != c.flags || !na.TargetAddress.Equal(net.ParseIP("2001:db8::1")) {
			t.Fatalf("to %s: %+v", c.from, na)
		}
		if len(na.Options) != 1 || na.Options[0].Type != layers.ICMPv6OptTargetAddress || !bytes.Equal(na.Options[0].Data, ours[:]) {
			t.Errorf("to %s: options %v", c.from, na.Options)
		}
		if dst := p.NetworkLayer().NetworkFlow().Dst().String(); dst != c.dst || net.HardwareAddr(f[:6]).String() != c.mac {
			t.Errorf("to %s: goes to %s, %x", c.from, dst, f[:6])
		}
	}
}

// TestParseReadsWhatIsWritten, and nothing that is cut or changed anywhere that
// matters.
func TestParseReadsWhatIsWritten(t *testing.T) {
	for _, vlan := range []uint16{0, 100} {
		c4, c6 := four(), six()
		c4.VLAN, c6.VLAN = vlan, vlan
		g4, g6 := gatewayOf(c4, theirs), gatewayOf(c6, theirs)
		for _, x := range []struct {
			name  string
			frame []byte
			want  message
		}{
			{"ARP request", arpFrom(g4, arpRequest, MAC{}, "192.0.2.1"),
				message{question: true, from: c4.Gateway, mac: theirs, target: c4.Source, tells: true, override: true}},
			{"ARP reply", arpFrom(g4, arpReply, ours, "192.0.2.1"),
				message{from: c4.Gateway, mac: theirs, target: c4.Source, tells: true, override: true}},
			{"solicitation", solicits(g6, "2001:db8::1"),
				message{question: true, from: c6.Gateway, mac: theirs, target: c6.Source, tells: true}},
			{"advertisement", adverts(g6, "2001:db8::1", ours),
				message{from: c6.Gateway, mac: theirs, target: c6.Source, tells: true, override: true}},
		} {
			x.want.vlan = vlan
			got, ok := parse(x.frame)
			if !ok || got != x.want {
				t.Errorf("%s, VLAN %d: %+v %v, want %+v", x.name, vlan, got, ok, x.want)
			}
			end := len(bytes.TrimRight(x.frame, "\x00"))
			for n := range end {
				if _, ok := parse(x.frame[:n]); ok {
					t.Errorf("%s, VLAN %d: taken when cut to %d bytes", x.name, vlan, n)
				}
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	g4, g6 := gatewayOf(four(), theirs), gatewayOf(six(), theirs)
	arp, na := arpFrom(g4, arpReply, ours, "192.0.2.1"), adverts(g6, "2001:db8::1", ours)
	for _, c := range []struct {
		name  string
		frame []byte
		at    int
		value byte
	}{
		{"ARP for other hardware", arp, 15, 6},
		{"ARP for another protocol", arp, 16, 0x86},
		{"ARP with other lengths", arp, 18, 8},
		{"RARP", arp, 21, 3},
		{"a group as an ARP sender", arp, 22, 0x03},
		{"ND through a router", na, 21, 254}, // RFC 4861, section 7.1.1
		{"ND with a code", na, 55, 1},
		{"ND with a wrong checksum", na, 57, na[57] ^ 1},
		{"not ICMPv6", na, 20, 17},
		{"IPv4 in IPv6's place", na, 14, 0x45},
		{"a length beyond the frame", na, 19, 0x28},
		{"a length too short", na, 19, 0x10},
	} {
		f := bytes.Clone(c.frame)
		f[c.at] = c.value
		if m, ok := parse(f); ok {
			t.Errorf("%s: taken for %+v", c.name, m)
		}
	}
	for rest := range 8 { // of an option that is cut short
		var m message
		if ok := m.options(make([]byte, rest), optTargetMAC); ok != (rest == 0) {
			t.Errorf("%d bytes of an option are taken: %v", rest, ok)
		}
	}
	// Options: a length of 0, and one beyond the message (RFC 4861, section 4.6).
	for _, length := range []byte{0, 2, 255} {
		f := bytes.Clone(na)
		f[79] = length
		f[56], f[57] = 0, 0
		sum := icmpChecksum(f[22:54], f[54:])
		f[56], f[57] = byte(sum>>8), byte(sum)
		if m, ok := parse(f); ok {
			t.Errorf("an option of length %d: taken for %+v", length, m)
		}
	}
}

// TestUnpaddedARP: a frame without Ethernet's padding, as a virtual port gives it, is read; one byte less
// is not.
func TestUnpaddedARP(t *testing.T) {
	b := arpFrom(gatewayOf(four(), theirs), arpReply, ours, "192.0.2.1")[:42]
	if m, ok := parse(b); !ok || m.mac != theirs {
		t.Errorf("%v, %+v", ok, m)
	}
	if m, ok := parse(b[:41]); ok {
		t.Errorf("taken for %+v", m)
	}
}

// TestOptions: a MAC address is in an option of the type that the message has, of eight bytes; others
// are passed over (RFC 4861, section 4.6.1).
func TestOptions(t *testing.T) {
	option := func(kind, length byte) []byte {
		return append([]byte{kind, length}, bytes.Repeat([]byte{kind}, 8*int(length)-2)...)
	}
	const mtu = 5
	for _, c := range []struct {
		name  string
		b     []byte
		tells bool
	}{
		{"the only one", option(optTargetMAC, 1), true},
		{"behind others", append(append(option(mtu, 1), option(optSourceMAC, 1)...), option(optTargetMAC, 1)...), true},
		{"of the other type", option(optSourceMAC, 1), false},
		{"too long", option(optTargetMAC, 2), false},
		{"none", nil, false},
	} {
		var m message
		ok := m.options(c.b, optTargetMAC)
		want := MAC{}
		if c.tells {
			want = MAC(bytes.Repeat([]byte{optTargetMAC}, 6))
		}
		if !ok || m.tells != c.tells || m.mac != want {
			t.Errorf("%s: %v, %+v", c.name, ok, m)
		}
	}
}

func FuzzParse(f *testing.F) {
	c4, c6 := four(), six()
	f.Add(arpFrom(gatewayOf(c4, theirs), arpReply, ours, "192.0.2.1"))
	f.Add(adverts(gatewayOf(c6, theirs), "2001:db8::1", ours))
	c4.VLAN = 100
	f.Add(arpFrom(gatewayOf(c4, theirs), arpRequest, ours, "192.0.2.1"))
	f.Add(solicits(gatewayOf(c6, theirs), "2001:db8::1"))
	p := New(ours)
	p.Exporter(four())
	p.Exporter(six())
	q := newQueue(f)
	s := p.Station(0, q, q.pool, false)
	now := int64(0)
	f.Fuzz(func(t *testing.T, frame []byte) {
		before := bytes.Clone(frame)
		now += 1e9
		s.Hear(frame, now)
		if !bytes.Equal(frame, before) {
			t.Fatal("the frame was changed")
		}
		m, ok := parse(frame)
		if ok && (!m.mac.host() || !m.from.IsValid() || !m.target.IsValid() || m.vlan > 4095) {
			t.Fatalf("%+v", m)
		}
		if len(q.sent()) > 1 {
			t.Fatal("more than one answer")
		}
	})
}
