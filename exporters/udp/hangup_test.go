package udp

import (
	"net"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/report"
	"intsink/exporters"
)

// failing is a socket that takes some messages and then fails.
type failing struct {
	takes  int
	err    error
	closed bool
}

func (c *failing) WriteBatch(ms []ipv4.Message, _ int) (int, error) {
	n := min(c.takes, len(ms))
	if c.takes -= n; n < len(ms) {
		return n, c.err
	}
	return n, nil
}

func (c *failing) SetWriteDeadline(time.Time) error { return nil }
func (c *failing) Close() error                     { c.closed = true; return nil }
func (c *failing) peer() net.Addr                   { return nil }
func (c *failing) header(uint16) *report.UDPFrame   { return nil }
func (c *failing) answers(*answers) int             { return 0 }

// TestUnreachableCountsTheRest: where the way is gone, all of a batch that was not sent is
// counted, the socket is closed, and for a while none is opened.
func TestUnreachableCountsTheRest(t *testing.T) {
	pool, err := mbuf.NewArena(64, 2048)
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Pool: pool})
	offer := func(n int) {
		if !pool.AllocBulk(e.vec, n) {
			t.Fatal("no mbufs")
		}
		for _, m := range e.vec[:n] {
			copy(m.SetLen(report.HandoffLen+40), make([]byte, report.HandoffLen+40))
		}
		e.export(n)
	}
	c := &failing{takes: 3, err: unix.ENETUNREACH}
	e.conn = c
	before := time.Now()
	offer(10)
	if sent, lost := e.Packets.Load(), e.Dropped[exporters.DropUnreachable].Load(); sent != 3 || lost != 7 || !c.closed || e.conn != nil {
		t.Errorf("%d sent, %d unreachable, closed %v; want 3, 7 and true", sent, lost, c.closed)
	}
	if e.retryAt.Before(before.Add(retryEvery)) || e.retryAt.After(time.Now().Add(retryEvery)) {
		t.Errorf("the next try is in %v, want %v", time.Until(e.retryAt), retryEvery)
	}
	e.retryAt = time.Now().Add(time.Hour)
	offer(5)
	if lost := e.Dropped[exporters.DropUnreachable].Load(); lost != 12 || e.Dials.Load() != 0 {
		t.Errorf("%d unreachable, %d sockets opened at once; want 12 and none", lost, e.Dials.Load())
	}
	if pool.InUse() != 0 {
		t.Errorf("%d mbufs in use", pool.InUse())
	}
}

// TestOtherErrorsCostOneMessage: the rest of the batch is sent.
func TestOtherErrorsCostOneMessage(t *testing.T) {
	pool, err := mbuf.NewArena(64, 2048)
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Pool: pool})
	c := &failing{takes: 3, err: unix.EMSGSIZE}
	e.conn = c
	ms := make([]ipv4.Message, 7)
	if left := e.countLost(ms, classify(c.err)); len(left) != 6 || c.closed {
		t.Errorf("%d messages left, closed %v", len(left), c.closed)
	}
}
