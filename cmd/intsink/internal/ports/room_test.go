package ports

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"bytes"

	"intsink/conf"
	"intsink/dpdk/ethdev"
)

// TestRoomForINT: NICs that packets with INT come to get room for it, unless the configuration says
// otherwise; what a device cannot take is told.
func TestRoomForINT(t *testing.T) {
	scatter := ethdev.Info{Driver: "net_pcap", MinMTU: 68, MaxMTU: 9600} // net_pcap has chains of mbufs
	no := errors.New("invalid argument")
	for _, c := range []struct {
		name     string
		port     string
		mtu      uint16 // of the configuration
		host     uint16
		info     ethdev.Info
		refuses  map[uint16]error
		want     []uint16 // what the driver was asked for
		logged   string
		problems bool
	}{
		{"raised", "network", 0, 0, scatter, nil, []uint16{1780}, "mtu=1780", false},
		{"hosts with long packets", "network", 0, 9000, scatter, nil, []uint16{9280}, "mtu=9280", false},
		{"a tap", "tap", 0, 0, scatter, nil, []uint16{1780}, "mtu=1780", false},
		{"towards hosts", "host", 0, 0, scatter, nil, []uint16{0}, "", false},
		{"of the operator", "network", 9000, 0, scatter, nil, []uint16{9000}, "", false},
		{"not a NIC", "virtual", 0, 0, scatter, nil, []uint16{0}, "", false},
		{"a NIC that takes less", "network", 0, 0, ethdev.Info{Driver: "net_pcap", MaxMTU: 1600}, nil, []uint16{1600}, "an mtu of 1600 has no room for INT of eight hops in packets of 1500 bytes, which need 1780", true},
		{"frames that must fit an mbuf", "network", 0, 9000, ethdev.Info{Driver: "net_x", MaxMTU: 9600}, nil, []uint16{2026}, "net_x takes no more here: lower the MTU of the hosts by 7254", true},
		{"a driver that refuses", "network", 0, 0, scatter, map[uint16]error{1780: no}, []uint16{1780, 0}, "the device refuses 1780 (invalid argument)", true},
		{"a driver that refuses all", "network", 0, 0, scatter, map[uint16]error{1780: no, 0: no}, []uint16{1780, 0}, "", false},
	} {
		config := &conf.Config{
			DPDK:  conf.DPDK{MbufSize: 2048},
			Ports: []conf.Port{{Name: "network", Device: "3b:00.0"}, {Name: "host", Device: "3b:00.1"}, {Name: "tap", Device: "3b:00.2"}, {Name: "virtual", Device: "net_null0"}, {Name: "behind", Device: "net_null1"}},
			Links: []conf.Link{{Name: "edge", Network: "network", Host: "host"}, {Name: "v", Network: "virtual", Host: "behind"}},
			Taps:  []conf.Tap{{Name: "t", Port: "tap"}},
		}
		config.Ports[1].MTU = c.host
		var port *conf.Port
		for i := range config.Ports {
			if config.Ports[i].Name == c.port {
				port = &config.Ports[i]
			}
		}
		if c.mtu != 0 {
			port.MTU = c.mtu
		}
		var logged bytes.Buffer
		was := slog.Default()
		slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
		var asked []uint16
		err := configureWithRoom(config, port, &c.info, ethdev.Config{MTU: port.MTU}, func(e ethdev.Config) error {
			asked = append(asked, e.MTU)
			return c.refuses[e.MTU]
		})
		slog.SetDefault(was)
		if fmt.Sprint(asked) != fmt.Sprint(c.want) || !strings.Contains(logged.String(), c.logged) || (c.logged == "") != (logged.Len() == 0) || strings.Contains(logged.String(), "WARN") != c.problems {
			t.Errorf("%s: asked for %v, logged %q", c.name, asked, logged.String())
		}
		if (err != nil) != (c.refuses[0] != nil) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestDriverLink: one wrong reading of a driver changes nothing; two that agree do.
func TestDriverLink(t *testing.T) {
	up, down := ethdev.Link{Up: true, Mbit: 1000}, ethdev.Link{}
	var l driverLink
	if l.now().Up {
		t.Error("up before anybody has looked")
	}
	for i, c := range []struct{ read, want ethdev.Link }{
		{up, up}, {down, up}, {up, up}, {down, up}, {up, up}, {up, up}, {down, up}, {down, down}, {up, down}, {down, down}, {up, down}, {ethdev.Link{Up: true, Mbit: 10}, down}, {up, down}, {up, up},
	} {
		if l.take(c.read); l.now() != c.want {
			t.Errorf("reading %d: %+v, want %+v", i, l.now(), c.want)
		}
	}
}

// TestLinkUpIsLogged: with the speed of the link, also of one that is up from the start.
func TestLinkUpIsLogged(t *testing.T) {
	var logged bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	defer slog.SetDefault(was)
	s := &stub{mbit: 10000}
	p := &Port{name: "network", device: s}
	for _, down := range []string{"", "unplugged", "", ""} {
		s.down = down
		p.look()
	}
	s.down, s.mbit = "unplugged", 0
	p.look()
	s.down = ""
	p.look()
	text := logged.String()
	if strings.Count(text, `msg="port: link is up" port=network mbit=10000`) != 2 || strings.Count(text, "link is up\" port=network\n") != 1 {
		t.Errorf("logged:\n%s", text)
	}
}
