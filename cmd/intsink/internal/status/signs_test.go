package status

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
)

// at is so many seconds after the beginning.
func at(second int) time.Time { return time.Unix(1000+int64(second), 0) }

// TestBadPacketsAreLogged with the flow of the last, once.
func TestBadPacketsAreLogged(t *testing.T) {
	l := newLogged()
	for second, bad := range []uint64{0, 1, 2, 2} {
		link := Link{Name: "edge", Verified: map[string]uint64{"good": 100, "bad": bad}}
		if bad > 0 {
			link.LastBad = &BadPacket{Flow: "udp:10.0.0.1:5-10.0.0.2:6"}
		}
		l.look(second, &Status{Links: []Link{link}}, nil)
	}
	l.want(t, `level=ERROR msg="link: packets whose checksum was right leave with a wrong one" link=edge bad=1 flow=udp:10.0.0.1:5-10.0.0.2:6 todo="docs/trouble.md, Verify while it runs"`)
}

// TestProblemsAreLoggedOnce: a line when a loss begins and one when it is over, whatever
// the number of packets; and for a gateway and a worker that go and come.
func TestProblemsAreLoggedOnce(t *testing.T) {
	yes, no := true, false
	hangs := errors.New("worker w0 has not polled for 3s")
	l := newLogged()
	var refused, sent, full, forwarded, evicted uint64 = 100, 50, 7, 70, 20
	gateway, health := &no, hangs // of a sink that is just starting
	at := func(second int) {
		l.look(second, &Status{
			Collectors: []Collector{{Name: "primary", Address: "192.0.2.1:5", PacketsSent: sent, Dropped: map[string]uint64{"refused": refused}, GatewayKnown: gateway}},
			Links: []Link{{Name: "edge", Directions: []Direction{
				{Direction: "to_host", Forwarded: forwarded, Dropped: map[string]uint64{"tx_full": full, "int_discard": refused, "mitigation": refused}},
			}}},
			Workers: []Worker{{Name: "w0", Evictions: evicted}},
		}, health)
	}
	for _, step := range []struct {
		name string
		run  func()
		want string
	}{
		{"as it began", func() { at(0) }, ""},
		{"nothing new", func() { gateway, health = &yes, nil; at(1) }, ""},
		{"a loss begins", func() { refused = 103; at(2) }, `level=ERROR msg="collector: nobody listens at its address: reports are being lost" collector=primary reason=refused lost=3 todo="start the collector at 192.0.2.1:5, or change its address"`},
		{"it goes on", func() { refused = 140; at(3); refused = 143; at(12) }, ""},
		{"another", func() { full++; at(13) }, `level=WARN msg="link: packets are being dropped" link=edge direction=to_host reason=tx_full lost=1 todo="the output does not take what arrives: look at the host behind it, and at its flow control"`},
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
		{"the gateway goes", func() { gateway = &no; at(113); at(114) }, `level=ERROR msg="gateway: it does not answer: reports are dropped" collector=primary todo="look at gateway, vlan and source of the collector"`},
		{"and comes", func() { gateway = &yes; at(115); at(120) }, `level=INFO msg="gateway: it answers" collector=primary for=1s`},
		{"a worker hangs", func() { health = hangs; at(121); at(122) }, `level=ERROR msg="workers: a worker does not poll" why="worker w0 has not polled for 3s" todo="look at what else runs on its CPU (intsink doctor); where it stays so, intsink report-bug, and restart"`},
		{"it polls again", func() {
			health = nil
			at(123)
			health = hangs
			at(125)
			health = nil
			at(126)
			at(131)
		}, `level=INFO msg="workers: all poll again" why="worker w0 has not polled for 3s" for=4s`},
		{"flows make room", func() { evicted += 5; at(138); evicted++; at(140) }, `level=WARN msg="flows: the table is full, flows make room for others" worker=w0 evicted=5 todo="raise flows.capacity, or look for a flood: intsink top flows"`},
		{"no more do", func() { at(150) }, `level=INFO msg="flows: no more flows make room for others" worker=w0 evicted=6 for=2s`},
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
		lose   func(p *Port)
		begins string
		todo   string
		reason string
		ends   string
	}{
		{"missed", func(p *Port) { p.RxMissed += 5 }, "port: its queue is full, packets are being missed", "more workers, a longer queue (rx_desc), or a mode that does less; intsink doctor says what disturbs the worker", "queue_full", "port: no more packets are missed"},
		{"nombuf", func(p *Port) { p.RxNoMbuf += 5 }, "port: no mbuf is free, packets are being lost", "raise dpdk.mbufs", "no_mbuf", "port: mbufs are free again"},
		{"rx_errors", func(p *Port) { p.RxErrors += 5 }, "port: packets with errors are being dropped", "look at the cable and the transceiver", "errors", "port: no more packets with errors"},
		{"uncut", func(p *Port) { p.RxUncut += 5 }, "port: packets are being dropped that the kernel joined in a way that cannot be undone", "let their sender cut them: docs/install.md, Kernel interfaces", "uncut", "port: no more packets are dropped that the kernel joined"},
		{"truncated", func(p *Port) { p.RxTruncated += 5 }, "port: packets are being dropped that could not be received whole", "let their sender cut them: docs/install.md, Kernel interfaces", "truncated", "port: packets are received whole again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, p := newLogged(), Port{Name: "up", LinkUp: true}
			for second := range 30 {
				if second == 3 {
					c.lose(&p)
				}
				if second > 15 {
					p.RxPackets++
				}
				l.look(second, &Status{Ports: []Port{p}}, nil)
			}
			l.want(t, `level=WARN msg="`+c.begins+`" port=up reason=`+c.reason+` lost=5 todo="`+c.todo+`"`+"\n"+`level=INFO msg="`+c.ends+`" port=up reason=`+c.reason+` lost=5 for=0s`)
		})
	}
}

// TestLossesThatEnd: of a tap, which forwards nothing; of a collector that counts anew meanwhile, as its address was
// changed.
func TestLossesThatEnd(t *testing.T) {
	l := newLogged()
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
		l.look(second, &Status{
			Links:      []Link{{Name: "mirror", Kind: "tap", Directions: []Direction{{Direction: "to_host", Dropped: map[string]uint64{"tap": seen, "tx_full": full}}}}},
			Collectors: []Collector{{Name: "primary", PacketsSent: sent, Dropped: map[string]uint64{"refused": refused}}},
		}, nil)
	}
	l.want(t, `level=ERROR msg="collector: nobody listens at its address: reports are being lost" collector=primary reason=refused lost=20 todo="start the collector at , or change its address"
level=WARN msg="link: packets are being dropped" link=mirror direction=to_host reason=tx_full lost=4 todo="the output does not take what arrives: look at the host behind it, and at its flow control"
level=INFO msg="collector: reports are no longer lost" collector=primary reason=refused lost=20 for=0s
level=INFO msg="link: packets are no longer dropped" link=mirror direction=to_host reason=tx_full lost=4 for=0s`)
}

// TestWhatIsOnlySaidElsewhere: trials, reloads, modes and degraded parts are logged by who makes them so, and are problems
// since they are so; each is one problem.
func TestWhatIsOnlySaidElsewhere(t *testing.T) {
	l := newLogged()
	s := &Status{
		Mode:     &Mode{Mode: "strip", Since: at(-50), Why: "asked for", Switch: &Switch{State: "inline"}},
		Config:   &Config{Generation: 4, Since: at(-40), Trial: &Trial{Until: at(100), BackTo: 3}, LastReload: &Reload{Time: at(-30), Error: "a mistake"}},
		Degraded: []Degraded{{Part: "http", Name: "listen", Since: at(-20), Why: "taken"}},
		Ports:    []Port{{Name: "up", LinkDown: "no carrier"}},
	}
	l.look(0, s, nil)
	l.look(1, s, nil)
	l.want(t, "")
	l.wantTold(t, "begin less_done at mode strip", "begin config_on_trial at generation 4", "begin reload_refused at generation 4", "begin degraded at http listen", "begin link_down at port up")
	for i, p := range l.list.Answer().Items[:4] {
		if want := at(-50 + 10*i); !p.Since.Equal(want) || p.Evidence.Why == "" || p.Todo == "" {
			t.Errorf("%s since %v, not %v: %+v", p.Kind, p.Since, want, p)
		}
	}
	l.look(2, &Status{Ports: []Port{{Name: "up", LinkUp: true}}}, nil)
	if n := l.list.Now(); len(n) != 1 || n[problem.LinkDown] != 1 {
		t.Errorf("now %v: only a link settles", n)
	}
}

// TestProgramReplaced: an upgrade that nobody has restarted for is told.
func TestProgramReplaced(t *testing.T) {
	l := newLogged()
	l.look(0, &Status{Replaced: true}, nil)
	l.look(1, &Status{Replaced: true}, nil)
	l.look(2, &Status{}, nil)
	l.want(t, `level=WARN msg="program: its file was replaced: another version is installed than runs" todo="systemctl restart intsink, when it suits you"`+
		"\n"+`level=INFO msg="program: the version runs that is installed" for=1s`)
}

// TestOneProblemForOneFault: a gateway that is away loses reports, too, and INT that cannot be looked behind is not damaged.
func TestOneProblemForOneFault(t *testing.T) {
	l, no := newLogged(), false
	for second := range uint64(5) {
		l.look(int(second), &Status{
			Collectors: []Collector{{Name: "c", GatewayKnown: &no, Dropped: map[string]uint64{"unresolved": second}}},
			Links:      []Link{{Name: "edge", Malformed: map[string]uint64{"too_deep": second, "fragment": second, "stack": second}}},
			WaySkew:    second,
		}, nil)
	}
	l.wantTold(t, "begin collector_away at collector c", "begin int_damaged at link edge, reason stack", "begin clock_wrong at ")
}

// logged is a List with what it logged, without times.
type logged struct {
	out  bytes.Buffer
	list *problem.List
	told []string
}

func newLogged() *logged {
	l := &logged{}
	log := slog.New(slog.NewTextHandler(&l.out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	l.list = problem.New(func() *slog.Logger { return log }, func(event string, p *problem.Problem) {
		l.told = append(l.told, event+" "+string(p.Kind)+" at "+p.Where())
	})
	return l
}

func (l *logged) look(second int, s *Status, health error) {
	l.list.Look("sink", s.Signs(health, time.Time{}), at(second))
}

func (l *logged) wantTold(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(l.told, want) {
		t.Errorf("told %q, want %q", l.told, want)
	}
}

func (l *logged) want(t *testing.T, want string) {
	t.Helper()
	if got := strings.TrimSpace(l.out.String()); got != want {
		t.Errorf("logged\n%s\nwant\n%s", got, want)
	}
}

// TestCollectorsThatLose: since when a collector loses report packets and why is known while it does, and no longer.
func TestCollectorsThatLose(t *testing.T) {
	l := newLogged()
	at := func(second int, refused, noRoute, sent uint64) *Losing {
		j := &Status{Collectors: []Collector{{Name: "a", PacketsSent: sent, Dropped: map[string]uint64{"refused": refused, "unreachable": noRoute}}, {Name: "b"}}}
		l.look(second, j, nil)
		return LosingOf("a", l.list.Open())
	}
	if x := at(0, 5, 0, 5); x != nil {
		t.Errorf("before: %+v", x)
	}
	at(1, 6, 0, 5)
	x := at(2, 7, 1, 5)
	if x == nil || strings.Join(x.Reasons, " ") != "refused unreachable" || !x.Since.Equal(at(3, 7, 1, 6).Since) {
		t.Errorf("while it loses: %+v", x)
	}
	at(20, 7, 1, 7)
	if x := at(30, 7, 1, 8); x != nil {
		t.Errorf("afterwards: %+v", x)
	}
}

// TestSignsOfIFA: a node whose values cannot be is named with its share, and so are the namespaces without a layout.
func TestSignsOfIFA(t *testing.T) {
	l := newLogged()
	for second, n := range []uint64{0, 5} {
		l.look(second, &Status{
			Links:     []Link{{Name: "edge", INT: map[string]uint64{"ifa": 100 * n}, Malformed: map[string]uint64{"ifa_layout": n}, NoLayout: map[string]uint64{"gns 15, lns 3": n}}},
			OddValues: []OddValues{{Node: 7, Hops: 12 * n, Share: 0.12}}[:min(n, 1)],
		}, nil)
	}
	l.want(t, `level=WARN msg="link: hops of IFA have no layout: nothing is known of these packets' ways" link=edge reason=ifa_layout packets=5 why="gns 15, lns 3" todo="a block hop in int.ifa says how they are laid out (docs/configuration.md)"`+"\n"+
		`level=WARN msg="node: it writes residence times that cannot be" node=7 hops=60 why="in 12% of packets with IFA since the start" todo="these are not known, and give no event; if they are right, raise int.ifa.max_residence, else look at the clock and the firmware of the node"`)
}
