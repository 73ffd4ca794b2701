package engine

import (
	"bytes"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/reporting"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
	"intsink/exporters/port"
)

// bySender makes b's worker send its reports itself, on queue.
func (b *bed) bySender(s reporting.Sender) {
	b.remake(func(c *WorkerConfig) { c.Outlets = []reporting.Outlet{{Sender: s}} })
}

// batches keeps what it is sent, and how much at once.
type batches struct {
	b     *bed
	sizes []int
	seqs  []byte
}

func (s *batches) Send(v *mbuf.Vec, n int) {
	s.sizes = append(s.sizes, n)
	for _, m := range v[:n] {
		_, payload := report.TakeHandoff(m.Bytes())
		s.seqs = append(s.seqs, payload[3])
	}
	s.b.reports.FreeBulk(v, n)
}

// TestSenderGetsABurstsReportsAtOnce: with continuous sequence numbers, and what
// is open when the worker ends.
func TestSenderGetsABurstsReportsAtOnce(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.Watches[0].Policy.Sample, r.Report.MaxReports = 1, 1 })
	s := &batches{b: b}
	b.bySender(s)
	for burst := range 3 {
		for i := range 20 {
			b.network.RX = append(b.network.RX, withINT(t, plain(burst*20+i), nil))
		}
		b.Poll()
		b.step(1000)
	}
	if len(s.sizes) != 3 || s.sizes[0] != 20 || len(s.seqs) != 60 {
		t.Errorf("batches of %v", s.sizes)
	}
	for i, seq := range s.seqs {
		if int(seq) != i {
			t.Fatalf("sequence numbers %v", s.seqs)
		}
	}
	several := *b.rules
	several.Report.MaxReports = 0
	b.Reload(&several)
	b.step(2e6)
	b.network.RX = append(b.network.RX, withINT(t, plain(1), nil))
	b.Poll()
	b.balance()
	if len(s.sizes) != 4 || s.sizes[3] != 1 {
		t.Errorf("batches of %v: the open packet is not in the last", s.sizes)
	}
}

// TestSenderIsNeverGivenMoreThanABurst: the rest goes with the next call.
func TestSenderIsNeverGivenMoreThanABurst(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.Watches[0].Policy.Sample, r.Report.MaxReports = 1, 1 })
	s := &batches{b: b}
	b.bySender(s)
	for range 3 {
		for i := range 50 {
			b.network.RX = append(b.network.RX, withINT(t, plain(i), nil))
		}
		b.Poll()
	}
	b.step(1000)
	if len(s.sizes) != 3 || s.sizes[0] != mbuf.MaxBurst || s.sizes[1] != mbuf.MaxBurst || s.sizes[2] != 150-2*mbuf.MaxBurst {
		t.Errorf("batches of %v", s.sizes)
	}
	b.balance()
}

// ears is a Station that keeps what it hears.
type ears struct {
	heard [][]byte
	ticks int
}

func (e *ears) Hear(frame []byte, _ int64) { e.heard = append(e.heard, bytes.Clone(frame)) }
func (e *ears) Tick(int64)                 { e.ticks++ }

// TestStationHearsNeighborsOnly: ARP and ICMPv6, tagged and not, in both
// directions, also where packets pass unparsed; and all of it is forwarded as it came.
func TestStationHearsNeighborsOnly(t *testing.T) {
	arp := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 9, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1}, make([]byte, 38)...)
	tagged := append(append(append([]byte{}, arp[:12]...), 0x81, 0, 0, 100), arp[12:]...)
	nd := make([]byte, 14+40+24)
	copy(nd[12:], []byte{0x86, 0xdd, 0x60, 0, 0, 0, 0, 24, 58, 255})
	frames := [][]byte{plain(1), arp, withINT(t, plain(2), nil), tagged, nd, plain(3)}
	original := [][]byte{plain(1), arp, plain(2), tagged, nd, plain(3)}
	for n := range 4 {
		direction, passing := [2]burst.Direction{burst.ToHost, burst.ToNetwork}[n%2], n >= 2
		b := newBed(t, nil)
		if passing {
			b.passAll(true)
		}
		network, host := &ears{}, &ears{}
		l := b.links[0].Link
		l.NetworkStation, l.HostStation = network, host
		b.stations = []burst.Station{network, host}
		in, out, want := b.network, b.host, original
		hearing, deaf := network, host
		if passing {
			want = frames
		}
		if direction == burst.ToNetwork {
			in, out, want = b.host, b.network, frames
			hearing, deaf = host, network
		}
		for _, f := range frames {
			in.RX = append(in.RX, bytes.Clone(f))
		}
		b.Poll()
		b.step(2e6)
		if got := hearing.heard; len(got) != 3 || !bytes.Equal(got[0], arp) || !bytes.Equal(got[1], tagged) || !bytes.Equal(got[2], nd) {
			t.Errorf("%v: heard %x", direction, got)
		}
		if len(deaf.heard) != 0 || hearing.ticks != 1 || deaf.ticks != 1 {
			t.Errorf("%v: heard %x at the other side, %d and %d ticks", direction, deaf.heard, hearing.ticks, deaf.ticks)
		}
		if len(out.TX) != len(want) {
			t.Fatalf("%v: forwarded %d of %d", direction, len(out.TX), len(want))
		}
		for i := range want {
			if !bytes.Equal(out.TX[i], want[i]) {
				t.Errorf("%v: frame %d forwarded as %x", direction, i, out.TX[i])
			}
		}
		b.balance()
	}
}

// TestReportsLeaveByALinksPort: between the packets of the link, on the same
// queue; received = forwarded + dropped all the same.
func TestReportsLeaveByALinksPort(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.Watches[0].Policy.Sample = 1 })
	p := port.New(port.MAC{2, 0, 0, 0, 0, 1})
	e := p.Exporter(port.Config{
		Collector: b.rules.Collectors[0].Address, Source: b.rules.Collectors[0].Address.Addr().Prev(), GatewayMAC: port.MAC{2, 0, 0, 0, 0, 2},
	})
	b.bySender(e.Sender(0, &memQueueOf{b.host, b.reports}, b.reports))
	for range 3 {
		b.network.RX = append(b.network.RX, withINT(t, plain(1), func(_ *intgen.Source, h []intgen.Hop) { h[0].LatencyNs++ }))
		b.Poll()
		b.step(2e6)
	}
	b.balance()
	if c := e.Counters(); c.Packets != 3 || len(b.host.TX) != 6 {
		t.Fatalf("%+v, %d frames by the host port", c, len(b.host.TX))
	}
	for i := 1; i < 6; i += 2 {
		if f := b.host.TX[i]; f[5] != 2 || f[23] != 17 || f[42+3] != byte(i/2) {
			t.Errorf("frame %d is not the report packet: %x", i, f)
		}
	}
}

// memQueueOf is q for packets of another pool.
type memQueueOf struct {
	*memQueue
	own *mbuf.Arena
}

func (q *memQueueOf) TxBurst(v *mbuf.Vec, n int) int {
	for _, m := range v[:n] {
		q.TX = append(q.TX, m.AppendTo(nil, m.PktLen()))
	}
	q.own.FreeBulk(v, n)
	return n
}

func (q *memQueueOf) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return q.TxBurst(tx, n), q.RxBurst(rx)
}
