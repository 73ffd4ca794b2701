//go:build !race

package afpacket

import (
	"testing"

	"intsink/internal/netns"
	"intsink/internal/rawsocket"
)

func TestBurstsDoNotAllocate(t *testing.T) {
	if !netns.In(t) {
		return
	}
	cable(t, 1500)
	b := open(t, 1, 256, 2048)
	i, err := rawsocket.Open("peer0") // nobody receives there, which allocates
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	k := far{Interface: i}
	joined := joinedCases(1448, 28)[0]
	n := testing.AllocsPerRun(50, func() {
		n := b.Queue(0).RxBurst(b.v)
		if sent := b.Queue(0).TxBurst(b.v, n); sent != n {
			t.Errorf("%d of %d", sent, n)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations in an empty poll", n)
	}
	k.Send(plain(60, 1))
	k.Send(tagged(plain(60, 1), 0x8100, 1))
	sendJoined(t, joined.frame, joined.kind, 1448, joined.l4, joined.checksumAt)
	eventually(t, "frames wait", func() bool { return b.Queue(0).Depth() == 3 })
	total := 0
	n = testing.AllocsPerRun(1, func() {
		n := b.Queue(0).RxBurst(b.v)
		total += b.Queue(0).TxBurst(b.v, n)
	})
	if n != 0 || total != 30 {
		t.Errorf("%v allocations for %d packets", n, total)
	}
}
