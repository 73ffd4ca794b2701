package streams

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"intsink/engine/wire/report"
)

// TestNoiseLosesNothing: packets with numbers at random, between those of a sink, count as no loss; the losses of the
// sink do, to the packet.
func TestNoiseLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, version := range []uint8{2, 1} {
		b, k := newBed(), key
		k.Version = version
		see := func(n uint32) {
			b.now += ms
			b.t.Expire(b.now, b.gap)
			times := Times{b.now, b.now}
			h := Header{Node: 3, HwID: 5, Version: version, Sequence: n}
			b.t.Find(k, h, times).See(h, times, b.gap)
		}
		for n := range uint32(20000) {
			if n%1000 != 500 {
				see(10000 + n)
			}
			for range 2 {
				if noise := r.Uint32() & 0x3fffff; noise > 1<<16 && noise < 1<<22-1<<16 { // a near number is one in 128
					see(noise)
				}
			}
		}
		b.t.Expire(b.now+2*second, b.gap)
		if c := b.t.streams[k].Counts; c.Lost != 20 || len(b.gaps) != 20 || c.Restarts != 0 {
			t.Errorf("version %d: %+v, %d gaps", version, c, len(b.gaps))
		}
	}
}

// TestOutages: after a silence numbers are lost, the sink has restarted, or it is not known, as the numbers that it may
// have used meanwhile tell.
func TestOutages(t *testing.T) {
	const m = 1 << 22
	for _, c := range []struct {
		name  string
		rate  int    // packets a second before the silence
		next  uint32 // number that comes next when it begins
		away  float64
		then  uint32
		count Counts
		gap   Gap
	}{
		{"a few lost", 1000, 100000, 2, 100050, Counts{Lost: 50}, Gap{First: 100000, Last: 100049}},
		{"none lost in a long pause", 10000, 100000, 3600, 100000, Counts{}, Gap{}},
		{"as many as were to be expected", 10000, 100000, 100, 1100000, Counts{Lost: 1000000}, Gap{First: 100000, Last: 1099999}},
		{"half of all numbers", 10000, 100000, 215, 100000 + m/2 + 40000, Counts{Unknown: 1}, Gap{First: 100000, Unknown: true}},
		{"more than all", 10000, 100000, 600, 1800000, Counts{Unknown: 1}, Gap{First: 100000, Unknown: true}},
		{"over the wrap, to a number near 0", 5000, m - 4000, 1.5, 2000, Counts{Lost: 6000}, Gap{First: m - 4000, Last: m + 1999}},
		{"a restart", 1000, 100000, 5, 0, Counts{Restarts: 1}, Gap{}},
		{"a restart, its first packets lost", 1000, 100000, 5, 300, Counts{Restarts: 1}, Gap{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed()
			step := second / int64(c.rate)
			for i := c.rate * 2; i > 0; i-- {
				b.now += step - 1000
				b.see((c.next - uint32(i)) & (m - 1))
			}
			b.now += int64(c.away * 1e9)
			var gaps []Gap
			h, times := Header{Node: 3, HwID: 5, Version: 2, Sequence: c.then}, Times{b.now, b.now}
			for range Enough { // so many tell of a restart
				b.t.Find(key, h, times).See(h, times, func(g Gap) { gaps = append(gaps, g) })
				h.Sequence++
			}
			b.t.Expire(b.now+2*second, func(g Gap) { gaps = append(gaps, g) })
			got := b.counts()
			got.Received = 0
			if got != c.count {
				t.Errorf("%+v, want %+v", got, c.count)
			}
			want := 0
			if c.gap != (Gap{}) {
				want = 1
			}
			if len(gaps) != want || want > 0 && (gaps[0].First != c.gap.First || gaps[0].Last != c.gap.Last || gaps[0].Unknown != c.gap.Unknown || c.gap.Unknown && gaps[0].Count() != 0) {
				t.Errorf("gaps %+v, want %+v", gaps, c.gap)
			}
		})
	}
}

// TestOneWrongPacketAfterASilence: the stream goes on where it was.
func TestOneWrongPacketAfterASilence(t *testing.T) {
	b := newBed()
	for n := range uint32(100) {
		b.see(1000000 + n)
	}
	start := b.t.streams[key].Start()
	b.now += 2 * second
	b.see(7)
	b.see(1000101) // 1000100 is lost
	b.see(1000102)
	b.t.Expire(b.now+2*second, b.gap)
	if s := b.t.streams[key]; s.Start() != start || s.Lost != 1 || s.Restarts != 0 || s.Late != 1 {
		t.Errorf("%+v, gaps %v", s.Counts, b.gaps)
	}
}

// sinkOf are packets of one start of a sink that says who it is.
type sinkOf struct {
	exporter string
	instance uint64
	began    int64
}

func (s sinkOf) see(b *bed, n uint64) (Place, *Stream) {
	h := Header{Node: 3, HwID: 5, Version: 2, Sequence: uint32(n & 0x3fffff), Sender: report.Identity{Instance: s.instance, Began: s.began, Sequence: n}}
	k := KeyOf(netip.MustParseAddr(s.exporter), key.Collector, &h)
	b.now += 1000
	times := Times{b.now, b.now}
	st := b.t.Find(k, h, times)
	return st.See(h, times, b.gap), st
}

// TestSendersThatSayWhoTheyAre: restarts at any time, two sinks with one address and node, addresses that move, and any
// loss are known: no place is given twice, each loss is found.
func TestSendersThatSayWhoTheyAre(t *testing.T) {
	b := newBed()
	one, two := sinkOf{"192.0.2.1", 1, 100}, sinkOf{"192.0.2.1", 2, 101}
	places := map[string]bool{}
	see := func(s sinkOf, n uint64) *Stream {
		p, st := s.see(b, n)
		if name := fmt.Sprint(p); places[name] {
			t.Fatalf("place %s is given twice", name)
		} else {
			places[name] = true
		}
		if p.Start != s.began || p.Sequence != n {
			t.Fatalf("packet %d of %+v is at %+v", n, s, p)
		}
		return st
	}
	for n := range uint64(100) { // the same numbers at once; 10 of the first, 5 of the second never come
		if n/10 != 5 {
			see(one, n)
		}
		if n < 40 || n >= 45 {
			see(two, n)
		}
	}
	b.t.Expire(b.now+2*second, b.gap)
	if len(b.gaps) != 2 || b.gaps[0] != "50-59" && b.gaps[1] != "50-59" || b.gaps[0] != "40-44" && b.gaps[1] != "40-44" {
		t.Errorf("gaps %v", b.gaps)
	}
	again := one
	again.began = 200
	st := see(again, 0) // restarted at once
	if st.Restarts != 1 {
		t.Errorf("%+v after a restart", st.Counts)
	}
	moved := again
	moved.exporter = "198.51.100.9"
	if st2 := see(moved, 1); st2 != st || st.Exporter.String() != again.exporter {
		t.Error("one packet from another address moves the sink")
	}
	b.now += 3600 * second
	b.gaps = nil
	for n := range uint64(Enough - 1) { // five times round
		moved.see(b, 2+5<<22-(Enough-1)+n)
	}
	if see(moved, 2+5<<22); st.Exporter.String() != moved.exporter {
		t.Error("the sink is another one after its address has moved")
	}
	b.t.Expire(b.now+2*second, b.gap)
	if len(b.gaps) != 1 || b.gaps[0] != fmt.Sprintf("2-%d", 2+5<<22-Enough) {
		t.Errorf("gaps %v", b.gaps)
	}
	b.t.Resume(b.t.States(), true, Times{b.now, b.now})
	restarted := newBed()
	restarted.now = b.now + 60*second
	restarted.t.Resume(b.t.States(), true, Times{restarted.now, 0})
	b = restarted
	see(moved, 2+5<<22+4)
	b.t.Expire(b.now+2*second, b.gap)
	if len(b.gaps) != 1 || b.gaps[0] != fmt.Sprintf("%d-%d", 2+5<<22+1, 2+5<<22+3) {
		t.Errorf("after a restart of the collector: gaps %v", b.gaps)
	}
}

// TestForgedIdentity: packets with a sink's identity, from its address or another one, at numbers that it does not have, lose nothing
// of it, take no number from it, and do not move it; what it loses meanwhile is known. A sink that does leap, or moves, is believed
// after Enough packets, and one that others led astray goes on.
func TestForgedIdentity(t *testing.T) {
	b := newBed()
	sink, other := sinkOf{"192.0.2.1", 1, 100}, sinkOf{"203.0.113.66", 1, 100}
	var st *Stream
	for n := range uint64(20000) {
		if n%1000 != 500 {
			var p Place
			if p, st = sink.see(b, n); p.Start != 100 || p.Sequence != n {
				t.Fatalf("packet %d is at %+v", n, p)
			}
		}
		forger := sink
		if n%2 == 0 {
			forger = other
		}
		for i := range uint64(10) {
			forger.see(b, n+900_000+100*i)
		}
		other.see(b, n+100+n%apart) // a chain that leads away by little steps
		b.t.Expire(b.now, b.gap)
	}
	b.now += 2 * second
	b.t.Expire(b.now, b.gap)
	if st.Lost != 20 || len(b.gaps) != 20 || st.Late != 0 || st.Restarts != 0 || st.Twins == 0 || st.Exporter.String() != sink.exporter {
		t.Errorf("%+v from %v, %d gaps", st.Counts, st.Exporter, len(b.gaps))
	}
	b.gaps = nil
	for n := range uint64(100) {
		other.see(b, 20_000+n) // it moves
	}
	for n := range uint64(100) {
		other.see(b, 30_000+n) // and loses 9,900
	}
	if fmt.Sprint(b.gaps) != "[20100-29999]" || st.Exporter.String() != other.exporter {
		t.Errorf("gaps %v, from %v", b.gaps, st.Exporter)
	}
	for n := range uint64(2 * Enough) {
		other.see(b, 900_000_000+n) // led astray
	}
	lost := st.Lost
	for n := range uint64(100) {
		if n != 50 {
			other.see(b, 30_100+n)
		}
	}
	b.t.Expire(b.now+2*second, b.gap)
	if st.Lost != lost+1 || st.next != 30_200 {
		t.Errorf("%+v, then %d comes", st.Counts, st.next)
	}
}

// TestTwins: two sinks with one address, node and hw_id are found, once, whether they say who they are or not, and
// wherever their numbers are; restarts, copies, other orders and noise are not taken for two.
func TestTwins(t *testing.T) {
	print := func(sink, n uint32) uint32 { return sink<<24 | n<<1 | 1 }
	foreign := func(b *bed, sink, n uint32) *Stream {
		b.now += 1000
		h, times := Header{Node: 3, HwID: 5, Version: 2, Sequence: n, Print: print(sink, n)}, Times{b.now, b.now}
		s := b.t.Find(key, h, times)
		s.See(h, times, b.gap)
		return s
	}
	for _, c := range []struct {
		name string
		run  func(b *bed) *Stream
		want bool
	}{
		{"the same numbers", func(b *bed) (s *Stream) {
			for n := range uint32(100) {
				foreign(b, 1, n)
				s = foreign(b, 2, n)
			}
			return s
		}, true},
		{"other numbers", func(b *bed) (s *Stream) {
			for n := range uint32(100) {
				foreign(b, 1, 1000000+n)
				s = foreign(b, 2, 3000000+n)
			}
			return s
		}, true},
		{"numbers some thousands ahead", func(b *bed) (s *Stream) {
			for n := range uint32(100) {
				foreign(b, 1, n)
				s = foreign(b, 2, 90000+n)
			}
			return s
		}, true},
		{"both say who they are", func(b *bed) (s *Stream) {
			for n := range uint64(100) {
				sinkOf{"192.0.2.1", 1, 100}.see(b, n)
				_, s = sinkOf{"192.0.2.1", 2, 100}.see(b, n)
			}
			return s
		}, true},
		{"one number on two machines", func(b *bed) (s *Stream) {
			for n := range uint64(100) {
				sinkOf{"192.0.2.1", 1, 100}.see(b, n)
				_, s = sinkOf{"192.0.2.1", 1, 200}.see(b, n)
			}
			return s
		}, true},
		{"each packet twice", func(b *bed) (s *Stream) {
			for n := range uint32(1000) {
				foreign(b, 1, n)
				s = foreign(b, 1, n)
			}
			return s
		}, false},
		{"restarts", func(b *bed) (s *Stream) {
			for start := range uint32(20) {
				for n := range uint32(100) {
					s = foreign(b, start, n)
				}
				b.now += 10 * second
			}
			return s
		}, false},
		{"restarts of one that says who it is", func(b *bed) (s *Stream) {
			for start := range int64(20) {
				for n := range uint64(100) {
					_, s = sinkOf{"192.0.2.1", 1, start + 1}.see(b, n)
				}
				b.now += 10 * second
			}
			return s
		}, false},
		{"noise", func(b *bed) (s *Stream) {
			r := rand.New(rand.NewPCG(7, 8))
			for n := range uint32(1000) {
				s = foreign(b, 1, n)
				foreign(b, 2, r.Uint32N(1<<22-1<<20)+1<<19)
			}
			return s
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed()
			b.t = New(100, 100)
			s := c.run(b)
			if got := s.TwinsFound(); got != c.want || s.TwinsFound() {
				t.Errorf("two sinks are found: %v, want %v, once; %+v", got, c.want, s.Counts)
			}
		})
	}
}

// TestTwinsHaveNoPlaceInCommon: packets with one number and different contents have different places, and their copies
// have the same.
func TestTwinsHaveNoPlaceInCommon(t *testing.T) {
	b := newBed()
	see := func(n, print uint32) Place {
		b.now += 1000
		h, times := Header{Node: 3, HwID: 5, Version: 2, Sequence: n, Print: print}, Times{b.now, b.now}
		return b.t.Find(key, h, times).See(h, times, b.gap)
	}
	seen := map[Place]bool{}
	for n := range uint32(50) {
		one, two := see(n, 2*n+1), see(n, 1000+2*n+1)
		if seen[one] || seen[two] || one == two {
			t.Fatalf("packets %d are at %+v and %+v", n, one, two)
		}
		seen[one], seen[two] = true, true
	}
	if c := b.counts(); c.Repeated != 0 || c.Twins != 49 { // the first two might be of a sender that numbers nothing
		t.Errorf("%+v", c)
	}
}

// TestShares: an address has its share of the streams, whatever node ids it makes up, and another address still gets one.
func TestShares(t *testing.T) {
	tab := New(16, 4)
	at := func(exporter string, node uint32) *Stream {
		k := key.with(node)
		k.Exporter = netip.MustParseAddr(exporter)
		return tab.Find(k, Header{Node: node, Version: 2}, Times{1, 1})
	}
	n := 0
	for node := range uint32(100) {
		if at("192.0.2.9", node) != nil {
			n++
		}
	}
	if n != 8 || tab.Len() != 8 { // half of all, while nobody else wants any
		t.Errorf("one address has %d streams", n)
	}
	for node := range uint32(4) {
		if at("192.0.2.1", node) == nil {
			t.Error("another one does not get its share")
		}
	}
	if at("192.0.2.1", 4) != nil {
		t.Error("another one gets more than its share")
	}
}
