package ethdev_test

import (
	"strings"
	"testing"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/mempool"
)

func TestInfo(t *testing.T) {
	port := start(t, dpdktest.Null(3, 60), dpdktest.Pool(t, "info"))
	i, err := port.Info()
	if err != nil || i.Driver != "net_null" || len(i.MAC) != 6 || i.MaxRxQueues < 2 || i.RSSOffloads == 0 || i.MaxMTU < 1500 {
		t.Errorf("%+v, %v", i, err)
	}
	if port.Name() != "net_null3" || !port.Link().Up {
		t.Errorf("%s, link up %v", port.Name(), port.Link().Up)
	}
}

func TestSymmetricRSSNeedsAKey(t *testing.T) {
	for _, c := range []struct {
		info ethdev.Info
		want bool
	}{
		{ethdev.Info{RSSOffloads: 4, RSSKeySize: 40}, true},
		{ethdev.Info{RSSOffloads: 4, RSSKeySize: 52}, true},
		{ethdev.Info{RSSOffloads: 4, RSSKeySize: 65}, false}, // longer than ours
		{ethdev.Info{RSSOffloads: 4, RSSKeySize: 0}, false},
		{ethdev.Info{RSSOffloads: 0, RSSKeySize: 40}, false},
	} {
		if c.info.SymmetricRSS() != c.want {
			t.Errorf("%+v: want %v", c.info, c.want)
		}
	}
}

// A closed port's name is free again, for any kind of device.
func TestAttachAgain(t *testing.T) {
	p := dpdktest.Pool(t, "again")
	for _, devargs := range []string{dpdktest.Null(4, 60), dpdktest.Ring(4)} {
		for range 3 {
			port := start(t, devargs, p)
			same, err := ethdev.Attach(devargs)
			if err != nil || same != port {
				t.Errorf("%s: an open port attached again is port %d, %v; want %d", devargs, same.ID(), err, port.ID())
			}
			port.Close()
		}
	}
}

func TestAttachErrorsSayWhatToDo(t *testing.T) {
	for devargs, want := range map[string][]string{
		"net_pcap7,rx_pcap=/no/such/file":      {"/no/such/file", "file they name exists"},
		"net_nothing0":                         {"check the driver's name"},
		"net_af_packet7,iface=no-such-iface":   {"No such device", "interface or file they name exists"},
		"net_null7,nonsense=1":                 {"net_null7", "its arguments"},
		"0000:ff:1f.7":                         {"no such device", "there is no PCI device 0000:ff:1f.7: dpdk-devbind.py --status-dev net"},
		"":                                     {"check the driver's name"},
		strings.Repeat("net_null", 100) + "0,": {"check the driver's name"},
	} {
		_, err := ethdev.Attach(devargs)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %q in it", devargs, err, w)
			}
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %v", devargs, err)
		}
	}
}

func TestConfigureErrorsSayWhatToDo(t *testing.T) {
	port, pools := attach(t, dpdktest.Ring(5)), []*mempool.Mempool{dpdktest.Pool(t, "few")}
	for _, c := range []struct {
		name   string
		config ethdev.Config
		want   []string
	}{
		{"queues", ethdev.Config{RxQueues: 100, TxQueues: 100, Pools: pools}, []string{"net_ring5", "16 rx and 16 tx queues", "100 workers", "fewer dpdk.lcores"}},
		{"MTU too small", ethdev.Config{RxQueues: 1, TxQueues: 1, MTU: 10, Pools: pools}, []string{"net_ring5 (net_ring)", "not 10"}},
		{"no pool", ethdev.Config{RxQueues: 1, TxQueues: 1}, []string{"no pool"}},
	} {
		err := port.Configure(c.config)
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %q in it", c.name, err, w)
			}
		}
	}
	if err := port.Start(); err == nil || !strings.Contains(err.Error(), "net_ring5: cannot start") {
		t.Errorf("started a port that is not configured: %v", err)
	}
}
