//go:build amd64 && !purego && !race

package engine

import (
	"encoding/binary"
	"math"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/inthdr"
)

// TestQuietTwinsAtThresholds: the one value of a packet that may reach its threshold is
// beside it, at it, beyond it, or all ones; in every hop, wherever the stack starts.
func TestQuietTwinsAtThresholds(t *testing.T) {
	x, quiet, all := newQuietBed(t, 12), 0, 0
	for _, threshold := range []uint32{0, 1, 2, 0x1234, 1<<24 - 1, 1 << 31, 0x01020304, math.MaxUint32 - 1, math.MaxUint32} {
		for value := range 3 { // latency, queue, utilization
			for _, stack := range []int{58, 300} {
				quiet += x.atThreshold(value, threshold, stack)
				all += x.b.nINT
			}
		}
	}
	if quiet < all/4 || quiet > all*3/4 {
		t.Errorf("%d of %d packets were quiet", quiet, all)
	}
}

// atThreshold compares the twins over packets with one such value, and tells how many
// were quiet.
func (t *quietBed) atThreshold(value int, threshold uint32, stack int) (quiet int) {
	const hopLen, hops = 20, 3
	at := []int{8, 12, 16}[value]
	t.burst(0)
	b := t.b
	t.q.noEpisode = true
	for w := range t.q.policies {
		l := &t.q.policies[w]
		l.WatchesFabric, l.SampleLeft, l.Raise, l.Latency, l.Tx = true, 0, math.MaxUint32, math.MaxUint32, math.MaxUint32
		*[]*uint32{&l.Latency, &l.Raise, &l.Tx}[value] = threshold
	}
	words := []uint32{threshold - 1, threshold, threshold + 1, threshold ^ 1, math.MaxUint32, math.MaxUint32 - 1, threshold | 0xff<<24, threshold & 0xffffff}
	for n := range hops * len(words) {
		f := make([]byte, stack+hops*hopLen)
		for hop := range hops {
			binary.BigEndian.PutUint32(f[stack+hop*hopLen:], uint32(n+hop))
		}
		binary.BigEndian.PutUint32(f[stack+n%hops*hopLen+at:], words[n/hops])
		b.vec[n] = t.yard.put(n, f, len(f), 2*mbuf.MaxBurst-1)
		b.places[n], b.flow[n], b.header[n], b.completed = uint8(n), &t.flows[n], &b.info[n], b.completed|1<<n
		b.info[n] = inthdr.Info{
			Common: true, Stack: uint16(stack), StackLen: hops * hopLen, HopLen: hopLen, Hops: hops,
			End: uint16(len(f)), Size: 100, QueueAt: 12, TxAt: 16,
		}
		if n%5 == 0 {
			b.info[n].QueueAt = 0
		}
		if n%7 == 0 {
			b.info[n].TxAt = 0
		}
		b.n, b.nINT = n+1, n+1
		t.settle(b.flow[n], f, &b.info[n])
		b.flow[n].Watch = 0
		*field[uint8](t, b.flow[n], "flags") = uint8(t.q.policies[0].Flags)
		t.exactly(n, stack, hopLen)
	}
	return t.quietTwins()
}

// exactly makes the references of a flow those of its packet.
func (t *quietBed) exactly(n, stack, hopLen int) {
	flow, f := t.b.flow[n], t.b.vec[n].Bytes()
	sum := uint64(0)
	for hop := range int(t.b.info[n].Hops) {
		flow.Hops[hop].Ref = binary.BigEndian.Uint32(f[stack+hop*hopLen+8:])
		sum += uint64(flow.Hops[hop].Ref)
	}
	flow.EndRef = uint32(sum)
	*field[uint32](t, flow, "packets"), *field[uint32](t, flow, "bytes") = 0, 0
}
