package spool

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/netip"
	"testing"

	"intsink/exporters/collect/streams"
	"intsink/exporters/ipfix/message"
	"intsink/internal/checksum"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// seal returns an entry of that kind whose packet is ip, with a sound trailer and checksum.
func seal(kind Kind, ip []byte) []byte {
	b := make([]byte, packetHeaderLen, 200)
	b = append(b, ip...)
	trailer := make([]byte, trailerLen-4)
	trailer[22] = byte(kind)
	binary.BigEndian.PutUint32(trailer[24:], trailerMagic)
	b = append(b, trailer...)
	binary.LittleEndian.PutUint32(b[8:], uint32(len(b)+4-packetHeaderLen))
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// TestEntriesOfAnyContent: entries with a sound checksum, but packets that are too short or of another
// protocol, are corrupt; the shortest sound ones are read.
func TestEntriesOfAnyContent(t *testing.T) {
	ip := func(first byte, n int) []byte {
		b := make([]byte, n)
		if n > 0 {
			b[0] = first
		}
		return b
	}
	for _, c := range []struct {
		name  string
		kind  Kind
		first byte
		least int // bytes of the shortest packet that is read; 0: none
	}{
		{"IPv4 note", Note, 0x45, 20},
		{"IPv4 report", Report, 0x45, 28},
		{"IPv6 note", Note, 0x60, 40},
		{"IPv6 report", Report, 0x60, 48},
		{"IPv4 with options", Note, 0x46, 0},
		{"IPv6 of a traffic class", Note, 0x61, 0},
		{"neither", Report, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n := range 60 {
				b := seal(c.kind, ip(c.first, n))
				e, size, err := readEntry(b)
				sound := c.least > 0 && n >= c.least
				if (err == nil) != sound || !sound && err != errCorrupt || sound && (size != len(b) || len(e.Payload) != n-c.least) {
					t.Errorf("a packet of %d bytes: %v, %d bytes, payload of %d", n, err, size, len(e.Payload))
				}
			}
		})
	}
}

// TestEntryLengths: a length that no entry can have is corrupt at once; one that it can have makes the
// reader want more bytes.
func TestEntryLengths(t *testing.T) {
	for _, c := range []struct {
		length uint32
		want   error
	}{
		{0, errCorrupt}, {1, errCorrupt}, {trailerLen - 1, errCorrupt}, {20 + trailerLen - 1, errCorrupt}, {20 + trailerLen, errTorn},
		{maxEntry - packetHeaderLen, errTorn}, {maxEntry - packetHeaderLen + 1, errCorrupt}, {1<<32 - 1, errCorrupt},
	} {
		b := make([]byte, packetHeaderLen)
		binary.LittleEndian.PutUint32(b[8:], c.length)
		if _, _, err := readEntry(b); err != c.want {
			t.Errorf("%d bytes: %v, want %v", c.length, err, c.want)
		}
	}
}

// TestLongestEntry: the largest UDP payload over IPv6 fits into an entry, and no longer one is needed.
func TestLongestEntry(t *testing.T) {
	e := Entry{From: netip.MustParseAddrPort("[::1]:1"), To: netip.MustParseAddrPort("[::2]:2"), Payload: make([]byte, 65527)}
	b := appendEntry(nil, &e)
	if got, n, err := readEntry(b); err != nil || n != len(b) || len(got.Payload) != 65527 {
		t.Errorf("%v, %d of %d bytes", err, n, len(b))
	}
}

// TestSegmentIsACapture: gopacket reads a segment as pcap with times in nanoseconds, and the packets in
// it are sound IP and UDP packets.
func TestSegmentIsACapture(t *testing.T) {
	note := Entry{Kind: Note, Received: 5, From: netip.AddrPortFrom(sink.Addr(), 0), To: netip.AddrPortFrom(collector.Addr(), 0), Payload: []byte("{}")}
	six := Entry{Received: 1<<32*1e9 - 1, From: netip.MustParseAddrPort("[2001:db8::1]:49152"), To: netip.MustParseAddrPort("[2001:db8::2]:8555"), Payload: []byte{1, 2, 3}}
	bound := packet(8)
	bound.To = netip.MustParseAddrPort("[::]:8555") // the socket got an IPv4 packet
	mapped := packet(9)
	mapped.From, mapped.To = netip.MustParseAddrPort("[::ffff:192.0.2.1]:49152"), netip.MustParseAddrPort("[::ffff:192.0.2.10]:8555")
	entries := []Entry{packet(7), six, note, bound, mapped}
	b := appendFileHeader(nil)
	for i := range entries {
		b = appendEntry(b, &entries[i])
	}
	if zone := b[8:16]; !bytes.Equal(zone, make([]byte, 8)) { // times are in UTC
		t.Errorf("time zone and accuracy %x", zone)
	}
	r, err := pcapgo.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if r.Snaplen() != snapLen || r.LinkType() != layers.LinkTypeRaw {
		t.Errorf("%d bytes a packet at most, link type %v", r.Snaplen(), r.LinkType())
	}
	for i, want := range entries {
		t.Run(fmt.Sprint("packet ", i), func(t *testing.T) {
			b, ci, err := r.ReadPacketData()
			if err != nil {
				t.Fatal(err)
			}
			if ci.Timestamp.UnixNano() != want.Received || ci.CaptureLength != len(b) || ci.Length != len(b) {
				t.Errorf("%v, want %d ns", ci, want.Received)
			}
			wantPacket(t, b, &want)
		})
	}
}

// wantPacket fails the test unless the trailer's packet in b has the addresses, ports and payload of e.
func wantPacket(t *testing.T, b []byte, e *Entry) {
	t.Helper()
	p := gopacket.NewPacket(b, layers.LinkTypeRaw, gopacket.Default)
	protocol, length := layers.IPProtocol(protocolNote), len(e.Payload)
	if e.Kind == Report {
		protocol, length = layers.IPProtocolUDP, length+8
	}
	switch ip := p.NetworkLayer().(type) {
	case *layers.IPv4:
		dst := e.To.Addr().Unmap()
		if dst.Is6() {
			dst = netip.IPv4Unspecified()
		}
		sum := bytes.Clone(b[:20])
		sum[10], sum[11] = 0, 0
		if int(ip.Length) != 20+length || ip.TTL != 64 || ip.Protocol != protocol || ip.Flags != layers.IPv4DontFragment || ip.FragOffset != 0 || ip.Checksum != ^checksum.Sum(sum) {
			t.Errorf("%+v", ip)
		}
		if ip.SrcIP.String() != e.From.Addr().Unmap().String() || ip.DstIP.String() != dst.String() {
			t.Errorf("%v to %v", ip.SrcIP, ip.DstIP)
		}
	case *layers.IPv6:
		if int(ip.Length) != length || ip.HopLimit != 64 || ip.NextHeader != protocol || ip.TrafficClass != 0 || ip.FlowLabel != 0 {
			t.Errorf("%+v", ip)
		}
		if ip.SrcIP.String() != e.From.Addr().String() || ip.DstIP.String() != e.To.Addr().String() {
			t.Errorf("%v to %v", ip.SrcIP, ip.DstIP)
		}
	default:
		t.Fatalf("%v", p)
	}
	if e.Kind != Report {
		return
	}
	udp, ok := p.Layer(layers.LayerTypeUDP).(*layers.UDP)
	if !ok || uint16(udp.SrcPort) != e.From.Port() || uint16(udp.DstPort) != e.To.Port() || int(udp.Length) != length || udp.Checksum != 0 || !bytes.Equal(udp.Payload, e.Payload) {
		t.Errorf("%+v", udp)
	}
}

// TestSpanOfAMessage: what is lost with a data record of IPFIX is told by its own stream and number.
func TestSpanOfAMessage(t *testing.T) {
	exporter, here := netip.MustParseAddrPort("192.0.2.1:9070"), netip.MustParseAddrPort("192.0.2.9:4739")
	m := message.Append(nil, message.Header{Sequence: 7, Domain: 42}, &message.Wanted{{Enterprise: 4413, ID: 1}}, message.Data{[]byte("12345678")})
	b := appendEntry(nil, &Entry{Kind: Message, Received: 5, From: exporter, To: here, Start: 3, Sequence: 1<<32 + 7, Records: 1, Payload: m})
	e, size, err := readEntry(b)
	if err != nil || size != len(b) || e.Kind != Message || e.From != exporter || e.To != here {
		t.Fatalf("%+v, %v", e, err)
	}
	r, ok := span(&e)
	want := streams.Key{Exporter: exporter.Addr(), Collector: here, Node: 42, Version: streams.IPFIX}
	if !ok || r.Key != want || r.Start != 3 || r.First != 1<<32+7 || r.Last != 1<<32+7 || r.Packets != 1 || r.Unnumbered {
		t.Errorf("%+v, %v", r, ok)
	}
}
