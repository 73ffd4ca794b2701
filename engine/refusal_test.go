package engine

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/stage/transmit"
	"intsink/engine/wire/intgen"
)

// pickyQueue takes no frame longer than mtu, none shorter than an Ethernet header, and
// none at all while it is down.
type pickyQueue struct {
	*memQueue
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
		return q.memQueue.TxBurst(v, i)
	}
	sent := q.memQueue.TxBurst(v, n)
	q.why = mbuf.RefusedFull
	return sent
}

func (q *pickyQueue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return q.TxBurst(tx, n), q.RxBurst(rx)
}

func (q *pickyQueue) Refusal() mbuf.Refusal { return q.why }

// TestWhatThePortRefuses: a frame that the port will never take costs itself only; the
// others leave in their order, and each drop has its reason and its flow.
func TestWhatThePortRefuses(t *testing.T) {
	long := func(n int) []byte { return append(plain(n), make([]byte, 1500)...) }
	ofFlow := func(n int) []byte { return withINT(t, plain(n), nil) }
	discarded := func(n int) []byte {
		return withINT(t, plain(n), func(s *intgen.Source, _ []intgen.Hop) { s.Discard = true })
	}
	for _, c := range []struct {
		name   string
		frames [][]byte
		change func(*pickyQueue)
		want   []int // places of those that leave
		drops  map[burst.DropReason]uint64
		calls  int
	}{
		{"all fit", frames(plain(1), plain(2)), nil, []int{0, 1}, nil, 1},
		{"the first is too long", frames(long(1), plain(2)), nil, []int{1}, map[burst.DropReason]uint64{burst.DropTxTooLong: 1}, 2},
		{"the last is", frames(plain(2), long(1)), nil, []int{0}, map[burst.DropReason]uint64{burst.DropTxTooLong: 1}, 1},
		{"two of five are", frames(plain(1), long(1), plain(2), long(3), plain(4)), nil, []int{0, 2, 4}, map[burst.DropReason]uint64{burst.DropTxTooLong: 2}, 3},
		{"too short", frames(plain(1), plain(1)[:13], plain(2)), nil, []int{0, 2}, map[burst.DropReason]uint64{burst.DropTxRefused: 1}, 2},
		{"down", frames(plain(1), long(2), plain(3)), func(q *pickyQueue) { q.down = true }, nil, map[burst.DropReason]uint64{burst.DropTxDown: 3}, 1},
		{"full behind one that is too long", frames(plain(1), long(2), plain(3), plain(4)), func(q *pickyQueue) { q.Room = 2 },
			[]int{0, 2}, map[burst.DropReason]uint64{burst.DropTxTooLong: 1, burst.DropTxFull: 1}, 2 + transmit.Retries},
		{"between packets that the sink discards", frames(discarded(1), plain(2), discarded(3), long(4), plain(5)), nil,
			[]int{1, 4}, map[burst.DropReason]uint64{burst.DropDiscard: 2, burst.DropTxTooLong: 1}, 2},
		{"with flows", frames(ofFlow(1), long(2), plain(3)), nil, []int{0, 2}, map[burst.DropReason]uint64{burst.DropTxTooLong: 1}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, nil)
			picky := &pickyQueue{memQueue: b.host, mtu: 1500}
			if c.change != nil {
				c.change(picky)
			}
			b.links[0].Host = picky
			b.network.RX = slices.Clone(c.frames)
			b.Poll()
			if len(b.host.TX) != len(c.want) {
				t.Fatalf("%d frames left, want those at %v", len(b.host.TX), c.want)
			}
			for i, at := range c.want {
				if want := c.frames[at]; !bytes.Equal(b.host.TX[i], want) && c.name != "with flows" {
					t.Errorf("frame %d that left is not frame %d", i, at)
				}
			}
			b.balance()
			d := b.Snapshot().Links[0].Direction[burst.ToHost]
			for r := range burst.NumDropReasons {
				if d.Dropped[r] != c.drops[r] {
					t.Errorf("%v: %d dropped, want %d", r, d.Dropped[r], c.drops[r])
				}
			}
			if picky.calls != c.calls || b.pool.InUse() != 0 {
				t.Errorf("%d calls, want %d; %d mbufs held", picky.calls, c.calls, b.pool.InUse())
			}
		})
	}
}

// TestRefusedFramesOfFlows: the drop report of a frame that was too long is of its flow,
// whatever was dropped before it.
func TestRefusedFramesOfFlows(t *testing.T) {
	b := explained(t, nil)
	picky := &pickyQueue{memQueue: b.host, mtu: 50}
	b.links[0].Host = picky
	longer := intgen.Flow{Src: netip.MustParseAddr("10.0.0.2"), Dst: netip.MustParseAddr("10.1.0.1"), Proto: intgen.UDP, SrcPort: 1, DstPort: 2}
	fits, long := withINT(t, plain(1), nil), withINT(t, longer.Frame(60, 2), nil)
	b.expect(frames(fits, long), nil, "new_flow F", "new_flow F", "drop D F drops 1 mtu_check_fail")
	picky.down = true
	b.now += 1e9
	b.expect(frames(fits, long), nil, "drop D F drops 1 unknown", "drop D F drops 1 unknown")
	b.balance()
	if d := b.Snapshot().Links[0].Direction[burst.ToHost]; d.Dropped[burst.DropTxTooLong] != 1 || d.Dropped[burst.DropTxDown] != 2 || d.Forwarded != 1 {
		t.Errorf("%+v", d)
	}
}
