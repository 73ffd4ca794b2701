package engine

import (
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
)

// refusing is a port that takes so many packets of a burst, and none of the others for why.
type refusing struct {
	*memQueue
	takes int
	why   mbuf.Refusal
}

func (q *refusing) TxBurst(v *mbuf.Vec, n int) int { return q.memQueue.TxBurst(v, min(n, q.takes)) }

func (q *refusing) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return q.TxBurst(tx, n), q.RxBurst(rx)
}

func (q *refusing) Refusal() mbuf.Refusal { return q.why }

// TestRefusedFramesOfFlows: the drop report of a frame that was refused is of its flow, and says why.
func TestRefusedFramesOfFlows(t *testing.T) {
	b := explained(t, nil)
	port := &refusing{memQueue: b.host, takes: 1, why: mbuf.RefusedTooLong}
	b.links[0].Host = port
	one, two := withINT(t, plain(1), nil), withINT(t, plain(2), nil)
	b.expect(frames(one, two), nil, "new_flow F", "new_flow F", "drop D F drops 1 mtu_check_fail")
	port.takes, port.why = 0, mbuf.RefusedDown
	b.now += 1e9
	b.expect(frames(one, two), nil, "drop D F drops 1 unknown", "drop D F drops 1 unknown")
	b.balance()
	if d := b.Snapshot().Links[0].Direction[burst.ToHost]; d.Dropped[burst.DropTxTooLong] != 1 || d.Dropped[burst.DropTxDown] != 2 || d.Forwarded != 1 {
		t.Errorf("%+v", d)
	}
}
