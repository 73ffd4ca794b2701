package afpacket

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
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

// vnet is the case's struct virtio_net_hdr.
func (c *joinedCase) vnet(size int) []byte {
	h := make([]byte, vnetHdrLen)
	h[vnetFlags], h[vnetType] = needsChecksum, c.kind
	for at, v := range map[int]int{vnetSize: size, vnetStart: c.l4, vnetOffset: c.checksumAt} {
		binary.NativeEndian.PutUint16(h[at:], uint16(v))
	}
	return h
}

// joinedCases are frames of n segments with size bytes of payload, the last of 7.
func joinedCases(size, n int) []joinedCase {
	payload := make([]byte, size*(n-1)+7)
	for i := range payload {
		payload[i] = byte(i*i>>3 + i)
	}
	tcp := append([]byte("\x03\xe8\x00\x50\xff\xff\xff\x00\x00\x00\x00\x01\x80\x99\x01\x00\x00\x00\x00\x00"), make([]byte, 12)...)
	udp := []byte("\x03\xe8\x07\xd0\x00\x00\x00\x00")
	all := []joinedCase{
		{"TCP over IPv4", ipv4(unix.IPPROTO_TCP, 0x4000, append(tcp, payload...)), gsoTCP4 | gsoECN, 34, 16, 66},
		{"TCP over IPv6", ipv6(unix.IPPROTO_TCP, append(tcp, payload...)), gsoTCP6, 54, 16, 86},
		{"UDP over IPv4", ipv4(unix.IPPROTO_UDP, 0, append(udp, payload...)), gsoUDP, 34, 6, 42},
		{"UDP over IPv6", ipv6(unix.IPPROTO_UDP, append(udp, payload...)), gsoUDP, 54, 6, 62},
		{"TCP in a VLAN", tagged(ipv4(unix.IPPROTO_TCP, 0x4000, append(tcp, payload...)), 0x8100, 5), gsoTCP4, 38, 16, 70},
	}
	for _, c := range all {
		protocol := map[int]int{16: unix.IPPROTO_TCP, 6: unix.IPPROTO_UDP}[c.checksumAt]
		summed(c.frame[c.l4:], strings.HasSuffix(c.name, "IPv6"), protocol, c.checksumAt, true)
	}
	return all
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
		if first || c.kind&gsoECN == 0 {
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
			if _, ok := j.begin(bytes.Clone(c.frame), c.vnet(100)); !ok {
				t.Fatal("refused")
			}
			checkSegments(t, cut(&j), &c, 100)
		})
	}
}

// TestCutAnyStack: whatever headers stand around the payload, the segments are those that are built
// one by one by the RFCs.
func TestCutAnyStack(t *testing.T) {
	for seed := range uint64(1000) {
		c := randomStacked(rand.New(rand.NewPCG(seed, 1)))
		var j joined
		if why, ok := j.begin(bytes.Clone(c.frame), c.vnet); !ok {
			t.Fatalf("seed %d:%s: refused: %v", seed, c.name, why)
		}
		if j.left != len(c.segments) {
			t.Fatalf("seed %d:%s: %d segments, want %d", seed, c.name, j.left, len(c.segments))
		}
		for i, got := range cut(&j) {
			if want := c.segments[i]; !bytes.Equal(got, want) {
				t.Fatalf("seed %d:%s: segment %d of %d\ngot  %x\nwant %x", seed, c.name, i, len(c.segments), got[:min(len(got), j.data)], want[:min(len(want), j.data)])
			}
		}
	}
}

// TestCutWithChecksums: frames that the kernel joined without a change to the first packet's
// checksum (rx-gro-list), and one that was not cut because it need not be.
func TestCutWithChecksums(t *testing.T) {
	for _, c := range joinedCases(100, 9) {
		vnet := c.vnet(100)
		vnet[vnetFlags], vnet[vnetStart], vnet[vnetOffset] = 0, 0, 0
		var j joined
		if _, ok := j.begin(bytes.Clone(c.frame), vnet); !ok {
			t.Fatal(c.name, "refused")
		}
		checkSegments(t, cut(&j), &c, 100)
		if _, ok := j.begin(bytes.Clone(c.frame), c.vnet(len(c.frame))); !ok {
			t.Fatal(c.name, "refused in one")
		}
		checkSegments(t, cut(&j), &c, len(c.frame))
	}
	ack := ipv4(unix.IPPROTO_TCP, 0, []byte("\x03\xe8\x00\x50\x00\x00\x00\x01\x00\x00\x00\x01\x50\x10\x01\x00\x00\x00\x00\x00"))
	summed(ack[34:], false, unix.IPPROTO_TCP, 16, true)
	c, j := joinedCase{kind: gsoTCP4, l4: 34, checksumAt: 16}, joined{}
	if _, ok := j.begin(bytes.Clone(ack), c.vnet(100)); !ok {
		t.Fatal("an acknowledgment is refused")
	}
	if got := cut(&j); len(got) != 1 || transportSum(t, got[0]) != 0xffff {
		t.Errorf("an acknowledgment: %x", got)
	}
}

func TestCutRefuses(t *testing.T) {
	base := joinedCases(100, 3)
	type change struct {
		at    int
		bytes string
	}
	for name, c := range map[string]struct {
		base, kind, size, length int
		change                   change
		want                     Uncut
	}{
		"no size":                {0, gsoTCP4, 0, -1, change{}, UncutHeaders},
		"UDP said to be TCP":     {2, gsoTCP4, 100, -1, change{}, UncutHeaders},
		"TCP said to be UDP":     {0, gsoUDP, 100, -1, change{}, UncutHeaders},
		"UFO":                    {2, 3, 100, -1, change{}, UncutKind},
		"fragment":               {0, gsoTCP4, 100, -1, change{20, "\x20\x00"}, UncutHeaders},
		"IPv6 fragment":          {1, gsoTCP6, 100, -1, change{20, "\x2c"}, UncutHeaders},
		"ESP":                    {0, gsoTCP4, 100, -1, change{23, "\x32"}, UncutHeaders},
		"extension headers, not": {1, gsoTCP6, 100, -1, change{20, "\x00"}, UncutHeaders},
		"short IPv4 header":      {0, gsoTCP4, 100, -1, change{14, "\x44"}, UncutHeaders},
		"short TCP header":       {0, gsoTCP4, 100, -1, change{46, "\x40"}, UncutHeaders},
		"TCP header beyond all":  {0, gsoTCP4, 100, 80, change{46, "\xf0"}, UncutHeaders},
		"length beyond all":      {0, gsoTCP4, 100, 80, change{}, UncutHeaders},
		"Ethernet only":          {0, gsoTCP4, 100, 14, change{}, UncutHeaders},
		"less than that":         {0, gsoTCP4, 100, 9, change{}, UncutHeaders},
		"segment of 64 KiB":      {0, gsoTCP4, 65500, -1, change{}, UncutHeaders},
	} {
		b := base[c.base]
		b.kind = uint8(c.kind)
		f := bytes.Clone(b.frame)
		copy(f[c.change.at:], c.change.bytes)
		if c.length >= 0 {
			f = f[:c.length]
		}
		var j joined
		if why, ok := j.begin(f, b.vnet(c.size)); ok || j.more() || why != c.want {
			t.Errorf("%s: taken, or refused for %v", name, why)
		}
	}
}

// TestSegmentsOfWhatIsLost: what cannot be cut is counted in packets.
func TestSegmentsOfWhatIsLost(t *testing.T) {
	for _, n := range []int{1, 2, 9, 44} {
		for _, c := range joinedCases(1448, n) {
			c.frame = append(c.frame, make([]byte, 1448-7)...) // a whole last one
			if got := segments(len(c.frame), c.vnet(1448)); got != uint64(n) {
				t.Errorf("%s: %d segments, want %d", c.name, got, n)
			}
		}
	}
	if got := segments(60, make([]byte, vnetHdrLen)); got != 1 {
		t.Errorf("%d segments of a packet", got)
	}
}

// FuzzCut: whatever the frame, its segments are no longer than told, and their payload
// is the frame's.
func FuzzCut(f *testing.F) {
	for _, c := range joinedCases(100, 3) {
		f.Add(c.frame, c.vnet(100))
	}
	for seed := range uint64(40) {
		c := randomStacked(rand.New(rand.NewPCG(seed, 2)))
		f.Add(c.frame, c.vnet)
	}
	f.Fuzz(func(t *testing.T, frame, vnet []byte) {
		var j joined
		if len(vnet) < vnetHdrLen {
			return
		}
		segments(len(frame), vnet)
		end := bytes.Clone(frame)
		if _, ok := j.begin(frame, vnet); !ok {
			return
		}
		data, size := j.data, j.size
		var payload []byte
		for _, s := range cut(&j) {
			if len(s) > data+size || len(s) < data {
				t.Fatalf("a segment of %d bytes", len(s))
			}
			payload = append(payload, s[data:]...)
		}
		if !bytes.HasSuffix(end, payload) || len(payload) != len(j.frame)-data {
			t.Fatal("payload changed")
		}
	})
}

// TestCompleteSCTP: RFC 9260, section 6.8, has a CRC32c where others have a sum.
func TestCompleteSCTP(t *testing.T) {
	p := []byte("\x03\xe8\x07\xd0\x11\x22\x33\x44\x00\x00\x00\x00\x00\x03\x00\x14\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	for _, before := range []string{"\x00\x00\x00\x00", "\x12\x34\x56\x78"} {
		copy(p[8:], before)
		if !complete(p, 0, 8) || string(p[8:12]) != "\x5f\x6e\x5e\x32" {
			t.Errorf("%x", p[8:12])
		}
	}
	if complete(p[:11], 0, 8) || complete(p, 21, 8) {
		t.Error("bounds")
	}
}

func TestCompleteStaysWithinThePacket(t *testing.T) {
	p := make([]byte, 20)
	if complete(p, 12, 7) || complete(p, 65535, 65535) || !complete(p, 12, 6) {
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
