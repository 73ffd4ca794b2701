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
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	c := NewChanges(func() *slog.Logger { return log })
	yes, no := true, false
	now := time.Unix(1000, 0)
	at := func(second int, refused, full uint64, gateway *bool, health error) {
		c.look(&status.Status{
			Collectors: []status.Collector{{Name: "primary", Dropped: map[string]uint64{"refused": refused}, GatewayKnown: gateway}},
			Links:      []status.Link{{Name: "edge", Directions: []status.Direction{{Direction: "to_host", Dropped: map[string]uint64{"tx_full": full, "int_discard": refused, "mitigation": refused}}}}},
		}, health, now.Add(time.Duration(second)*time.Second))
	}
	for _, step := range []struct {
		name string
		run  func()
		want string
	}{
		{"as it began", func() { at(0, 100, 7, &yes, nil) }, ""},
		{"nothing new", func() { at(1, 100, 7, &yes, nil) }, ""},
		{"a loss begins", func() { at(2, 103, 7, &yes, nil) }, `level=WARN msg="collector: reports are being lost" collector=primary reason=refused lost=3`},
		{"it goes on", func() { at(3, 140, 7, &yes, nil); at(12, 143, 7, &yes, nil) }, ""},
		{"another", func() { at(13, 143, 8, &yes, nil) }, `level=WARN msg="link: packets are being dropped" link=edge direction=to_host reason=tx_full lost=1`},
		{"the first is over", func() { at(22, 143, 9, &yes, nil) }, `level=INFO msg="collector: reports are no longer lost" collector=primary reason=refused lost=43 for=10s`},
		{"the gateway goes", func() { at(23, 143, 9, &no, nil); at(24, 143, 9, &no, nil) }, `level=ERROR msg="gateway: trouble" collector=primary why="it does not answer: reports are dropped; look at gateway, vlan and source of the collector"`},
		{"and comes", func() { at(25, 143, 9, &yes, nil) }, `level=INFO msg="gateway: well again" collector=primary`},
		{"a worker hangs", func() { at(26, 143, 9, &yes, errors.New("worker w0 has not polled for 3s")) }, `level=ERROR msg="workers: trouble" why="worker w0 has not polled for 3s"`},
		{"it polls again", func() { at(27, 143, 9, &yes, nil) }, `level=INFO msg="workers: well again"`},
	} {
		t.Run(step.name, func(t *testing.T) {
			out.Reset()
			step.run()
			if got := strings.TrimSpace(out.String()); got != step.want {
				t.Errorf("logged\n%s\nwant\n%s", got, step.want)
			}
		})
	}
}
