// Package checksum samples the TCP or UDP checksum of a packet as it came and as it leaves: a sample
// that tells an operator why hosts drop everything in silence.
//
//	checksum.go  which packets are sampled
//	sum.go       whether a checksum is right
package checksum

import (
	"intsink/engine/aside"
	"intsink/engine/burst"
	"intsink/engine/metric"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// One INT packet in EveryPackets has its checksum sampled, and one a second where there
// are fewer.
const (
	EveryPackets = 1024
	interval     = 1e9
)

// Counters are what is counted of one link.
type Counters struct {
	Checksums [NumStates][NumStates]uint64 // of sampled INT packets: as they came, as they left
}

// Metrics are those of a link.
var Metrics = []metric.Of[Counters]{
	{Name: "intsink_checksum_samples_total", Help: "INT packets whose TCP or UDP checksum was verified as they came and as they left: good, bad or none; one in 1024, or one a second where there are fewer", Samples: func(c *Counters, to metric.Samples) {
		for before := range c.Checksums {
			for after, n := range c.Checksums[before] {
				to.Add(n, "before", State(before), "after", State(after))
			}
		}
	}},
}

// Aside samples checksums of one worker's packets.
type Aside struct {
	counters []*Counters // by link
	none     bool        // all links are taps: there is nothing to sample

	packets int64 // that came before the burst at hand
	at, by  int64 // the next sample: after so many packets with INT, or when
	turn    int   // which packet of a burst is picked
	place   int   // of the sample in the burst; -1: there is none
	layers  packet.Layers
	before  State
}

// New makes the aside of a worker. none: all its links are taps.
func New(counters []*Counters, none bool) *Aside { return &Aside{counters: counters, none: none} }

// Due implements aside.Aside.
func (a *Aside) Due(b *burst.Burst, before int64) bool {
	if before < a.at && b.Now < a.by {
		return false
	}
	if a.packets = before; b.Link.Host == nil {
		a.postpone(b)
		return false
	}
	return true
}

// postpone makes the sample, which is due, wait for the next packet with INT: the burst at hand
// has none to sample.
func (a *Aside) postpone(b *burst.Burst) {
	a.at, a.by = max(a.at, a.packets+1), max(a.by, b.Now+interval)
}

// Arrived picks an INT packet of b, which still has its INT.
func (a *Aside) Arrived(b *burst.Burst) {
	a.place = -1
	n := b.Fast.Len()
	if n == 0 {
		a.postpone(b)
		return
	}
	a.at, a.by = a.packets+EveryPackets, b.Now+interval
	a.begin(b, uint8(a.turn%n))
	a.turn++
}

// begin reads the checksum of packet j, if it has one that INT stands behind.
func (a *Aside) begin(b *burst.Burst, j uint8) {
	b.Complete(j)
	i := int(b.Fast.At[j])
	h := &b.Info[i]
	m := b.Vec[i]
	if h.Depth > 0 || h.Discard || h.Edit.Has(inthdr.DropCongested) ||
		packet.Parse(m.Bytes(), m.PktLen(), &a.layers) != packet.OK || !Has(&a.layers) {
		return
	}
	a.place, a.before = i, Of(m, &a.layers)
}

// Leaving counts the picked packet, whose INT is gone.
func (a *Aside) Leaving(b *burst.Burst) {
	if a.place < 0 || b.Verdict[a.place] == burst.Consumed {
		return
	}
	m, l3 := b.Vec[a.place], int(a.layers.L3)
	if packet.ParseInner(m.Bytes(), l3, m.PktLen(), etherType(&a.layers), &a.layers) != packet.OK {
		return
	}
	after := None
	if Has(&a.layers) {
		after = Of(m, &a.layers)
	}
	a.counters[b.Link.Index].Checksums[a.before][after]++
}

// Next implements aside.Aside.
func (a *Aside) Next() (packets, at int64) {
	if a.none {
		return aside.Never, aside.Never
	}
	return a.at, a.by
}

// Tick implements aside.Aside.
func (a *Aside) Tick(int64) {}

func etherType(l *packet.Layers) uint16 {
	if l.IPVersion == 6 {
		return packet.EtherTypeIPv6
	}
	return packet.EtherTypeIPv4
}
