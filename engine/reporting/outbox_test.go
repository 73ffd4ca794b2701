package reporting

import (
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
)

// TestSequenceNumbersOfOldFormats: in 1.0 and 0.5 sequence numbers have 32 bits, in 2.0 they
// have 22.
func TestSequenceNumbersOfOldFormats(t *testing.T) {
	for f, want := range map[report.Format]uint32{report.Format20: 5, report.Format10: 1<<22 + 5, report.Format05: 1<<22 + 5} {
		b := newBed(t, func(r *Rules, _ *Collector) { r.Format, r.MaxReports = f, 1 })
		b.outboxes[0].group.Sequence = 1<<22 + 5
		b.Report(&Subject{Collectors: 1}, b.now)
		all := b.sealed()
		if len(all) != 1 {
			t.Fatalf("format %d: %d report packets", f, len(all))
		}
		if m, err := decode.ReadHeader(all[0]); err != nil || m.Sequence != want {
			t.Errorf("format %d: sequence number %v, %v, want %d", f, m, err, want)
		}
		b.balance()
	}
}

// TestHowLongReportsWaited: the handoff says when the packet was sealed, and how long it was open until then; one whose
// time is up is sealed at its deadline, however late the worker comes.
func TestHowLongReportsWaited(t *testing.T) {
	const opened, delay = 1e9, 1 << 20
	for _, c := range []struct {
		name         string
		seal         func(s *side)
		time, waited int64
	}{
		{"at once", func(s *side) { s.Close(opened) }, opened, 0},
		{"halfway", func(s *side) { s.Close(opened + delay/2) }, opened + delay/2, delay / 2},
		{"a nanosecond early", func(s *side) { s.Expire(opened + delay - 1); s.Close(opened + delay/4) }, opened + delay/4, delay / 4},
		{"at its deadline", func(s *side) { s.Expire(opened + delay) }, opened + delay, delay},
		{"late", func(s *side) { s.Expire(opened + 9*delay) }, opened + delay, delay},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSide(t, Rules{MdBits: report.MdHopLatency, MaxDelay: delay}, 64, 1358, Budget{})
			for range 2 {
				s.Report(&Subject{Collectors: 1, InType: report.IPv4, Inner: make([]byte, 40), Entropy: 77}, opened)
			}
			c.seal(s)
			s.drain()
			if len(s.sent[0]) != 1 {
				t.Fatalf("%d report packets", len(s.sent[0]))
			}
			if got, _ := report.TakeHandoff(s.sent[0][0]); got != (report.Handoff{Time: c.time, Entropy: 77, Reports: 2, Waited: uint32(c.waited >> 10)}) {
				t.Errorf("%+v, want time %d, waited %d", got, c.time, c.waited>>10)
			}
			if s.Close(2e9); s.pool.InUse() != 0 {
				t.Errorf("%d mbufs did not come home", s.pool.InUse())
			}
		})
	}
}

// TestAReportThatDoesNotFitLeavesNothing: the next report leaves with its own entropy, time and format, although
// it uses the mbuf of one that did not fit; also if a reload changes the format and the size in between.
func TestAReportThatDoesNotFitLeavesNothing(t *testing.T) {
	const delay = 1 << 20
	for name, reload := range map[string]bool{"same rules": false, "a reload in between": true} {
		t.Run(name, func(t *testing.T) {
			rules := Rules{MdBits: report.MdHopLatency, MaxDelay: delay}
			s := newSide(t, rules, 64, 80, Budget{})
			long := report.Individual{InType: report.DSExtension, Inner: make([]byte, 80)} // only packets are cut
			if s.outboxes[0].add(report.Format20, &long, 11, 1e9) || s.count.Collectors[0].Dropped[DropTooBig] != 1 {
				t.Fatalf("%+v", s.count.Collectors[0])
			}
			s.Expire(2e9)
			want := report.Handoff{Time: 3e9 + delay, Entropy: 77, Reports: 2, Waited: delay >> 10}
			if reload {
				rules.Format, rules.MaxReports, want = report.Format10, 1, report.Handoff{Time: 3e9, Entropy: 77, Reports: 1}
				to := Collector{Name: "a", MaxPayload: 1358}
				s.Adopt(&rules, []Collector{to, to}, nil, 2e9)
			}
			for range want.Reports {
				s.Report(&Subject{Collectors: 1, InType: report.IPv4, Inner: make([]byte, 20), Entropy: 77}, 3e9)
			}
			s.Expire(4e9)
			s.drain()
			if len(s.sent[0]) != 1 {
				t.Fatalf("%d report packets", len(s.sent[0]))
			}
			got, payload := report.TakeHandoff(s.sent[0][0])
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			if m, err := decode.ReadHeader(payload); err != nil || m.Version != map[report.Format]decode.Version{report.Format20: decode.Version20, report.Format10: decode.Version10}[rules.Format] {
				t.Errorf("%+v, %v", m, err)
			}
			if s.Close(5e9); s.pool.InUse() != 0 {
				t.Errorf("%d mbufs did not come home", s.pool.InUse())
			}
		})
	}
}

// TestClosedOutboxesHoldNoMbuf: where the ring took the packet and where it was full; to close once more gives nothing
// back twice.
func TestClosedOutboxesHoldNoMbuf(t *testing.T) {
	s := newSide(t, Rules{MdBits: report.MdHopLatency, MaxDelay: 1e6, MaxReports: 1}, 600, 1358, Budget{})
	ringFull := func() uint64 { return s.count.Collectors[0].Dropped[DropRingFull] }
	for ringFull() == 0 {
		s.Report(&Subject{Collectors: 1, InType: report.IPv4, Inner: make([]byte, 40)}, 1e9)
	}
	inRing := int(s.count.Collectors[0].Packets - ringFull())
	for range 3 {
		s.Close(1e9)
		if o := &s.outboxes[0]; o.m != nil || o.nStash != 0 || s.pool.InUse() != inRing {
			t.Errorf("closed with mbuf %v, %d in the stash, %d in use, want %d, those in the ring", o.m, o.nStash, s.pool.InUse(), inRing)
		}
	}
	s.drain()
	if len(s.sent[0]) != inRing || s.pool.InUse() != 0 {
		t.Errorf("%d of %d report packets, %d mbufs did not come home", len(s.sent[0]), inRing, s.pool.InUse())
	}
}

// counted is a Sender that notes how many packets each call gave it, and frees them.
type counted struct {
	pool  *mbuf.Arena
	calls []int
}

func (c *counted) Send(v *mbuf.Vec, n int) {
	c.calls = append(c.calls, n)
	c.pool.FreeBulk(v, n)
}

// TestFlushGivesTheBatch: what was sealed since the last flush goes to the sender at once, be it one packet; nothing
// is no call, and a full batch does not wait.
func TestFlushGivesTheBatch(t *testing.T) {
	for _, c := range []struct {
		sealed int
		want   []int
	}{{0, nil}, {1, []int{1}}, {2, []int{2}}, {mbuf.MaxBurst, []int{mbuf.MaxBurst}}, {mbuf.MaxBurst + 1, []int{mbuf.MaxBurst, 1}}} {
		pool, err := mbuf.NewArena(256, 2304)
		if err != nil {
			t.Fatal(err)
		}
		to := &counted{pool: pool}
		k := outboxKind{pool: pool}
		o := k.outboxOf(&Outlet{Sender: to})
		o.counters = &CollectorCounters{}
		o.configure(&Collector{MaxPayload: 1358}, &Rules{MaxReports: 1})
		for range c.sealed {
			o.add(report.Format20, &report.Individual{InType: report.IPv4, Inner: make([]byte, 40)}, 0, 1e9)
		}
		o.flush()
		o.flush()
		if !slices.Equal(to.calls, c.want) || o.counters.Packets != uint64(c.sealed) {
			t.Errorf("%d sealed: %d in calls of %d, want %d", c.sealed, o.counters.Packets, to.calls, c.want)
		}
		if o.close(1e9); pool.InUse() != 0 {
			t.Errorf("%d sealed: %d mbufs did not come home", c.sealed, pool.InUse())
		}
	}
}
