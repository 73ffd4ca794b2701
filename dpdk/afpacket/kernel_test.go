package afpacket

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"intsink/dpdk/iface"
	"intsink/dpdk/mbuf"
	"intsink/internal/netns"
)

// A kernel with checksum offload leaves the checksum to the device, and a veth
// device hands the frame over without one.
func TestChecksumsAreCompleted(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	netns.Sh(t, `
ethtool -K peer0 tx on >/dev/null
ip addr add 10.0.0.1/24 dev peer0
ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev peer0`)
	b := open(t, 1, 128, 2048)
	c, err := net.Dial("udp", "10.0.0.2:9")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for n := range 64 {
		fmt.Fprint(c, strings.Repeat("x", 1+n))
	}
	// And one with a VLAN tag, which the kernel takes out.
	datagram := []byte("\x03\xe8\x07\xd0\x00\x10\x00\x00abcdefgh")
	copy(datagram[6:], "\x14\x24") // the sum of the pseudo header: 0a00+0001+0a00+0002+0011+0010
	f := ipv4(unix.IPPROTO_UDP, 0, datagram)
	sendJoined(t, tagged(f, 0x8100, 7), 0, 0, 38, 6)
	got := b.receive(t, 0, 65)
	for _, f := range got {
		if got := transportSum(t, f); got != 0xffff {
			t.Errorf("checksum of %x: %#x", f, got)
		}
	}
	sctp := append([]byte("\x03\xe8\x07\xd0\x11\x22\x33\x44\x00\x00\x00\x00\x00\x03\x00\x14\x00\x00\x00\x01"), make([]byte, 12)...)
	for _, f := range [][]byte{ipv4(132, 0, sctp), ipv6(132, sctp), tagged(ipv4(132, 0, sctp), 0x8100, 7)} {
		sendJoined(t, f, 0, 0, len(f)-len(sctp), 8)
		if c := b.receive(t, 0, 1)[0][len(f)-24:][:4]; string(c) != "\x5f\x6e\x5e\x32" {
			t.Errorf("SCTP's CRC32c: %x", c)
		}
	}
	if s := b.Stats(); len(got[64]) != len(f)+4 || s.Uncut != [Uncuts]uint64{} {
		t.Errorf("with a tag: %x, %+v", got[64], s)
	}
}

// sendJoined sends a frame as the kernel does that leaves it to the device to cut it, or to
// complete its checksum.
func sendJoined(t testing.TB, frame []byte, kind uint8, size, l4, checksumAt int) {
	t.Helper()
	c := joinedCase{kind: kind, l4: l4, checksumAt: checksumAt}
	sendVnet(t, "peer0", append(c.vnet(size), frame...))
}

// sendVnet sends a frame behind its struct virtio_net_hdr.
func sendVnet(t testing.TB, device string, frame []byte) {
	t.Helper()
	i, err := net.InterfaceByName(device)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	if err == nil {
		defer unix.Close(fd)
		err = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1)
	}
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: i.Index})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(fd, frame); err != nil {
		t.Fatalf("%s: %v: %x", device, err, frame[:min(len(frame), 150)])
	}
}

// A sender with TSO hands 40 kB over at once; what leaves the sink are the segments that
// would have been on a wire.
func TestJoinedFramesAreCut(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	b := open(t, 1, 256, 2048)
	const size, segments = 1448, 100 // more than a burst
	for _, c := range joinedCases(size, 28) {
		t.Run(c.name, func(t *testing.T) {
			sendJoined(t, c.frame, c.kind, size, c.l4, c.checksumAt)
			checkSegments(t, b.receive(t, 0, 28), &c, size)
		})
	}
	small := joinedCases(300, segments)[0]
	sendJoined(t, small.frame, small.kind, 300, small.l4, small.checksumAt)
	checkSegments(t, b.receive(t, 0, segments), &small, 300)
	if s := b.Stats(); s.Joined != uint64(len(joinedCases(size, 28))+1) || s.Uncut != [Uncuts]uint64{} {
		t.Errorf("%+v", s)
	}
}

// A frame that is longer than those of the ring is read from the socket: the MTU was
// raised while the port was open.
func TestFramesLongerThanTheRings(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	b, k := open(t, 1, 256, 2048), peer(t)
	netns.Sh(t, "ip link set peer0 mtu 9000; ip link set port0 mtu 9000")
	var want [][]byte
	for i := range 30 {
		want = append(want, plain([]int{60, 9014, 1514}[i%3], i))
		want = append(want, tagged(plain(9010, i), 0x88a8, 7))
	}
	for _, f := range want {
		if !k.Send(f) {
			t.Fatal("not sent")
		}
	}
	same(t, b.receive(t, 0, len(want)), want)
}

func TestWhatFindsNoRoomIsCounted(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	b, k := open(t, 1, 128, 2048), peer(t)
	const sent = 2000
	for i := range sent {
		k.Send(plain(60, i))
	}
	var held []*mbuf.Mbuf
	t.Cleanup(func() {
		for _, m := range held {
			b.v[0] = m
			b.pool.FreeBulk(b.v, 1)
		}
	})
	eventually(t, "every frame is counted", func() bool {
		held = append(held, b.v[:b.Queue(0).RxBurst(b.v)]...)
		s := b.Stats()
		return s.RxPackets+s.NoMbuf+s.Missed == sent && s.NoMbuf > 0 && s.Missed > 0
	})
}

func TestDepthIsWhatWaits(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	b, k := open(t, 1, 256, 2048), peer(t)
	for round := range 20 { // past the end of the ring
		for i := range 50 {
			k.Send(plain(60, i))
		}
		eventually(t, "50 frames wait", func() bool { return b.Queue(0).Depth() == 50 })
		b.receive(t, 0, 50)
		if d := b.Queue(0).Depth(); d != 0 {
			t.Fatalf("round %d: depth %d of an empty ring", round, d)
		}
	}
}

// Frames that this machine sends by the interface itself are not received.
func TestOwnFramesStayAway(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	netns.Sh(t, "ip addr add 10.0.0.2/24 dev port0; ip neigh add 10.0.0.1 lladdr 02:00:00:00:00:01 dev port0")
	b, k := open(t, 1, 128, 2048), peer(t)
	c, err := net.Dial("udp", "10.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "kernel")
	k.arrived(t, 1)
	b.send(t, 2048, plain(60, 1))
	k.arrived(t, 1)
	k.Send(plain(60, 2))
	same(t, b.receive(t, 0, 1), [][]byte{plain(60, 2)})
}

func TestErrorsSayWhatToDo(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	open(t, 1, 64, 2048)
	for name, c := range map[string]struct {
		config Config
		want   []string
	}{
		"second of this process": {Config{Interface: "port0", Queues: 1, Frames: 64}, []string{"in use by process " + fmt.Sprint(os.Getpid())}},
		"no interface":           {Config{Interface: "nosuch0", Queues: 1, Frames: 64}, []string{`"nosuch0"`, "no such interface"}},
		"name too long":          {Config{Interface: "abcdefghijklmnopq", Queues: 1, Frames: 64}, []string{"1 to 15 bytes"}},
		"ring too large":         {Config{Interface: "peer0", Queues: 1, Frames: 1 << 27}, []string{"rx_desc"}},
		"MTU refused":            {Config{Interface: "peer0", Queues: 1, Frames: 64, MTU: 3}, []string{"MTU 3", "ip link set"}},
	} {
		_, err := Open(c.config)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", name, err, want)
			}
		}
	}
	if err := reversible("eth0", iface.Offloads{GRO: true, LRO: true}); err == nil || !strings.Contains(err.Error(), "ethtool -K eth0 lro off") {
		t.Error(err)
	}
	if err := socketError(unix.EPERM); !strings.Contains(err.Error(), "CAP_NET_RAW") {
		t.Error(err)
	}
	if _, err := Open(Config{Interface: "peer0", Queues: 1, Frames: 64, MTU: 2000}); err != nil {
		t.Errorf("after those errors: %v", err)
	}
}
