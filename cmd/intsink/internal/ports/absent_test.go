package ports

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"intsink/conf"
	"intsink/dpdk/iface"
)

// TestIsAbsent: what is not there stops a link; what the configuration has wrong, the start.
func TestIsAbsent(t *testing.T) {
	nic, virtual := &conf.Port{Device: "0000:3b:00.0"}, &conf.Port{Device: "net_pcap0,rx_pcap=a"}
	for _, c := range []struct {
		port *conf.Port
		err  error
		want bool
	}{
		{nic, nil, false}, {virtual, nil, false},
		{nic, attachError{errors.New("no such device")}, true}, {virtual, attachError{errors.New("no such file")}, false},
		{virtual, fmt.Errorf("interface: %w", iface.ErrGone), true}, {virtual, &iface.TakenError{Name: "eth1", Holder: "process 7"}, true},
		{nic, errors.New("takes an MTU of 68 to 1500, not 9000"), false},
	} {
		if got := isAbsent(c.port, c.err); got != c.want {
			t.Errorf("%s, %v: %v", c.port.Device, c.err, got)
		}
	}
}

// TestStopHalfLinks: the port across from one that is absent is closed, unless reports leave by it; with
// no link and no tap left there is nothing to start.
func TestStopHalfLinks(t *testing.T) {
	gone := emptySlot(&conf.Port{}, 0, errors.New("no such device"))
	for _, c := range []struct {
		name   string
		change func(s *Ports, c *conf.Config)
		err    string
		closed string // ports
	}{
		{"all are there", func(*Ports, *conf.Config) {}, "", ""},
		{"one of two links", func(s *Ports, _ *conf.Config) { s.all[0].device = gone }, "", "h1"},
		{"its other side", func(s *Ports, _ *conf.Config) { s.all[1].device = gone }, "", "n1"},
		{"both sides", func(s *Ports, _ *conf.Config) { s.all[0].device, s.all[1].device = gone, gone }, "", ""},
		{"reports leave by the other side", func(s *Ports, c *conf.Config) {
			s.all[0].device = gone
			c.Collectors = []conf.Collector{{Port: "h1"}}
		}, "", ""},
		{"a port for reports only", func(s *Ports, c *conf.Config) {
			s.all = append(s.all, &Port{name: "r", device: gone})
		}, "", ""},
		{"one of each link", func(s *Ports, _ *conf.Config) { s.all[0].device, s.all[3].device = gone, gone }, `port "n1": no such device`, "h1 n2"},
		{"a tap is left", func(s *Ports, c *conf.Config) {
			c.Links, c.Taps = c.Links[:1], []conf.Tap{{Name: "t", Port: "n2"}}
			s.all[0].device = gone
		}, "", "h1"},
		{"the only tap", func(s *Ports, c *conf.Config) {
			c.Links, c.Taps = nil, []conf.Tap{{Name: "t", Port: "n2"}}
			s.all[2].device = gone
		}, `port "n2": no such device`, ""},
	} {
		s := &Ports{}
		config := &conf.Config{Links: []conf.Link{{Name: "one", Network: "n1", Host: "h1"}, {Name: "two", Network: "n2", Host: "h2"}}}
		stubs := map[string]*stub{}
		for _, name := range []string{"n1", "h1", "n2", "h2"} {
			stubs[name] = &stub{}
			s.all = append(s.all, &Port{name: name, device: stubs[name]})
			config.Ports = append(config.Ports, conf.Port{Name: name, Device: "0000:3b:00.0"})
		}
		c.change(s, config)
		err := s.stopHalfLinks(config)
		if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %v", c.name, err)
		}
		var closed []string
		for _, p := range s.all {
			if x := stubs[p.name]; x != nil && x.closed {
				closed = append(closed, p.name)
				if d := p.device.linkDown(); !strings.Contains(d, "is stopped, as port") || !p.device.(*slot).waits {
					t.Errorf("%s: %q", c.name, d)
				}
			}
		}
		if got := strings.Join(closed, " "); got != c.closed {
			t.Errorf("%s: closed %q, want %q", c.name, got, c.closed)
		}
	}
}
