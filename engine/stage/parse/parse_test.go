package parse_test

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/fast"
	"intsink/engine/stage/parse"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/quote"
	"intsink/internal/checksum"
)

// stage is one that takes INT over UDP port 5000 on the link of a bed.
type stage struct {
	*parse.Stage
	*bursttest.Bed
	parse.Counters
}

func newStage(t *testing.T, dropMalformed bool) *stage {
	s := &stage{Bed: bursttest.New(t, bursttest.ByPort())}
	s.Served.DropMalformed = dropMalformed
	s.Stage = parse.New(s.Table, []*parse.Counters{&s.Counters})
	s.Adopt([]*quote.Quoter{parse.QuoterOf(bursttest.ByPort())}, false)
	return s
}

// parse has frames from the network parsed.
func (s *stage) parse(frames ...[]byte) {
	s.Match(frames...)
	s.Do(s.Burst)
}

// TestSoundINTIsFound, with the key of the original packet; the next packets like it, and like one without INT, have a template.
func TestSoundINTIsFound(t *testing.T) {
	s := newStage(t, false)
	marked := bursttest.WithINT(t, bursttest.Plain(1), nil)
	s.parse(bursttest.Plain(2), marked, marked)
	k := &s.Fast.Keys[0]
	if s.Fast.Len() != 2 || s.Fast.At[0] != 1 || k.SrcAddr() != netip.MustParseAddr("10.0.0.1") || k.DstPort() != 8000 || s.Fast.Hashes[0] != s.Table.Hash(k) {
		t.Errorf("%d packets with INT, the first at %d, its flow %v:%d", s.Fast.Len(), s.Fast.At[0], k.SrcAddr(), k.DstPort())
	}
	if s.Parsed != 2 || int(s.Info[1].Size) != len(bursttest.Plain(1)) || s.Fast.Template[1] == fast.None || *k != s.Fast.Keys[1] || s.Fast.Hashes[1] != s.Fast.Hashes[0] {
		t.Errorf("parsed %b, %d bytes without INT, the second is of template %d", s.Parsed, s.Info[1].Size, s.Fast.Template[1])
	}
	s.Expect(bursttest.Plain(2), marked, marked)
	if s.Match(bursttest.Plain(3), marked); s.Fast.Unknown != 0 || s.Fast.Len() != 1 {
		t.Errorf("unknown %b, %d packets with INT", s.Fast.Unknown, s.Fast.Len())
	}
}

// TestUnsoundPassesOrDrops, and is left to report: on a tap it is not dropped.
func TestUnsoundPassesOrDrops(t *testing.T) {
	bad := bursttest.WithINT(t, bursttest.Plain(1), nil)
	bad[42] |= 0xc0 // an INT type that does not exist
	for _, x := range []struct{ drop, tap, dropped bool }{{}, {drop: true, dropped: true}, {drop: true, tap: true}} {
		s := newStage(t, x.drop)
		if x.tap {
			s.Served.Link.Host = nil
		}
		s.parse(bad, bursttest.Plain(2))
		if x.dropped {
			s.Expect(bursttest.Plain(2))
			s.ExpectDropped(burst.DropMalformed, 1)
		} else {
			s.Expect(bad, bursttest.Plain(2))
		}
		l := s.AllLeft()
		if s.Served.Counters.Malformed != [inthdr.NumReasons]uint64{inthdr.ReasonType: 1} || s.Fast.Len() != 0 || len(l) != 1 || l[0].I != 0 || l[0].Dropped != x.dropped {
			t.Errorf("%+v: malformed %v, left to report %+v", x, s.Served.Counters.Malformed, l)
		}
	}
}

// TestCutShort: a packet that ends before its IP length says is marked as INT all the
// same, as long as its UDP header is there.
func TestCutShort(t *testing.T) {
	whole := bursttest.WithINT(t, bursttest.Plain(1), nil)
	for _, drop := range []bool{false, true} {
		for n := 14; n < len(whole); n++ {
			s := newStage(t, drop)
			s.parse(whole[:n])
			told := s.Served.Counters.Malformed == [inthdr.NumReasons]uint64{inthdr.ReasonTruncated: 1}
			if s.Fast.Len() != 0 || told != (n >= 42) || len(s.AllLeft()) == 1 != told {
				t.Errorf("%d bytes: malformed %v", n, s.Served.Counters.Malformed)
			}
			if drop && told {
				s.ExpectDropped(burst.DropMalformed, 1)
			} else {
				s.Expect(whole[:n])
			}
		}
	}
}

// tooDeep is a packet behind more headers than the sink looks behind, of each kind.
func tooDeep(f []byte) map[string][]byte {
	ip := f[14:]
	tags := append(append(bytes.Clone(f[:12]), bytes.Repeat([]byte{0x81, 0, 0, 1}, 9)...), f[12:]...)
	labels := append(append(append(bytes.Clone(f[:12]), 0x88, 0x47), bytes.Repeat([]byte{0, 0, 0x10, 0x40}, 8)...), 0, 0, 0x11, 0x40)
	tunnels := ip
	for range 4 {
		tunnels = bursttest.IPv4(0, 4, tunnels)[14:]
	}
	extensions := append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60, 0, 0, 0}, 0, byte(len(ip)-20+16*8), 0, 64)
	for range 2 {
		a := netip.MustParseAddr("2001:db8::1").As16()
		extensions = append(extensions, a[:]...)
	}
	for n := range 16 {
		next := byte(0)
		if n == 15 {
			next = 17
		}
		extensions = append(extensions, next, 0, 1, 4, 0, 0, 0, 0)
	}
	return map[string][]byte{
		"nine tags": tags, "nine labels": append(labels, ip...), "four tunnels": append(bytes.Clone(f[:14]), tunnels...),
		"sixteen extension headers": append(extensions, ip[20:]...),
	}
}

// TestTooDeep: what stands behind more headers than the sink looks behind is counted, and dropped where malformed =
// "drop": INT or not.
func TestTooDeep(t *testing.T) {
	for _, f := range [][]byte{bursttest.WithINT(t, bursttest.Plain(1), nil), bursttest.Plain(1)} {
		for name, frame := range tooDeep(f) {
			for _, drop := range []bool{false, true} {
				s := newStage(t, drop)
				if s.parse(frame); s.Served.Counters.Malformed != [inthdr.NumReasons]uint64{inthdr.ReasonTooDeep: 1} {
					t.Errorf("%s: malformed %v", name, s.Served.Counters.Malformed)
				}
				if drop {
					s.ExpectDropped(burst.DropMalformed, 1)
				} else {
					s.Expect(frame)
				}
			}
		}
	}
}

// icmpError is an ICMP error of IPv4, that a port is unreachable, which quotes a frame.
func icmpError(quoted []byte) []byte {
	icmp := append([]byte{3, 3, 0, 0, 0, 0, 0, 0}, quoted[14:]...)
	binary.BigEndian.PutUint16(icmp[2:], ^checksum.Sum(icmp))
	return bursttest.IPv4(0, 1, icmp)
}

// TestQuotesLoseTheirINT on the way to a host, and are counted.
func TestQuotesLoseTheirINT(t *testing.T) {
	marked := bursttest.WithINT(t, bursttest.Plain(1), nil)
	for _, tap := range []bool{false, true} {
		s := newStage(t, false)
		if tap {
			s.Served.Link.Host = nil
		}
		s.parse(icmpError(marked), icmpError(bursttest.Plain(2)), icmpError(marked[:60]))
		want, counts := [][]byte{icmpError(bursttest.Plain(1)), icmpError(bursttest.Plain(2)), icmpError(marked[:60])}, [quote.NumResults]uint64{quote.Restored: 1, quote.Short: 1}
		if tap {
			want[0], counts = icmpError(marked), [quote.NumResults]uint64{}
		}
		if s.Expect(want...); s.Quotes != counts {
			t.Errorf("tap %v: %v", tap, s.Quotes)
		}
	}
}

// station keeps what it hears.
type station [][]byte

func (s *station) Hear(f []byte, _ int64) { *s = append(*s, bytes.Clone(f)) }
func (s *station) Tick(int64)             {}

// TestNeighborsAreHeard: frames of ARP, and nothing else.
func TestNeighborsAreHeard(t *testing.T) {
	s, heard := newStage(t, false), new(station)
	s.Served.Link.NetworkStation = heard
	arp := append(bytes.Repeat([]byte{2}, 12), append([]byte{0x08, 0x06}, make([]byte, 46)...)...)
	s.parse(bursttest.Plain(1), arp, bursttest.WithINT(t, bursttest.Plain(1), nil))
	if len(*heard) != 1 || !bytes.Equal((*heard)[0], arp) {
		t.Errorf("heard %x", *heard)
	}
}
