package event

import (
	"encoding/binary"

	"intsink/engine/inthdr"
)

// fabricThresholds are those of queues and interfaces: a packet with a hop that reaches one
// goes through Packet.
type fabricThresholds struct{ raise, latency, tx uint32 }

// never is a threshold that no known value reaches.
const never = unknown32

// FabricSampleDue reports that the next packet must go through Packet (see SampleFabric).
func (d *Detector) FabricSampleDue() bool { return d.fabricSampleDue }

// SampleFabric counts n packets, and sets FabricSampleDue from time to time: one packet
// that gives no event then goes through Packet nevertheless, so that the tables of queues,
// interfaces and links stay current. At most one packet in 256, and 10,000 a second: it costs
// as much as 20 others.
func (d *Detector) SampleFabric(now int64, n int) {
	d.sinceFabricSample += n
	if d.sinceFabricSample < fabricSampleEvery || now-d.fabricSampledAt < fabricSampleNs {
		return
	}
	d.sinceFabricSample, d.fabricSampledAt, d.fabricSampleDue = 0, now, true
}

const (
	fabricSampleEvery = 256
	fabricSampleNs    = 100_000
)

// noEpisode reports whether no hop of a Common packet reaches a threshold of l, and none of
// its queues and interfaces is in an episode. stack are its hops.
//
//go:noinline
func (v *FastView) noEpisode(l *FastPolicy, stack []byte, i *inthdr.Info) bool {
	hopLen := int(i.HopLen)
	for len(stack) >= hopLen && hopLen >= inthdr.BasicHopLen {
		hop := stack[:hopLen]
		stack = stack[hopLen:]
		if reaches(hop, inthdr.BasicHopLen-4, ^uint32(0), l.Latency) || i.QueueAt > 0 && reaches(hop, i.QueueAt, 0xffffff, l.Raise) ||
			i.TxAt > 0 && reaches(hop, i.TxAt, ^uint32(0), l.Tx) {
			return false
		}
		if v.Hot == 0 {
			continue
		}
		queue, first := uint8(unknown32>>24), binary.LittleEndian.Uint64(hop)
		if i.QueueAt > 0 {
			queue = hop[i.QueueAt]
		}
		if v.Queues.Has(v.Bit(first, queue)) || v.Interfaces.Has(v.Bit(first, 0)) {
			return false
		}
	}
	return true
}

// reaches reports whether the value at an offset of a hop is known and, under mask, not
// below a threshold.
func reaches(hop []byte, at uint8, mask, threshold uint32) bool {
	x := binary.BigEndian.Uint32(hop[at:])
	return x&mask >= threshold && x != unknown32
}
