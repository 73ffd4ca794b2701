package event

import (
	"encoding/binary"

	"intsink/engine/inthdr"
)

// fabricThresholds are the thresholds that no hop of a packet may reach if its queues and
// interfaces are to be passed over.
type fabricThresholds struct{ raise, latency, tx uint32 }

// never is a threshold that no known value reaches.
const never = unknown32

// NoEpisode tells whether no queue and no interface is in an episode, as far as is known at
// now: where they are watched, nothing is NoEvent otherwise.
func (d *Detector) NoEpisode(now int64) bool { return now > d.congestedUntil && now > d.busyUntil }

// SampleFabric takes n packets in and tells whether one of them is to be looked at by
// Packet although it is quiet, so that the tables of queues, interfaces and links show
// what there is: of 256 one at most, and 10,000 a second at most, for at millions of
// packets a second a look at one of them costs what 20 others do.
func (d *Detector) SampleFabric(now int64, n int) bool {
	d.sinceFabricSample += n
	if d.sinceFabricSample < fabricSampleEvery || now-d.fabricSampledAt < fabricSampleNs {
		return false
	}
	d.sinceFabricSample, d.fabricSampledAt, d.fabricSampleDue = 0, now, true
	return true
}

const (
	fabricSampleEvery = 256
	fabricSampleNs    = 100_000
)

// BelowThresholds tells whether no hop of a Common packet reaches a threshold. stack are its hops.
//
//go:noinline
func (l *FastPolicy) BelowThresholds(stack []byte, i *inthdr.Info) bool {
	hopLen := int(i.HopLen)
	for len(stack) >= hopLen && hopLen >= inthdr.BasicHopLen {
		hop := stack[:hopLen]
		stack = stack[hopLen:]
		if reaches(hop, inthdr.BasicHopLen-4, ^uint32(0), l.Latency) || i.QueueAt > 0 && reaches(hop, i.QueueAt, 0xffffff, l.Raise) ||
			i.TxAt > 0 && reaches(hop, i.TxAt, ^uint32(0), l.Tx) {
			return false
		}
	}
	return true
}

// reaches tells whether the value at an offset of a hop is known and, under mask, not
// below a threshold.
func reaches(hop []byte, at uint8, mask, threshold uint32) bool {
	x := binary.BigEndian.Uint32(hop[at:])
	return x&mask >= threshold && x != unknown32
}
