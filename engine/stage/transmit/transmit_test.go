package transmit_test

import (
	"bytes"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/enginetest"
	"intsink/engine/stage/transmit"
)

// pickyQueue takes no frame longer than mtu, none shorter than an Ethernet header, and
// none at all while it is down.
type pickyQueue struct {
	*enginetest.Port
	mtu   int
	down  bool
	why   mbuf.Refusal
	calls int
}

func (q *pickyQueue) TxBurst(v *mbuf.Vec, n int) int {
	q.calls++
	if q.down {
		q.why = mbuf.RefusedDown
		return 0
	}
	for i, m := range v[:n] {
		switch {
		case m.PktLen() > q.mtu+14:
			q.why = mbuf.RefusedTooLong
		case m.PktLen() < 14:
			q.why = mbuf.RefusedFrame
		default:
			continue
		}
		return q.Port.TxBurst(v, i)
	}
	q.why = mbuf.RefusedFull
	return q.Port.TxBurst(v, n)
}

func (q *pickyQueue) Refusal() mbuf.Refusal { return q.why }

// TestWhatThePortRefuses: a frame that the port will never take costs itself only; the
// others leave in their order, and each drop has its reason, its packet and its flow.
func TestWhatThePortRefuses(t *testing.T) {
	plain := bursttest.Plain
	long := func(n int) []byte { return append(plain(n), make([]byte, 1500)...) }
	withINT := func(n int) []byte { return bursttest.WithINT(t, plain(n), nil) }
	type drops = map[burst.DropReason]uint64
	for _, c := range []struct {
		name    string
		frames  [][]byte
		dropped []int // by a stage before
		room    int   // 0: for all
		down    bool
		want    []int // places of those that leave
		refused []int
		drops   drops
		calls   int
	}{
		{"all fit", [][]byte{plain(1), plain(2)}, nil, 0, false, []int{0, 1}, nil, nil, 1},
		{"the first is too long", [][]byte{long(1), plain(2)}, nil, 0, false, []int{1}, []int{0}, drops{burst.DropTxTooLong: 1}, 2},
		{"the last is", [][]byte{plain(2), long(1)}, nil, 0, false, []int{0}, []int{1}, drops{burst.DropTxTooLong: 1}, 1},
		{"two of five are", [][]byte{plain(1), long(1), plain(2), long(3), plain(4)}, nil, 0, false, []int{0, 2, 4}, []int{1, 3}, drops{burst.DropTxTooLong: 2}, 3},
		{"too short", [][]byte{plain(1), plain(1)[:13], plain(2)}, nil, 0, false, []int{0, 2}, []int{1}, drops{burst.DropTxRefused: 1}, 2},
		{"down", [][]byte{plain(1), long(2), plain(3)}, nil, 0, true, nil, []int{0, 1, 2}, drops{burst.DropTxDown: 3}, 1},
		{"full", [][]byte{withINT(1), withINT(2), withINT(3)}, nil, 1, false, []int{0}, []int{1, 2}, drops{burst.DropTxFull: 2}, 1 + transmit.Retries},
		{
			"full behind one that is too long", [][]byte{plain(1), long(2), plain(3), plain(4)}, nil, 2, false,
			[]int{0, 2}, []int{1, 3}, drops{burst.DropTxTooLong: 1, burst.DropTxFull: 1}, 2 + transmit.Retries,
		},
		{
			"between packets that a stage dropped", [][]byte{plain(1), plain(2), plain(3), long(4), plain(5)}, []int{0, 2}, 0, false,
			[]int{1, 4}, []int{3}, drops{burst.DropDiscard: 2, burst.DropTxTooLong: 1}, 2,
		},
		{"with flows", [][]byte{withINT(1), long(2), plain(3)}, nil, 0, false, []int{0, 2}, []int{1}, drops{burst.DropTxTooLong: 1}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bursttest.New(t, bursttest.ByPort())
			if c.room > 0 {
				b.Host.Room = c.room
			}
			picky := &pickyQueue{Port: b.Host, mtu: 1500, down: c.down}
			b.Watched = true
			b.Parse(c.frames...)
			b.Resolve()
			flowOf := b.FlowOf()
			for _, i := range c.dropped {
				b.DropPacket(i, burst.DropDiscard)
			}
			s := transmit.New(b.Pool)
			v, n := s.Gather(b.Burst)
			if sent := picky.TxBurst(v, n); sent < n {
				s.Retry(b.Burst, picky, v, n, sent)
				s.Free(b.Burst)
			}
			b.N = 0 // all have left
			if len(b.Host.TX) != len(c.want) || picky.calls != c.calls || b.Pool.InUse() != 0 {
				t.Fatalf("%d frames left, want those at %v; %d calls, want %d; %d mbufs held", len(b.Host.TX), c.want, picky.calls, c.calls, b.Pool.InUse())
			}
			for k, i := range c.want {
				if !bytes.Equal(b.Host.TX[k], c.frames[i]) {
					t.Errorf("frame %d that left is not frame %d", k, i)
				}
			}
			var refused []int
			for _, l := range b.AllLeft() {
				if refused = append(refused, int(l.I)); !l.Dropped || c.drops[l.Why] == 0 || l.Flow != flowOf[l.I] {
					t.Errorf("left to report %+v", l)
				}
			}
			if !slices.Equal(refused, c.refused) {
				t.Errorf("refused are %v, want %v", refused, c.refused)
			}
			for r, n := range b.Served.Counters.Direction[burst.ToHost].Dropped {
				if n != c.drops[burst.DropReason(r)] {
					t.Errorf("%v: %d dropped, want %d", burst.DropReason(r), n, c.drops[burst.DropReason(r)])
				}
			}
		})
	}
}

// TestTapped frees all; what a stage has dropped is counted already.
func TestTapped(t *testing.T) {
	b := bursttest.New(t, bursttest.ByPort())
	b.Come(burst.ToHost, bursttest.Plain(1), bursttest.Plain(2), bursttest.Plain(3))
	b.DropPacket(1, burst.DropDiscard)
	transmit.New(b.Pool).Tapped(b.Burst)
	b.N = 0
	if d := b.Served.Counters.Direction[burst.ToHost]; d.Dropped[burst.DropTap] != 2 || d.Dropped[burst.DropDiscard] != 1 || b.Pool.InUse() != 0 {
		t.Errorf("%+v, %d mbufs held", d, b.Pool.InUse())
	}
}
