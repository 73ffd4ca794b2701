package engine

import (
	"bytes"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/stage/transmit"
	"intsink/engine/wire/intgen"
)

// slowQueue takes few packets at a time, and each further try takes time.
type slowQueue struct {
	*memQueue
	most, calls int
	pass        func()
}

func (q *slowQueue) TxBurst(v *mbuf.Vec, n int) int {
	q.calls++
	q.pass()
	return q.memQueue.TxBurst(v, min(n, q.most))
}

func (q *slowQueue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	q.calls++
	return q.memQueue.TxBurst(tx, min(n, q.most)), q.RxBurst(rx)
}

// arp is a frame that stations are shown.
func arp() []byte {
	return append(make([]byte, 12), append([]byte{0x08, 0x06}, make([]byte, 46)...)...)
}

// listener keeps the times at which it heard something.
type listener struct{ heard []int64 }

func (l *listener) Hear(_ []byte, now int64) { l.heard = append(l.heard, now) }
func (l *listener) Tick(int64)               {}

// TestBothWaysInOnePoll: a burst each way meets on the host port, where the port takes
// few packets at a time: none is lost, none is held, each burst has its own receive time.
func TestBothWaysInOnePoll(t *testing.T) {
	for _, c := range []struct {
		most, packets, forwarded, calls int
	}{
		{64, 40, 40, 1},
		{10, 40, 40, 4},
		{5, 45, 45, 1 + transmit.Retries},
		{5, 64, 45, 1 + transmit.Retries},
		{0, 3, 0, 1 + transmit.Retries},
		{5, 0, 0, 1},
	} {
		b := newBed(t, nil)
		slow := &slowQueue{memQueue: b.host, most: c.most, pass: func() { b.now += 50e3 }}
		var network, host listener
		l := b.links[0].Link
		l.Host, l.NetworkStation, l.HostStation = slow, &network, &host
		start := b.now
		b.clock = func() int64 { b.now += 1000; return b.now }
		var want [][]byte
		for n := range c.packets {
			frame := plain(n)
			if n == 0 {
				frame = arp()
			}
			want = append(want, frame)
			b.network.RX = append(b.network.RX, bytes.Clone(frame))
		}
		b.host.RX = [][]byte{plain(100), arp(), plain(101)}
		if n := b.Poll(); n != c.packets+3 || slow.calls != c.calls {
			t.Errorf("%+v: %d packets found, %d calls", c, n, slow.calls)
		}
		if len(b.host.TX) != c.forwarded || len(b.network.TX) != 3 || !bytes.Equal(b.network.TX[2], plain(101)) {
			t.Errorf("%+v: forwarded %d to the host and %d to the network", c, len(b.host.TX), len(b.network.TX))
		}
		for i, f := range b.host.TX {
			if !bytes.Equal(f, want[i]) {
				t.Errorf("%+v: packet %d to the host is not the one that came", c, i)
			}
		}
		at := start + 1000
		if c.packets > 0 {
			if len(network.heard) != 1 || network.heard[0] != at {
				t.Errorf("%+v: the network's burst came at %v, want %d", c, network.heard, at)
			}
			at += 1000
		}
		if len(host.heard) != 1 || host.heard[0] != at { // whatever the retries took
			t.Errorf("%+v: the host's burst came at %v, want %d", c, host.heard, at)
		}
		if b.pool.InUse() != 0 {
			t.Errorf("%+v: %d mbufs are held between two polls", c, b.pool.InUse())
		}
		b.balance()
		d := b.Snapshot().Links[0].Direction
		if d[burst.ToHost].Dropped[burst.DropTxFull] != uint64(c.packets-c.forwarded) || d[burst.ToNetwork].Forwarded != 3 {
			t.Errorf("%+v: counted %+v", c, d)
		}
	}
}

// TestDropsAndRefusalsWhileTheHostSends: a stage drops packets, the host port refuses others, and
// packets arrive from the host, all in one poll. Each is counted and forwarded as if it were
// alone.
func TestDropsAndRefusalsWhileTheHostSends(t *testing.T) {
	b := explained(t, nil)
	discard := withINT(t, plain(1), func(s *intgen.Source, _ []intgen.Hop) { s.Discard = true })
	b.host.Room = 1
	b.network.RX = frames(discard, plain(2), discard, plain(3), plain(4))
	b.host.RX = frames(plain(5), plain(6))
	b.Poll()
	if len(b.host.TX) != 1 || !bytes.Equal(b.host.TX[0], plain(2)) || len(b.network.TX) != 2 || !bytes.Equal(b.network.TX[1], plain(6)) {
		t.Errorf("forwarded %x and %x", b.host.TX, b.network.TX)
	}
	refused := 0
	for _, r := range b.decoded() {
		if r.Dropped && r.Source.String() == "10.0.0.3" {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d reports of the first packet that was refused, want 1", refused)
	}
	b.balance()
	d := b.Snapshot().Links[0].Direction[burst.ToHost]
	if d.Dropped[burst.DropDiscard] != 2 || d.Dropped[burst.DropTxFull] != 2 || d.Forwarded != 1 {
		t.Errorf("%+v", d)
	}
}

// TestTapBesideALink: a tap has no host port; its packets are freed, the link's pass.
func TestTapBesideALink(t *testing.T) {
	b := newBed(t, nil)
	tap := &memQueue{Pool: b.pool}
	b.remake(func(c *WorkerConfig) { c.Links = []burst.Link{{Name: "tap", Network: tap, NetworkID: 1}, c.Links[0]} })
	discard := withINT(t, plain(1), func(s *intgen.Source, _ []intgen.Hop) { s.Discard = true })
	tap.RX = frames(withINT(t, plain(1), nil), discard, plain(2))
	b.network.RX, b.host.RX = frames(plain(3)), frames(plain(4))
	if n := b.Poll(); n != 5 || len(b.host.TX) != 1 || len(b.network.TX) != 1 || len(tap.TX) != 0 || b.pool.InUse() != 0 {
		t.Errorf("%d packets, %d and %d forwarded, %d held", n, len(b.host.TX), len(b.network.TX), b.pool.InUse())
	}
	b.balance()
	if d := b.Snapshot().Links[0].Direction[burst.ToHost]; d.Received != 3 || d.Dropped[burst.DropTap]+d.Dropped[burst.DropDiscard] != 3 {
		t.Errorf("%+v", d)
	}
}
