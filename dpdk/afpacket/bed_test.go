package afpacket

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/dpdk/mbuf"
	"intsink/internal/netns"
	"intsink/internal/rawsocket"
)

// cable makes the veth pair port0 and peer0 in the test's namespace, with the kernel's own
// chatter off.
func cable(t testing.TB, mtu int) {
	t.Helper()
	netns.Sh(t, fmt.Sprintf(`
sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
ip link add port0 mtu %d type veth peer name peer0 mtu %d
ip link set port0 up
ip link set peer0 up`, mtu, mtu))
}

// bed is a port on port0, with a pool of its own.
type bed struct {
	*Port
	pool *mbuf.Arena
	v    *mbuf.Vec
}

func open(t testing.TB, queues, mbufs, room int) *bed {
	t.Helper()
	pool, err := mbuf.NewArena(mbufs, 128+room)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(Config{Interface: "port0", Queues: queues, Frames: 512, Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if pool.InUse() != 0 {
			t.Errorf("%d mbufs in use at the end", pool.InUse())
		}
		pool.Close()
	})
	return &bed{p, pool, mbuf.NewVec()}
}

// patience is how long tests wait for what has to come, beside other work, too.
const patience = time.Minute

// receive polls queue i until n frames came, and returns all that came by then.
func (b *bed) receive(t testing.TB, i, n int) (all [][]byte) {
	t.Helper()
	for deadline := time.Now().Add(patience); len(all) < n; {
		got := b.Port.Queue(i).RxBurst(b.v)
		for _, m := range b.v[:got] {
			all = append(all, m.AppendTo(nil, m.PktLen()))
		}
		b.pool.FreeBulk(b.v, got)
		if time.Now().After(deadline) {
			t.Fatalf("%d frames of %d came; %+v", len(all), n, b.Stats())
		}
	}
	return all
}

// send offers the frames to queue 0, as chains of segments of at most room bytes, and
// returns how many it took; the others are freed.
func (b *bed) send(t testing.TB, room int, frames ...[]byte) int {
	t.Helper()
	for i, f := range frames {
		one := mbuf.NewVec()
		var m *mbuf.Mbuf
		for len(f) > 0 || m == nil {
			if !b.pool.AllocBulk(one, 1) {
				t.Fatal("no mbuf")
			}
			f = f[copy(one[0].SetLen(min(room, len(f))), f):]
			if m == nil {
				m = one[0]
			} else {
				m.Chain(one[0])
			}
		}
		b.v[i] = m
	}
	sent := b.Queue(0).TxBurst(b.v, len(frames))
	rest := mbuf.NewVec()
	b.pool.FreeBulk(rest, copy(rest[:], b.v[sent:len(frames)]))
	return sent
}

// far is the other end of the cable, and what arrived there.
type far struct {
	*rawsocket.Interface
	frames chan []byte
}

func peer(t testing.TB) far {
	t.Helper()
	i, err := rawsocket.Open("peer0")
	if err != nil {
		t.Fatal(err)
	}
	f := far{i, make(chan []byte, 4096)}
	var stop atomic.Bool
	var receiving sync.WaitGroup
	receiving.Go(func() { i.Receive(&stop, func(b []byte) { f.frames <- bytes.Clone(b) }) })
	t.Cleanup(func() { stop.Store(true); receiving.Wait(); i.Close() })
	return f
}

// Send sends a frame as soon as the kernel takes it: beside other work its queue of received
// frames may be full for a while. It returns false if that lasts.
func (f far) Send(frame []byte) bool {
	for deadline := time.Now().Add(patience); !f.Interface.Send(frame); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// arrived waits for n frames.
func (f far) arrived(t testing.TB, n int) (all [][]byte) {
	t.Helper()
	for range n {
		select {
		case b := <-f.frames:
			all = append(all, b)
		case <-time.After(patience):
			t.Fatalf("%d frames of %d arrived", len(all), n)
		}
	}
	return all
}

const settling = 61

// settle sends frames until the first arrives: a peer whose carrier has just come back
// drops what it sends, without a word. Some may come late; their length is settling.
func (b *bed) settle(t testing.TB, k far) {
	t.Helper()
	got := func() (n int) {
		for i := range b.queues {
			k := b.Queue(i).RxBurst(b.v)
			b.pool.FreeBulk(b.v, k)
			n += k
		}
		return n
	}
	eventually(t, "a frame arrives", func() bool {
		k.Send(plain(settling, 0))
		return got() > 0
	})
	got()
}

// plain is a frame of n bytes of an experimental EtherType, its number behind the header.
func plain(n, number int) []byte {
	f := make([]byte, n)
	copy(f, "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01\x88\xb5")
	for i := ethernetLen; i < n; i++ {
		f[i] = byte(i * 7)
	}
	if n >= ethernetLen+4 {
		binary.BigEndian.PutUint32(f[ethernetLen:], uint32(number))
	}
	return f
}

// tagged is frame with a tag behind its MAC addresses.
func tagged(frame []byte, tpid, tci uint16) []byte {
	f := append([]byte(nil), frame[:macsLen]...)
	f = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(f, tpid), tci)
	return append(f, frame[macsLen:]...)
}

func same(t testing.TB, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("frame %d: %d bytes, want %d\ngot  %x\nwant %x", i, len(got[i]), len(want[i]), got[i][:min(48, len(got[i]))], want[i][:min(48, len(want[i]))])
		}
	}
}

// eventually waits for something that the kernel announces.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after %v: %s", patience, what)
		}
	}
}
