package ports

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"intsink/conf"
	"intsink/dpdk/ethdev"
	"intsink/dpdk/iface"
	"intsink/internal/netns"
)

func TestFits(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "ip link add aa0 mtu 3000 type veth peer name bb0")
	f, err := iface.Follow("aa0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scatter := ethdev.Info{Driver: "net_tap", RxOffloads: 1 << 13}
	for _, c := range []struct {
		name     string
		info     ethdev.Info
		mtu      uint16
		follower *iface.Follower
		mbuf     int
		want     string
	}{
		{name: "nothing is known", info: ethdev.Info{Driver: "net_ring"}, mbuf: 2048},
		{name: "chains", info: scatter, follower: f, mbuf: 2048},
		{name: "chains of net_pcap", info: ethdev.Info{Driver: "net_pcap"}, follower: f, mbuf: 2048},
		{name: "no chains", info: ethdev.Info{Driver: "net_x", MaxMTU: 9000}, follower: f, mbuf: 2048,
			want: "the MTU of the interface aa0 is 3000, and net_x takes frames that fit an mbuf, here 2048 bytes: write dpdk { mbuf_size = 3072 }, or lower the MTU to 2026"},
		{name: "as it says", info: ethdev.Info{Driver: "net_x", MaxMTU: 9000}, follower: f, mbuf: 3072},
		{name: "more than the driver takes", info: ethdev.Info{Driver: "net_af_xdp", MaxMTU: 2900}, follower: f, mbuf: 16384,
			want: `the MTU of the interface aa0 is 3000, and net_af_xdp takes at most 2900: lower it, or write device = "kernel:..."`},
		{name: "mtu of the port", info: ethdev.Info{Driver: "net_x"}, mtu: 2027, mbuf: 2048, want: "the MTU of the port is 2027"},
		{name: "which just fits", info: ethdev.Info{Driver: "net_x"}, mtu: 2026, mbuf: 2048},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := fits(&c.info, c.follower, &conf.Port{MTU: c.mtu}, c.mbuf)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if !scatter.Scatter() {
		t.Error("RTE_ETH_RX_OFFLOAD_SCATTER is another bit")
	}
}

func TestWarningsOfInterfaces(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, `
ip link add aa0 type veth peer name bb0
ethtool -K aa0 gro off
ip link add vrf0 type vrf table 10 || ip link add vrf0 type bridge || ip link add vrf0 type bond || ip link add vrf0 type dummy
ip link set bb0 master vrf0 || true`)
	if got := append(alsoKernels("aa0"), joinedFrames("aa0")...); len(got) != 0 {
		t.Errorf("%q", got)
	}
	netns.Sh(t, "ip addr add 10.0.0.1/24 dev aa0; ethtool -K aa0 gro on")
	for _, want := range []string{"ip addr flush dev aa0", "ethtool -K aa0 gro off"} {
		if got := strings.Join(append(alsoKernels("aa0"), joinedFrames("aa0")...), "\n"); !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
	if s, err := iface.Lookup("bb0"); err == nil && s.Master != 0 {
		if got := strings.Join(alsoKernels("bb0"), "\n"); !strings.Contains(got, "ip link set bb0 nomaster") {
			t.Errorf("%q", got)
		}
	}
}

func TestNarrowLinks(t *testing.T) {
	if !netns.In(t) {
		return
	}
	netns.Sh(t, "ip link add aa0 mtu 3000 type veth peer name bb0 mtu 1500")
	c := &conf.Config{
		Ports: []conf.Port{{Name: "a", Device: "kernel:aa0"}, {Name: "b", Device: "net_pcap0,iface=bb0"}, {Name: "c", Device: "net_null0"}},
		Links: []conf.Link{{Name: "good", Network: "a", Host: "b"}, {Name: "unknown", Network: "c", Host: "a"}, {Name: "unknown too", Network: "a", Host: "c"}},
	}
	if got := narrowLinks(c); len(got) != 0 {
		t.Errorf("%q", got)
	}
	c.Links = append(c.Links, conf.Link{Name: "bad", Network: "b", Host: "a"})
	if got := narrowLinks(c); len(got) != 1 || !strings.Contains(got[0], `link "bad": the MTU of the host side is 3000, that of the network side 1500`) {
		t.Errorf("%q", got)
	}
}

// stub is a device whose link the test switches.
type stub struct {
	device
	mbit    int
	closed  bool
	down    string
	wrong   string
	changes uint64
}

func (s *stub) look()            {}
func (s *stub) linkSpeed() int   { return s.mbit }
func (s *stub) stop()            {}
func (s *stub) close()           { s.closed = true }
func (s *stub) linkDown() string { return s.down }
func (s *stub) impaired() string { return s.wrong }
func (s *stub) flaps() uint64    { return s.changes }

func TestLinkChangesAreCounted(t *testing.T) {
	s := &stub{}
	p := &Port{name: "network", device: s}
	for _, c := range []struct {
		what  string
		down  string
		flaps uint64 // announced by the kernel so far
		want  uint64 // changes
	}{
		{"up at start", "", 0, 0},
		{"down, by polling only", "unplugged", 0, 1},
		{"another reason", "gone", 0, 1},
		{"up", "", 0, 2},
		{"down, and told of", "unplugged", 1, 3},
		{"nothing new", "unplugged", 1, 3},
		{"up and down between two looks", "unplugged", 3, 5},
		{"up", "", 4, 6},
	} {
		s.down, s.changes = c.down, c.flaps
		if p.look(); p.link.changes.Load() != c.want {
			t.Errorf("%s: %d changes, want %d", c.what, p.link.changes.Load(), c.want)
		}
	}
}

// What is wrong with a link that is up is logged when it changes, and counts as no change of
// the link.
func TestImpairedLinkIsLogged(t *testing.T) {
	var logged bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	defer slog.SetDefault(was)
	s := &stub{}
	p := &Port{name: "network", device: s}
	for _, c := range []struct{ what, wrong, want string }{
		{"nothing is wrong", "", ""},
		{"few queues", "the peer has 1 queue", "level=ERROR"},
		{"as before", "the peer has 1 queue", ""},
		{"something else", "the peer has 2 queues", "the peer has 2 queues"},
		{"mended", "", "nothing is wrong with the link any more"},
	} {
		logged.Reset()
		s.wrong = c.wrong
		p.lookCloser()
		if got := logged.String(); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: logged %q, want %q", c.what, got, c.want)
		}
	}
	if n := p.link.changes.Load(); n != 0 {
		t.Errorf("%d changes of the link", n)
	}
}
