package afpacket

import (
	"bytes"
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

type joinedCase struct {
	name           string
	frame          []byte
	kind           uint8
	l4, checksumAt int
	data           int
}

// joinedCases are frames of n segments with size bytes of payload, the last of 7.
func joinedCases(size, n int) []joinedCase {
	payload := make([]byte, size*(n-1)+7)
	for i := range payload {
		payload[i] = byte(i*i>>3 + i)
	}
	tcp := append([]byte("\x03\xe8\x00\x50\xff\xff\xff\x00\x00\x00\x00\x01\x80\x99\x01\x00\x00\x00\x00\x00"), make([]byte, 12)...)
	udp := []byte("\x03\xe8\x07\xd0\x00\x00\x00\x00")
	return []joinedCase{
		{"TCP over IPv4", ipv4(unix.IPPROTO_TCP, 0x4000, append(tcp, payload...)), gsoTCP4 | gsoECN, 34, 16, 66},
		{"TCP over IPv6", ipv6(unix.IPPROTO_TCP, append(tcp, payload...)), gsoTCP6, 54, 16, 86},
		{"UDP over IPv4", ipv4(unix.IPPROTO_UDP, 0, append(udp, payload...)), gsoUDP, 34, 6, 42},
		{"UDP over IPv6", ipv6(unix.IPPROTO_UDP, append(udp, payload...)), gsoUDP, 54, 6, 62},
		{"TCP in a VLAN", tagged(ipv4(unix.IPPROTO_TCP, 0x4000, append(tcp, payload...)), 0x8100, 5), gsoTCP4, 38, 16, 70},
	}
}

// checkSegments: payload in order, lengths and checksums right, the fields that count
// counting, the flags where they belong.
func checkSegments(t testing.TB, got [][]byte, c *joinedCase, size int) {
	t.Helper()
	var payload []byte
	for i, f := range got {
		if transportSum(t, f) != 0xffff {
			t.Errorf("segment %d: checksum", i)
		}
		payload = append(payload, f[c.data:]...)
		first, last := i == 0, i == len(got)-1
		if !last && len(f) != c.data+size {
			t.Errorf("segment %d of %d bytes", i, len(f))
		}
		ip := f[c.l4-20:]
		if binary.BigEndian.Uint16(f[c.l4-22:]) == unix.ETH_P_IP && binary.BigEndian.Uint16(ip[4:]) != 0x1234+uint16(i) {
			t.Errorf("segment %d: IPv4 id %#x", i, ip[4:6])
		}
		if c.kind == gsoUDP {
			if n := binary.BigEndian.Uint16(f[c.l4+4:]); int(n) != len(f)-c.l4 {
				t.Errorf("segment %d: UDP length %d of %d", i, n, len(f)-c.l4)
			}
			continue
		}
		flags, want := f[c.l4+13], byte(0x10)
		if first {
			want |= flagCWR
		}
		if last {
			want |= flagFIN | flagPSH
		}
		if seq := binary.BigEndian.Uint32(f[c.l4+4:]); seq != 0xffffff00+uint32(i*size) || flags != want {
			t.Errorf("segment %d: sequence number %#x, flags %#x, want %#x", i, seq, flags, want)
		}
	}
	if !bytes.Equal(payload, c.frame[c.data:]) {
		t.Errorf("%d bytes of payload, want those %d that were sent", len(payload), len(c.frame)-c.data)
	}
}

func cut(j *joined) (all [][]byte) {
	var head [maxHeaders]byte
	for j.more() {
		n, payload := j.next(&head)
		all = append(all, append(bytes.Clone(head[:n]), payload...))
	}
	return all
}

func TestCut(t *testing.T) {
	for _, c := range joinedCases(100, 9) {
		t.Run(c.name, func(t *testing.T) {
			var j joined
			if !j.begin(bytes.Clone(c.frame), c.kind, 100) {
				t.Fatal("refused")
			}
			checkSegments(t, cut(&j), &c, 100)
		})
	}
}

func TestCutRefuses(t *testing.T) {
	base := joinedCases(100, 3)
	with := func(i, at int, b ...byte) []byte {
		f := bytes.Clone(base[i].frame)
		copy(f[at:], b)
		return f
	}
	for name, c := range map[string]struct {
		frame []byte
		kind  uint8
		size  int
	}{
		"no size":               {base[0].frame, gsoTCP4, 0},
		"UDP said to be TCP":    {base[2].frame, gsoTCP4, 100},
		"TCP said to be UDP":    {base[0].frame, gsoUDP, 100},
		"UFO":                   {base[2].frame, 3, 100},
		"fragment":              {with(0, 20, 0x20, 0), gsoTCP4, 100},
		"tunnel":                {with(0, 23, 47), gsoTCP4, 100},
		"extension headers":     {with(1, 20, 0), gsoTCP6, 100},
		"short IPv4 header":     {with(0, 14, 0x44), gsoTCP4, 100},
		"IPv6 said to be IPv4":  {with(1, 12, 8, 0), gsoTCP4, 100},
		"short TCP header":      {with(0, 46, 0x40), gsoTCP4, 100},
		"TCP header beyond all": {with(0, 46, 0xf0)[:80], gsoTCP4, 100},
		"no payload":            {base[0].frame[:66], gsoTCP4, 100},
		"Ethernet only":         {base[0].frame[:14], gsoTCP4, 100},
		"less than that":        {base[0].frame[:9], gsoTCP4, 100},
		"ARP":                   {with(0, 12, 8, 6), gsoTCP4, 100},
	} {
		var j joined
		if j.begin(c.frame, c.kind, c.size) || j.more() {
			t.Errorf("%s: taken", name)
		}
	}
}

// FuzzCut: whatever the frame, its segments are no longer than told, and their payload
// is the frame's.
func FuzzCut(f *testing.F) {
	for _, c := range joinedCases(100, 3) {
		f.Add(c.frame, c.kind, uint16(100))
	}
	f.Fuzz(func(t *testing.T, frame []byte, kind uint8, size uint16) {
		var j joined
		if !j.begin(frame, kind, int(size)) {
			return
		}
		data, want := j.data, bytes.Clone(frame[j.data:])
		var payload []byte
		for _, s := range cut(&j) {
			if len(s) > data+int(size) || len(s) <= data {
				t.Fatalf("a segment of %d bytes", len(s))
			}
			payload = append(payload, s[data:]...)
		}
		if !bytes.Equal(payload, want) {
			t.Fatal("payload changed")
		}
	})
}

func TestCompleteStaysWithinThePacket(t *testing.T) {
	p := make([]byte, 20)
	if complete(p, 10, 9) || complete(p, 65535, 65535) || !complete(p, 10, 8) {
		t.Error("bounds")
	}
	if p = make([]byte, 20); !complete(p, 2, 6) || binary.NativeEndian.Uint16(p[8:]) != 0xffff {
		t.Errorf("of nothing: %x", p)
	}
	// UDP's zero would say that there is no checksum.
	p = make([]byte, 20)
	p[0], p[1] = 0xff, 0xff
	if !complete(p, 0, 6) || p[6] != 0xff || p[7] != 0xff {
		t.Errorf("UDP: %x", p)
	}
	p[6], p[7] = 0, 0
	if !complete(p, 0, 16) || p[16] != 0 || p[17] != 0 {
		t.Errorf("TCP: %x", p)
	}
}
