package afpacket

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"intsink/internal/netns"
)

// cutByKernel is what docs/install.md says to the sender's kernel, so that it cuts frames.
const cutByKernel = `ethtool -K peer0 tso off tx-udp-segmentation off tx-udp_tnl-segmentation off tx-udp_tnl-csum-segmentation off \
	tx-gre-segmentation off tx-gre-csum-segmentation off tx-ipxip4-segmentation off tx-ipxip6-segmentation off tx-sctp-segmentation off >/dev/null
`

// tunnels are the devices over peer0 that joined frames are sent by, as far as the kernel has them.
var tunnels = map[string]string{
	"vx4":    "vxlan id 7 local 10.0.0.1 remote 10.0.0.2 dstport 4789 dev peer0 noudpcsum",
	"vx4sum": "vxlan id 8 local 10.0.0.1 remote 10.0.0.2 dstport 4790 dev peer0 udpcsum df set",
	"vx6":    "vxlan id 9 local fd00::1 remote fd00::2 dstport 4791 dev peer0 udp6zerocsumtx",
	"vx6sum": "vxlan id 10 local fd00::1 remote fd00::2 dstport 4792 dev peer0",
	"gnv":    "geneve id 7 remote 10.0.0.2",
	"gnv6":   "geneve id 7 remote fd00::2 dstport 6082",
	"gre":    "gretap local 10.0.0.1 remote 10.0.0.2",
	"grekey": "gretap local 10.0.0.1 remote 10.0.0.2 key 5 csum",
	"gre6":   "ip6gretap local fd00::1 remote fd00::2",
}

// TestCutAsTheKernelDoes: what the port makes of a joined frame is what the sender's kernel makes of
// it where it has to cut it itself, for every device that frames are sent by. CWR without
// VIRTIO_NET_HDR_GSO_ECN is left out: kernels take it from all segments but the first.
func TestCutAsTheKernelDoes(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 9000)
	netns.Sh(t, `
sysctl -qw net.ipv6.conf.peer0.disable_ipv6=0 net.ipv6.conf.peer0.dad_transmits=0 net.ipv6.conf.peer0.router_solicitations=0
ip addr add 10.0.0.1/24 dev peer0; ip addr add fd00::1/64 dev peer0 nodad
ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev peer0; ip neigh add fd00::2 lladdr 02:00:00:00:00:02 dev peer0`)
	const perDevice = 15
	devices := []string{"peer0"}
	for name, link := range tunnels {
		if out, err := exec.Command("sh", "-c", fmt.Sprintf("ip link add %s type %s && ip link set %s mtu 8000 up", name, link, name)).CombinedOutput(); err != nil {
			t.Logf("%s is not in this kernel: %s", name, out)
			continue
		}
		devices = append(devices, name)
	}
	b := open(t, 1, 512, 10000)
	frames := map[string][][][]byte{}
	for _, by := range []string{"the port", "the kernel"} {
		if by == "the kernel" {
			netns.Sh(t, cutByKernel)
		}
		joined := b.Stats().Joined
		for _, d := range devices {
			r := rand.New(rand.NewPCG(1, 5))
			for range perDevice {
				c := plainStacked(r)
				sendVnet(t, d, append(bytes.Clone(c.vnet), c.frame...))
				frames[by] = append(frames[by], b.segmentsOf(t, c))
			}
		}
		if cut := b.Stats().Joined - joined; (cut > 0) != (by == "the port") {
			t.Errorf("%d frames were cut by the port, where it is to be %s", cut, by)
		}
	}
	for i, want := range frames["the kernel"] {
		t.Logf("%s, frame %d: %d segments", devices[i/perDevice], i%perDevice, len(want))
		same(t, frames["the port"][i], want)
	}
	if s := b.Stats(); s.Uncut != [Uncuts]uint64{} {
		t.Errorf("%+v", s)
	}
}

// plainStacked is a joined frame without a tunnel, of more than a segment.
func plainStacked(r *rand.Rand) stacked {
	for {
		c := randomStacked(r)
		if len(c.segments) < 2 || len(c.frame) > 60000 || c.tunnels > 0 || strings.Contains(c.name, "mpls") || strings.Contains(c.name, "pppoe") || c.vnet[vnetType]&gsoECN == 0 && c.vnet[vnetType] != gsoUDP {
			continue
		}
		return c
	}
}

// segmentsOf receives the segments of c, with the id of the outer IPv4 header, which is random,
// counted from the first.
func (b *bed) segmentsOf(t testing.TB, c stacked) (all [][]byte) {
	t.Helper()
	for len(all) < len(c.segments) {
		for _, f := range b.receive(t, 0, 1) {
			if len(f) > len(c.segments[len(c.segments)-1])-8 { // and not the kernel's own
				all = append(all, f)
			}
		}
	}
	first := binary.BigEndian.Uint16(all[0][18:])
	for _, f := range all {
		if len(f) == len(c.frame) || f[12] != 8 || f[14] != 0x45 || bytes.Equal(f[:20], c.frame[:20]) {
			continue
		}
		if slowSum(f[14:34]) != 0xffff {
			t.Errorf("header %x", f[14:34])
		}
		be16(f, 18, int(binary.BigEndian.Uint16(f[18:])-first))
		be16(f, 24, 0)
	}
	return all
}

// TestJoinedByGROComeOutAsTheyWere: segments in tunnels that the kernel of the port joins are the
// same as they were sent.
func TestJoinedByGROComeOutAsTheyWere(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	netns.Sh(t, `
ethtool -K peer0 tso off; ethtool -K port0 gro on
unshare -m sh -ec 'mount -t sysfs none /sys
echo 50000000 > /sys/class/net/port0/gro_flush_timeout
echo 100 > /sys/class/net/port0/napi_defer_hard_irqs' `)
	b, k := open(t, 1, 512, 2048), peer(t)
	const size = 500
	for name, around := range map[string][]wrap{
		"none": {fixed(macs + "\x08\x00")},
		"4in4": {fixed(macs + "\x08\x00"), ip4(4, 100, 0)},
		"4in6": {fixed(macs + "\x86\xdd"), ip6(4, 4, "", false)},
		"6in4": {fixed(macs + "\x08\x00"), ip4(41, 100, 0)},
		"6in6": {fixed(macs + "\x86\xdd"), ip6(41, 41, "", false)},
	} {
		v6 := name[0] == '6'
		inner := append([]wrap{}, around...)
		if v6 {
			inner = append(inner, ip6(6, 6, "", false))
		} else {
			inner = append(inner, ip4(6, 7, 0))
		}
		inner = append(inner, tcp(v6, true, size, 3))
		before := b.Stats().Joined
		var want [][]byte
		for i := range 6 {
			f := make([]byte, size)
			for j := len(inner) - 1; j >= 0; j-- {
				f = inner[j](f, seg{index: i, last: i == 5})
			}
			want = append(want, f)
			k.Send(f)
		}
		same(t, b.receive(t, 0, 6), want)
		if b.Stats().Joined == before {
			t.Errorf("%s: nothing was joined", name)
		}
	}
}
