package packet

import (
	"encoding/hex"
	"strings"
	"testing"
)

// unhex turns fixtures with spaces into bytes.
func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	macs    = "020000000002 020000000001 "
	udp     = "0400 1f40 000c 0000 deadbeef"
	tcp24   = "0400 0050 00000001 00000000 6011 ffff 0000 0000 02040005" // data offset 6, FIN and ACK
	addrs4  = "0a000001 0a000002 "
	addrs6  = "20010db8000000000000000000000001 20010db8000000000000000000000002 "
	ipv4UDP = "4500 0020 0001 0000 4011 0000 " + addrs4
)

var fixtures = []struct {
	name, frame string
	status      Status
	want        Layers
}{
	{"ipv4 udp", macs + "0800 " + ipv4UDP + udp, OK,
		Layers{L3: 14, L4: 34, Payload: 42, End: 46, ProtoAt: 23, EtherType: 0x800, IPVersion: 4, Proto: 17, SrcPort: 1024, DstPort: 8000}},
	{"ethernet padding", macs + "0800 " + ipv4UDP + udp + "000000000000", OK,
		Layers{L3: 14, L4: 34, Payload: 42, End: 46, ProtoAt: 23, EtherType: 0x800, IPVersion: 4, Proto: 17, SrcPort: 1024, DstPort: 8000}},
	{"qinq and dscp", macs + "88a8 0064 8100 0007 0800 45b8 0020 0001 0000 4011 0000 " + addrs4 + udp, OK,
		Layers{L3: 22, L4: 42, Payload: 50, End: 54, ProtoAt: 31, EtherType: 0x800, VLAN: 100, VLANs: 2, IPVersion: 4, Proto: 17, DSCP: 46, SrcPort: 1024, DstPort: 8000}},
	{"ipv4 options and tcp options", macs + "0800 4600 0030 0001 0000 4006 0000 " + addrs4 + "01010101" + tcp24, OK,
		Layers{L3: 14, L4: 38, Payload: 62, End: 62, ProtoAt: 23, EtherType: 0x800, IPVersion: 4, Proto: 6, TCPFlags: 0x11, SrcPort: 1024, DstPort: 80}},
	{"first fragment", macs + "0800 4500 0020 0001 2000 4011 0000 " + addrs4 + udp, OK,
		Layers{L3: 14, L4: 34, Payload: 42, End: 46, ProtoAt: 23, EtherType: 0x800, IPVersion: 4, Proto: 17, Fragment: FirstFragment, SrcPort: 1024, DstPort: 8000}},
	{"later fragment", macs + "0800 4500 0020 0001 0004 4011 0000 " + addrs4 + udp, OK,
		Layers{L3: 14, L4: 34, End: 46, ProtoAt: 23, EtherType: 0x800, IPVersion: 4, Proto: 17, Fragment: LaterFragment}},
	{"ipv6 with hop-by-hop and an atomic fragment", macs + "86dd 62800000 001c 0040 " + addrs6 + "2c00 010400000000 1100 0000 00000001 " + udp, OK,
		Layers{L3: 14, L4: 70, Payload: 78, End: 82, ProtoAt: 62, EtherType: 0x86dd, IPVersion: 6, Proto: 17, DSCP: 10, SrcPort: 1024, DstPort: 8000}},
	{"arp", macs + "0806 0001080006040001", NotIP, Layers{}},
	{"total length beyond the frame", macs + "0800 4500 0021 0001 0000 4011 0000 " + addrs4 + udp, Truncated, Layers{}},
	{"header length below 20", macs + "0800 4400 0020 0001 0000 4011 0000 " + addrs4 + udp, Truncated, Layers{}},
	{"eight tags", macs + strings.Repeat("8100 0001", 8) + "0800 " + ipv4UDP + udp, OK,
		Layers{L3: 46, L4: 66, Payload: 74, End: 78, ProtoAt: 55, EtherType: 0x800, VLAN: 1, VLANs: 8, IPVersion: 4, Proto: 17, SrcPort: 1024, DstPort: 8000}},
	{"nine tags", macs + strings.Repeat("8100 0001", 9) + "0800 " + ipv4UDP + udp, TooDeep, Layers{}},
	{"eight labels", macs + "8847 " + strings.Repeat("00001040", 7) + "00001140" + ipv4UDP + udp, OK,
		Layers{L3: 46, L4: 66, Payload: 74, End: 78, ProtoAt: 55, EtherType: 0x8847, IPVersion: 4, Proto: 17, SrcPort: 1024, DstPort: 8000}},
	{"nine labels", macs + "8847 " + strings.Repeat("00001040", 8) + "00001140" + ipv4UDP + udp, TooDeep, Layers{}},
	{"fifteen extension headers", macs + "86dd 60000000 0084 0040 " + addrs6 + strings.Repeat("0000010400000000", 14) + "1100010400000000" + udp, OK,
		Layers{L3: 14, L4: 174, Payload: 182, End: 186, ProtoAt: 166, EtherType: 0x86dd, IPVersion: 6, Proto: 17, SrcPort: 1024, DstPort: 8000}},
	{"sixteen extension headers", macs + "86dd 60000000 008c 0040 " + addrs6 + strings.Repeat("0000010400000000", 15) + "1100010400000000" + udp, TooDeep, Layers{}},
	{"version 5 in an ipv4 frame", macs + "0800 5500 0020 0001 0000 4011 0000 " + addrs4 + udp, Truncated, Layers{}},
}

func TestParse(t *testing.T) {
	for _, f := range fixtures {
		b := unhex(t, f.frame)
		var l Layers
		if s := Parse(b, len(b), &l); s != f.status || s == OK && l != f.want {
			t.Errorf("%s: status %d, want %d\ngot  %+v\nwant %+v", f.name, s, f.status, l, f.want)
		}
	}
}

// TestTruncatedAnywhere: a frame cut at any byte is never OK, and a first segment
// cut at any byte within the headers asks for more.
func TestTruncatedAnywhere(t *testing.T) {
	for _, f := range fixtures {
		if f.status != OK {
			continue
		}
		b := unhex(t, f.frame)
		for n := range int(f.want.End) {
			var l Layers
			if s := Parse(b[:n:n], n, &l); s == OK {
				t.Errorf("%s cut at %d: OK", f.name, n)
			}
			if s := Parse(b[:n:n], len(b), &l); n < int(f.want.L4) && s != NeedMore {
				t.Errorf("%s, first segment of %d bytes: status %d, want NeedMore", f.name, n, s)
			}
		}
	}
}

// FuzzParse: offsets are in order and within the packet, whatever arrives.
func FuzzParse(f *testing.F) {
	for _, x := range fixtures {
		f.Add(unhex(f, x.frame), uint16(0))
	}
	f.Fuzz(func(t *testing.T, b []byte, more uint16) {
		var l Layers
		pktLen := len(b) + int(more)
		if Parse(b[:len(b):len(b)], pktLen, &l) != OK {
			return
		}
		if l.L3 < 14 || l.L4 < l.L3+20 || l.End < l.L4 || int(l.End) > pktLen || l.ProtoAt >= l.L4 {
			t.Fatalf("%+v in %d of %d bytes", l, len(b), pktLen)
		}
		if l.Payload != 0 && (l.Payload < l.L4+8 || l.Payload > l.End || int(l.Payload) > len(b)) {
			t.Fatalf("payload %+v in %d of %d bytes", l, len(b), pktLen)
		}
	})
}

// TestECN: the field of the outermost IP header, behind tags; none where there is no such header, or not all of it.
func TestECN(t *testing.T) {
	macs := strings.Repeat("00", 12)
	for name, c := range map[string]struct {
		frame string
		want  uint8
	}{
		"IPv4":             {macs + "08004503", 3},
		"IPv4 with a DSCP": {macs + "080045b9", 1},
		"IPv6":             {macs + "86dd6030", 3},
		"IPv6 and a label": {macs + "86dd6bef", 2},
		"a tag":            {macs + "8100000708004503", 3},
		"tags and IPv6":    {macs + "88a80007810000" + "0786dd6020", 2},
		"MPLS":             {macs + "8847ffffffff", NotECT},
		"cut in a tag":     {macs + "81000007", NotECT},
		"cut":              {macs + "080045", NotECT},
		"nothing":          {"", NotECT},
		"tags alone":       {macs + strings.Repeat("81000007", 40), NotECT},
	} {
		b, err := hex.DecodeString(c.frame)
		if got := ECN(b); err != nil || got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
