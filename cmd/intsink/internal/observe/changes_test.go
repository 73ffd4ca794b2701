package observe

import (
	"bytes"
	"errors"
	"intsink/cmd/intsink/internal/status"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestBadPacketsAreLogged with the flow of the last, once.
func TestBadPacketsAreLogged(t *testing.T) {
	var out bytes.Buffer
	c := NewChanges(func() *slog.Logger { return slog.New(slog.NewTextHandler(&out, nil)) })
	for second, bad := range []uint64{0, 1, 2, 2} {
		l := status.Link{Name: "edge", Verified: map[string]uint64{"good": 100, "bad": bad}}
		if bad > 0 {
			l.LastBad = &status.BadPacket{Flow: "udp:10.0.0.1:5-10.0.0.2:6"}
		}
		c.look(&status.Status{Links: []status.Link{l}}, nil, time.Unix(int64(1000+second), 0))
	}
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "leave with a wrong one") || !strings.Contains(got, "link=edge flow=udp:10.0.0.1:5-10.0.0.2:6 bad=1") {
		t.Errorf("logged\n%s", got)
	}
}

// TestChangesAreLoggedOnce: a line when a loss begins and one when it is over, whatever
// the number of packets; and for a gateway and a worker that go and come.
func TestChangesAreLoggedOnce(t *testing.T) {
	yes, no := true, false
	hangs := errors.New("worker w0 has not polled for 3s")
	l := newChangesLog()
	var refused, sent, full, forwarded, evicted uint64 = 100, 50, 7, 70, 20
	gateway, health := &no, hangs // of a sink that is just starting
	at := func(second int) {
		l.look(second, &status.Status{
			Collectors: []status.Collector{{Name: "primary", PacketsSent: sent, Dropped: map[string]uint64{"refused": refused}, GatewayKnown: gateway}},
			Links: []status.Link{{Name: "edge", Directions: []status.Direction{
				{Direction: "to_host", Forwarded: forwarded, Dropped: map[string]uint64{"tx_full": full, "int_discard": refused, "mitigation": refused}},
			}}},
			Workers: []status.Worker{{Name: "w0", Evictions: evicted}},
		}, health)
	}
	for _, step := range []struct {
		name string
		run  func()
		want string
	}{
		{"as it began", func() { at(0) }, ""},
		{"nothing new", func() { gateway, health = &yes, nil; at(1) }, ""},
		{"a loss begins", func() { refused = 103; at(2) }, `level=WARN msg="collector: reports are being lost" collector=primary reason=refused lost=3`},
		{"it goes on", func() { refused = 140; at(3); refused = 143; at(12) }, ""},
		{"another", func() { full++; at(13) }, `level=WARN msg="link: packets are being dropped" link=edge direction=to_host reason=tx_full lost=1`},
		{"nobody tries", func() { full++; at(22); at(40); at(60) }, ""},
		{"one seems to get through", func() { sent++; forwarded++; at(70); at(80) }, ""},
		{"and is lost, too", func() {
			refused++
			full++
			sent++
			forwarded++
			at(81)
			at(90)
			at(100)
		}, ""},
		{"one does", func() { sent++; forwarded++; at(101); at(110) }, ""},
		{"so does another", func() { sent++; at(111) }, `level=INFO msg="collector: reports are no longer lost" collector=primary reason=refused lost=44 for=1m19s`},
		{"and of the link", func() { forwarded++; at(112) }, `level=INFO msg="link: packets are no longer dropped" link=edge direction=to_host reason=tx_full lost=3 for=1m8s`},
		{"the gateway goes", func() { gateway = &no; at(113); at(114) }, `level=ERROR msg="gateway: trouble" collector=primary why="it does not answer: reports are dropped; look at gateway, vlan and source of the collector"`},
		{"and comes", func() { gateway = &yes; at(115) }, `level=INFO msg="gateway: well again" collector=primary`},
		{"a worker hangs", func() { health = hangs; at(116) }, `level=ERROR msg="workers: trouble" why="worker w0 has not polled for 3s"`},
		{"it polls again", func() { health = nil; at(117) }, `level=INFO msg="workers: well again"`},
		{"flows make room", func() { evicted += 5; at(118); evicted++; at(120) }, `level=WARN msg="flows: the table is full, flows make room for others; raise flows.capacity, or look for a flood" worker=w0 evicted=5`},
		{"no more do", func() { at(130) }, `level=INFO msg="flows: no more flows make room for others" worker=w0 evicted=6 for=2s`},
		{"nobody lost anything new", func() { at(200) }, ""},
	} {
		t.Run(step.name, func(t *testing.T) {
			l.out.Reset()
			step.run()
			l.want(t, step.want)
		})
	}
}

// TestLossesOfPortsAreLogged: each counter of a driver that should not grow.
func TestLossesOfPortsAreLogged(t *testing.T) {
	for _, c := range []struct {
		name   string
		lose   func(p *status.Port)
		begins string
		ends   string
	}{
		{"missed", func(p *status.Port) { p.RxMissed += 5 }, "port: its queue is full, packets are being missed", "port: no more packets are missed"},
		{"nombuf", func(p *status.Port) { p.RxNoMbuf += 5 }, "port: no mbuf is free, packets are being lost; raise dpdk.mbufs", "port: mbufs are free again"},
		{"rx_errors", func(p *status.Port) { p.RxErrors += 5 }, "port: packets with errors are being dropped; look at the cable and the transceiver", "port: no more packets with errors"},
		{"uncut", func(p *status.Port) { p.RxUncut += 5 }, "port: packets are being dropped that the kernel joined in a way that cannot be undone; let their sender cut them: docs/install.md, Kernel interfaces", "port: no more packets are dropped that the kernel joined"},
		{"truncated", func(p *status.Port) { p.RxTruncated += 5 }, "port: packets are being dropped that could not be received whole", "port: packets are received whole again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, p := newChangesLog(), status.Port{Name: "up"}
			for second := range 30 {
				if second == 3 {
					c.lose(&p)
				}
				if second > 15 {
					p.RxPackets++
				}
				l.look(second, &status.Status{Ports: []status.Port{p}}, nil)
			}
			l.want(t, `level=WARN msg="`+c.begins+`" port=up lost=5`+"\n"+`level=INFO msg="`+c.ends+`" port=up lost=5 for=0s`)
		})
	}
}

// TestLossesThatEnd: of a tap, which forwards nothing; of a collector that counts anew meanwhile, as its address was
// changed.
func TestLossesThatEnd(t *testing.T) {
	l := newChangesLog()
	var seen, full uint64 = 10, 1
	refused, sent := uint64(500), uint64(90)
	for second := range 40 {
		switch {
		case second == 2:
			full, refused = 5, 520
		case second == 5:
			refused, sent = 0, 0
		case second > 5:
			seen++
			sent++
		}
		l.look(second, &status.Status{
			Links:      []status.Link{{Name: "mirror", Kind: "tap", Directions: []status.Direction{{Direction: "to_host", Dropped: map[string]uint64{"tap": seen, "tx_full": full}}}}},
			Collectors: []status.Collector{{Name: "primary", PacketsSent: sent, Dropped: map[string]uint64{"refused": refused}}},
		}, nil)
	}
	l.want(t, `level=WARN msg="collector: reports are being lost" collector=primary reason=refused lost=20
level=WARN msg="link: packets are being dropped" link=mirror direction=to_host reason=tx_full lost=4
level=INFO msg="collector: reports are no longer lost" collector=primary reason=refused lost=20 for=0s
level=INFO msg="link: packets are no longer dropped" link=mirror direction=to_host reason=tx_full lost=4 for=0s`)
}

// changesLog is a Changes with what it logged, without times.
type changesLog struct {
	out     bytes.Buffer
	changes *Changes
}

func newChangesLog() *changesLog {
	l := &changesLog{}
	log := slog.New(slog.NewTextHandler(&l.out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	l.changes = NewChanges(func() *slog.Logger { return log })
	return l
}

func (l *changesLog) look(second int, s *status.Status, health error) {
	l.changes.look(s, health, time.Unix(int64(1000+second), 0))
}

func (l *changesLog) want(t *testing.T, want string) {
	t.Helper()
	if got := strings.TrimSpace(l.out.String()); got != want {
		t.Errorf("logged\n%s\nwant\n%s", got, want)
	}
}

// TestCollectorsThatLose: since when a collector loses report packets and why is known while it does, and no longer.
func TestCollectorsThatLose(t *testing.T) {
	l := newChangesLog()
	at := func(second int, refused, noRoute, sent uint64) *status.Losing {
		j := &status.Status{Collectors: []status.Collector{{Name: "a", PacketsSent: sent, Dropped: map[string]uint64{"refused": refused, "no_route": noRoute}}, {Name: "b"}}}
		l.look(second, j, nil)
		return l.changes.losing(j)["a"]
	}
	if x := at(0, 5, 0, 5); x != nil {
		t.Errorf("before: %+v", x)
	}
	at(1, 6, 0, 5)
	x := at(2, 7, 1, 5)
	if x == nil || strings.Join(x.Reasons, " ") != "no_route refused" || !x.Since.Equal(at(3, 7, 1, 6).Since) {
		t.Errorf("while it loses: %+v", x)
	}
	at(20, 7, 1, 7)
	if x := at(30, 7, 1, 8); x != nil {
		t.Errorf("afterwards: %+v", x)
	}
}
