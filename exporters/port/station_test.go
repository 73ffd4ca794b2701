package port

import (
	"bytes"
	"sync"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/exporters"
)

// TestGatewayIsAskedAndLearned: over ARP and Neighbor Discovery, with and
// without a tag, whichever worker hears the answer.
func TestGatewayIsAskedAndLearned(t *testing.T) {
	for name, c := range map[string]Config{"IPv4": four(), "IPv6": six()} {
		for _, vlan := range []uint16{0, 100} {
			c.VLAN = vlan
			p, q0, q1 := New(ours), newQueue(t), newQueue(t)
			e := p.Exporter(c)
			first, second := p.Station(0, q0, q0.pool, true), p.Station(1, q1, q1.pool, true)
			gateway := gatewayOf(c, theirs)
			question, answer := solicits(e.neighbor, c.Gateway.String()), adverts(gateway, c.Source.String(), ours)
			if c.Source.Is4() {
				question, answer = arpFrom(e.neighbor, arpRequest, MAC{}, c.Gateway.String()), arpFrom(gateway, arpReply, ours, c.Source.String())
			}
			first.Tick(0)
			second.Tick(0)
			if got := q0.sent(); len(got) != 1 || !bytes.Equal(got[0], question) || len(q1.sent()) != 0 {
				t.Fatalf("%s, VLAN %d: asked %x", name, vlan, got)
			}
			q1.rx = [][]byte{answer}
			second.Tick(ms)
			first.Tick(ms)
			if mac, ok := e.neighbor.gatewayMAC(); !ok || mac != theirs || !e.Resolved() {
				t.Errorf("%s, VLAN %d: learned %v %v", name, vlan, mac, ok)
			}
			if f := p.Frames(); f[FrameRequested] != 1 || f[FrameLearned] != 1 {
				t.Errorf("%s, VLAN %d: frames %v", name, vlan, f)
			}
		}
	}
}

// TestWhatIsLearned, and what is not.
func TestWhatIsLearned(t *testing.T) {
	tagged := func(c Config, vlan uint16) Config { c.VLAN = vlan; return c }
	stranger := gatewayOf(four(), theirs)
	stranger.source = addr("192.0.2.99")
	polite := adverts(gatewayOf(six(), other), "2001:db8::1", ours) // without the override flag
	polite[58] &^= 0x20
	polite[56], polite[57] = 0, 0
	sum := icmpChecksum(polite[22:54], polite[54:])
	polite[56], polite[57] = byte(sum>>8), byte(sum)
	for _, c := range []struct {
		name   string
		config Config
		before MAC // that is known already
		frame  []byte
		want   MAC
	}{
		{"a reply to us", four(), MAC{}, arpFrom(gatewayOf(four(), theirs), arpReply, ours, "192.0.2.1"), theirs},
		{"a reply to somebody else", four(), MAC{}, arpFrom(gatewayOf(four(), theirs), arpReply, other, "192.0.2.7"), MAC{}},
		{"a reply of somebody else", four(), MAC{}, arpFrom(stranger, arpReply, ours, "192.0.2.1"), MAC{}},
		{"the gateway asks for us", four(), MAC{}, arpFrom(gatewayOf(four(), theirs), arpRequest, MAC{}, "192.0.2.1"), theirs},
		{"the gateway asks for others", four(), MAC{}, arpFrom(gatewayOf(four(), theirs), arpRequest, MAC{}, "192.0.2.7"), MAC{}},
		{"the gateway moves", four(), theirs, arpFrom(gatewayOf(four(), other), arpReply, broadcast, "192.0.2.254"), other},
		{"another VLAN", tagged(four(), 100), MAC{}, arpFrom(gatewayOf(tagged(four(), 200), theirs), arpReply, ours, "192.0.2.1"), MAC{}},
		{"a tag where there is none", four(), MAC{}, arpFrom(gatewayOf(tagged(four(), 200), theirs), arpReply, ours, "192.0.2.1"), MAC{}},
		{"a tag that the driver took off", tagged(four(), 100), MAC{}, arpFrom(gatewayOf(four(), theirs), arpReply, ours, "192.0.2.1"), theirs},
		{"an advertisement to us", six(), MAC{}, adverts(gatewayOf(six(), theirs), "2001:db8::1", ours), theirs},
		{"an advertisement to all", six(), theirs, adverts(gatewayOf(six(), other), "::", ours), other},
		{"an advertisement to somebody else", six(), MAC{}, adverts(gatewayOf(six(), theirs), "2001:db8::7", other), MAC{}},
		{"no override, nothing known", six(), MAC{}, polite, other},
		{"no override, another known", six(), theirs, polite, theirs},
		{"the gateway solicits us", six(), MAC{}, solicits(gatewayOf(six(), theirs), "2001:db8::1"), theirs},
		{"a MAC that is configured", Config{Source: addr("192.0.2.1"), GatewayMAC: ours}, ours,
			arpFrom(gatewayOf(four(), theirs), arpReply, ours, "192.0.2.1"), ours},
	} {
		p, q := New(ours), newQueue(t)
		e := p.Exporter(c.config)
		s := p.Station(0, q, q.pool, false)
		if c.before != (MAC{}) {
			e.neighbor.gateway.mac.Store(pack(c.before))
		}
		s.Hear(c.frame, 0)
		s.Tick(0)
		if mac, ok := e.neighbor.gatewayMAC(); ok != (c.want != MAC{}) || ok && mac != c.want {
			t.Errorf("%s: %v, want %v", c.name, mac, c.want)
		}
	}
}

// TestOwnMACsAreNoGateway: whoever says that the gateway has the MAC address of a
// port of the sink's own would turn the reports around.
func TestOwnMACsAreNoGateway(t *testing.T) {
	for _, mac := range []MAC{ours, other} {
		for name, c := range map[string]Config{"IPv4": four(), "IPv6": six()} {
			gateway := gatewayOf(c, mac)
			frames := [][]byte{adverts(gateway, c.Source.String(), ours), solicits(gateway, c.Source.String())}
			if c.Source.Is4() {
				frames = [][]byte{arpFrom(gateway, arpReply, ours, c.Source.String()), arpFrom(gateway, arpRequest, MAC{}, c.Source.String())}
			}
			for i, frame := range frames {
				p, q := New(ours, other), newQueue(t)
				e := p.Exporter(c)
				s := p.Station(1, q, q.pool, false)
				e.neighbor.gateway.mac.Store(pack(theirs))
				s.Hear(frame, 0)
				if offer := e.neighbor.gateway.offer.Load(); offer != 0 || len(q.sent()) != 0 || p.Frames()[FrameOther] != 1 {
					t.Errorf("%s, frame %d of %x: offer %x, frames %v", name, i, mac, offer, p.Frames())
				}
			}
		}
	}
}

// TestQuestionsAreAnswered: for each source address once, however many
// collectors share it.
func TestQuestionsAreAnswered(t *testing.T) {
	p, q := New(ours), newQueue(t)
	second, fixed := four(), four()
	second.Collector, second.Gateway = four().Collector, addr("192.0.2.253")
	fixed.GatewayMAC = theirs
	for _, c := range []Config{four(), second, fixed, six()} {
		p.Exporter(c)
	}
	s := p.Station(1, q, q.pool, false)
	asker := &neighbor{mac: other, source: addr("192.0.2.50")}
	prober := &neighbor{mac: other, source: addr("0.0.0.0")}
	rival := &neighbor{mac: other, source: addr("192.0.2.1")}
	asker6 := &neighbor{mac: other, source: addr("2001:db8::50")}
	n4, n6 := p.known()[0], p.known()[3]
	for _, c := range []struct {
		name  string
		frame []byte
		want  []byte
	}{
		{"ARP", arpFrom(asker, arpRequest, MAC{}, "192.0.2.1"), arpFrom(n4, arpReply, other, "192.0.2.50")},
		{"an ARP probe", arpFrom(prober, arpRequest, MAC{}, "192.0.2.1"), arpFrom(n4, arpReply, other, "0.0.0.0")},
		{"ARP for somebody else", arpFrom(asker, arpRequest, MAC{}, "192.0.2.2"), nil},
		{"an ARP reply", arpFrom(asker, arpReply, ours, "192.0.2.1"), nil},
		{"somebody announces our address", arpFrom(rival, arpRequest, MAC{}, "192.0.2.1"), nil},
		{"ND", solicits(asker6, "2001:db8::1"), adverts(n6, "2001:db8::50", other)},
		{"ND for somebody else", solicits(asker6, "2001:db8::2"), nil},
	} {
		before := bytes.Clone(c.frame)
		s.Hear(c.frame, 0)
		got := q.sent()
		if c.want == nil && len(got) != 0 || c.want != nil && (len(got) != 1 || !bytes.Equal(got[0], c.want)) {
			t.Errorf("%s: answered\n%x, want\n%x", c.name, got, c.want)
		}
		if !bytes.Equal(before, c.frame) {
			t.Errorf("%s: the frame was changed", c.name)
		}
	}
	if f := p.Frames(); f[FrameAnswered] != 3 || f[FrameOther] != 4 {
		t.Errorf("frames %v", f)
	}
}

// TestAnswersAreBounded: 100 a second, whoever asks.
func TestAnswersAreBounded(t *testing.T) {
	p, q := New(ours), newQueue(t)
	p.Exporter(four())
	s := p.Station(0, q, q.pool, false)
	frame := arpFrom(&neighbor{mac: other, source: addr("192.0.2.50")}, arpRequest, MAC{}, "192.0.2.1")
	for now := int64(0); now < 10*second; now += ms {
		s.Hear(frame, now)
	}
	if f := p.Frames(); f[FrameAnswered] != 1000 || f[FrameLimited] != 9000 || len(q.sent()) != 1000 {
		t.Errorf("frames %v", f)
	}
}

// TestUnsentIsCounted: no mbuf, or a port that takes nothing; it is asked again
// in its time.
func TestUnsentIsCounted(t *testing.T) {
	p, q := New(ours), newQueue(t)
	p.Exporter(four())
	s := p.Station(0, q, q.pool, false)
	q.room = 0
	s.Tick(0)
	none := newQueue(t)
	s.pool = empty{none.pool}
	s.Tick(second)
	if f := p.Frames(); f[FrameUnsent] != 2 || f[FrameRequested] != 0 {
		t.Errorf("frames %v", f)
	}
}

// TestOwnPortIsDrained: what arrives there is looked at, counted and freed, so
// much each time and no more.
func TestOwnPortIsDrained(t *testing.T) {
	p, q := New(ours), newQueue(t)
	p.Exporter(four())
	s := p.Station(0, q, q.pool, true)
	for range 300 {
		q.rx = append(q.rx, make([]byte, 60))
	}
	s.Tick(0)
	if len(q.rx) != 300-ownBursts*64 || p.Frames()[FrameOther] != ownBursts*64 {
		t.Errorf("%d left, frames %v", len(q.rx), p.Frames())
	}
	s.Tick(ms)
	if len(q.rx) != 0 || p.Frames()[FrameOther] != 300 {
		t.Errorf("%d left, frames %v", len(q.rx), p.Frames())
	}
}

// TestWorkersShareAGateway: one asks, all hear and send, at the same time. The
// race detector looks on.
func TestWorkersShareAGateway(t *testing.T) {
	p := New(ours)
	e := p.Exporter(four())
	answer := arpFrom(gatewayOf(four(), theirs), arpReply, ours, "192.0.2.1")
	var wait sync.WaitGroup
	for w := range 3 {
		q := newQueue(t)
		station, sender, v := p.Station(w, q, q.pool, false), e.Sender(w, q, q.pool), mbuf.NewVec()
		wait.Go(func() {
			for now := int64(0); now < 100*ms; now += ms {
				station.Tick(now)
				station.Hear(answer, now)
				seal(t, q.pool, v, 1)
				sender.Send(v, 1)
			}
		})
	}
	for range 100 {
		p.Frames()
		e.Counters()
	}
	wait.Wait()
	if c := e.Counters(); !e.Resolved() || c.Packets+c.Dropped[exporters.DropUnresolved] != 300 || p.Frames()[FrameLearned] != 300 {
		t.Errorf("%+v, frames %v", c, p.Frames())
	}
}

func TestKindsHaveText(t *testing.T) {
	for k := range NumFrameKinds {
		if k.String() == "" || k.Doc() == "" {
			t.Errorf("kind %d has no text", k)
		}
	}
	for r := range exporters.NumDropReasons {
		if r.String() == "" || r.Doc() == "" {
			t.Errorf("reason %d has no text", r)
		}
	}
}
