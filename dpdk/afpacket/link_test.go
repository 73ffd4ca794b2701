package afpacket

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/dpdk/iface"
	"intsink/dpdk/mbuf"
	"intsink/internal/netns"
)

// What the kernel refuses stays the caller's, with the reason: nothing is counted as
// sent that did not leave.
func TestRefusals(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	b, k := open(t, 1, 256, 2048), peer(t)
	burst := [][]byte{plain(60, 0), plain(1514, 1), plain(1519, 2), plain(60, 3)}
	try := func(what string, sent int, why mbuf.Refusal, frames ...[]byte) {
		t.Helper()
		if n := b.send(t, 2048, frames...); n != sent || n < len(frames) && b.Queue(0).Refusal() != why {
			t.Errorf("%s: %d frames taken, want %d; refusal %d, want %d", what, n, sent, b.Queue(0).Refusal(), why)
		}
		same(t, k.arrived(t, sent), frames[:sent])
	}
	try("too long", 2, mbuf.RefusedTooLong, burst...)
	try("with a VLAN tag as long as may be", 1, 0, tagged(plain(1514, 1), 0x8100, 9))
	try("shorter than a header", 0, mbuf.RefusedFrame, plain(10, 0))
	netns.Sh(t, "ip link set peer0 down")
	eventually(t, "carrier down is known", func() bool { return !b.LinkUp() })
	if s := b.LinkDown(); !strings.Contains(s, "no carrier") {
		t.Error(s)
	}
	try("no carrier", 0, mbuf.RefusedDown, burst...)
	netns.Sh(t, "ip link set peer0 up")
	eventually(t, "carrier up is known", b.LinkUp)
	try("carrier back", 2, mbuf.RefusedTooLong, burst...)
	netns.Sh(t, "ip link set port0 down")
	eventually(t, "down is known", func() bool { return !b.LinkUp() })
	if s := b.LinkDown(); !strings.Contains(s, "ip link set port0 up") {
		t.Error(s)
	}
	try("down", 0, mbuf.RefusedDown, burst...)
	b.up.Store(true) // as in the moment before netlink tells
	try("down, and not yet known", 0, mbuf.RefusedDown, burst...)
	netns.Sh(t, "ip link set port0 up")
	eventually(t, "up is known", func() bool { return b.LinkUp() && b.LinkChanges() == 4 }) // LinkUp alone may be from above
	try("up again", 1, 0, burst[0])
	b.settle(t, k)
	k.Send(plain(60, 7))
	got := [][]byte{}
	for len(got) == 0 {
		got = slices.DeleteFunc(b.receive(t, 0, 1), func(f []byte) bool { return len(f) == settling })
	}
	same(t, got, [][]byte{plain(60, 7)})
	if s := b.Stats(); s.TxPackets != 6 {
		t.Errorf("%+v", s)
	}
}

// A peer that is down has no carrier: what is sent before netlink tells is refused, too.
func TestNoCarrierBeforeItIsKnown(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	b := open(t, 1, 64, 2048)
	netns.Sh(t, "ip link set peer0 down")
	eventually(t, "carrier down is known", func() bool { return !b.LinkUp() })
	b.up.Store(true)
	if n := b.send(t, 2048, plain(60, 0)); n != 0 || b.Queue(0).Refusal() != mbuf.RefusedFull {
		t.Errorf("%d sent, refusal %d", n, b.Queue(0).Refusal())
	}
}

func TestInterfaceMadeAnew(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	b := open(t, 2, 256, 2048)
	for range 3 {
		netns.Sh(t, "ip link del port0")
		eventually(t, "gone is known", func() bool { return !b.LinkUp() && b.LinkDown() == "interface port0 is gone" })
		b.up.Store(true)
		if n := b.send(t, 2048, plain(60, 0)); n != 0 || b.Queue(0).Refusal() != mbuf.RefusedDown {
			t.Errorf("gone: %d sent, refusal %d", n, b.Queue(0).Refusal())
		}
		b.up.Store(false)
		cable(t, 1500)
		b.flowsAgain(t)
	}
	if s := b.Stats(); s.Reopened != 3 || s.RxPackets < 3 || s.TxPackets != 3 {
		t.Errorf("%+v", s)
	}
	if b.LinkChanges() != 6 {
		t.Errorf("%d changes of the link, want 6", b.LinkChanges())
	}
}

// flowsAgain waits until both queues have sockets on the interface that is there again, and sends
// a frame each way.
func (b *bed) flowsAgain(t *testing.T) {
	t.Helper()
	eventually(t, "up again is known", b.LinkUp)
	k := peer(t)
	eventually(t, "the queues have their new sockets", func() bool {
		for i := range 2 {
			b.pool.FreeBulk(b.v, b.Queue(i).RxBurst(b.v))
		}
		return b.Queue(0).replacement.Load() == nil && b.Queue(1).replacement.Load() == nil
	})
	b.settle(t, k)
	if n := b.send(t, 2048, plain(60, 0)); n != 1 {
		t.Errorf("there again: not sent: %d", b.Queue(0).Refusal())
	}
	k.arrived(t, 1)
	eventually(t, "the old sockets are closed", func() bool { return b.Queue(0).retired.Load() == nil && b.Queue(1).retired.Load() == nil })
}

// TestReadersDoNotWaitForTheKernel: while the sockets on an interface that was made anew are being opened, however long that takes,
// counters and the state of the link are told.
func TestReadersDoNotWaitForTheKernel(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	b := open(t, 2, 256, 2048)
	began, hangs := make(chan struct{}), make(chan struct{})
	b.changing.Lock()
	b.openAll = func(s *iface.State) ([]*sockets, error) {
		began <- struct{}{}
		<-hangs
		return b.open(s)
	}
	b.changing.Unlock()
	netns.Sh(t, "ip link del port0")
	cable(t, 1500)
	<-began
	told := make(chan struct{})
	go func() {
		defer close(told)
		b.Stats()
		b.LinkDown()
		b.LinkSpeed()
		b.LinkUp()
		b.LinkChanges()
		b.MAC()
	}()
	select {
	case <-told:
	case <-time.After(patience):
		t.Error("who asks for the state of the port waits for the kernel")
	}
	close(hangs)
}

// An interface that leaves the network namespace and comes back has the index that it had, but
// the kernel has unbound the sockets from it.
func TestInterfaceMovedAndBack(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	elsewhere := exec.Command("sleep", "3600") // its process keeps another network namespace
	elsewhere.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := elsewhere.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { elsewhere.Process.Kill(); elsewhere.Wait() })
	b := open(t, 2, 256, 2048)
	index := interfaceIndex(t, "port0")
	for range 2 {
		netns.Sh(t, fmt.Sprintf("ip link set port0 netns %d", elsewhere.Process.Pid))
		eventually(t, "gone is known", func() bool { return !b.LinkUp() && b.LinkDown() == "interface port0 is gone" })
		netns.Sh(t, fmt.Sprintf("nsenter -t %d -n ip link set port0 netns %d; ip link set port0 up", elsewhere.Process.Pid, os.Getpid()))
		b.flowsAgain(t)
	}
	if s, now := b.Stats(), interfaceIndex(t, "port0"); s.Reopened != 2 || now != index {
		t.Errorf("%+v, index %d, was %d", s, now, index)
	}
}

func interfaceIndex(t *testing.T, name string) int {
	t.Helper()
	i, err := net.InterfaceByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return i.Index
}

func TestOpenWhileDown(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	netns.Sh(t, "ip link set port0 down")
	b, k := open(t, 2, 256, 2048), peer(t)
	if b.LinkUp() {
		t.Error("up")
	}
	netns.Sh(t, "ip link set port0 up")
	eventually(t, "up is known", b.LinkUp)
	b.settle(t, k)
	const sent = 20
	for i := range sent {
		k.Send(plain(60, i))
	}
	got := 0
	eventually(t, "all frames arrive", func() bool {
		for i := range 2 {
			n := b.Queue(i).RxBurst(b.v)
			for _, m := range b.v[:n] {
				if m.PktLen() != settling {
					got++
				}
			}
			b.pool.FreeBulk(b.v, n)
		}
		return got >= sent
	})
	if got != sent {
		t.Errorf("%d frames of %d", got, sent)
	}
}

// Two queues: each flow has one, in both directions, and its packets keep their order.
// From the moment of opening no frame comes twice.
func TestQueuesShareByFlow(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	k := peer(t)
	const flows, packets = 16, 30
	b := open(t, 2, 1024, 2048)
	for n := range packets {
		for flow := range flows {
			payload := []byte(fmt.Sprintf("\x03%c\x07\xd0\x00\x0a\x00\x00%c%c", flow, flow, n))
			if n%2 == 1 {
				payload[0], payload[1], payload[2], payload[3] = payload[2], payload[3], payload[0], payload[1]
			}
			f := ipv4(17, 0, payload)
			if n%2 == 1 { // the way back
				copy(f[26:], "\x0a\x00\x00\x02\x0a\x00\x00\x01")
			}
			k.Send(f)
		}
	}
	queueOf, count, next := map[byte]int{}, 0, map[byte]byte{}
	eventually(t, "all packets", func() bool {
		for i := range 2 {
			n := b.Queue(i).RxBurst(b.v)
			for _, m := range b.v[:n] {
				flow, number := m.Bytes()[42], m.Bytes()[43]
				if q, known := queueOf[flow]; known && q != i {
					t.Errorf("flow %d in both queues", flow)
				}
				if number != next[flow] {
					t.Errorf("flow %d: packet %d, want %d", flow, number, next[flow])
				}
				queueOf[flow], next[flow] = i, number+1
				count++
			}
			b.pool.FreeBulk(b.v, n)
		}
		return count == flows*packets
	})
	used := map[int]int{}
	for _, q := range queueOf {
		used[q]++
	}
	if len(used) != 2 {
		t.Errorf("flows by queue: %v", used)
	}
}
