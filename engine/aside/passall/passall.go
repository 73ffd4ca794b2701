// Package passall lets packets pass as they came, without anything being known of them: that is all
// a worker does that cannot keep up. Only ARP and Neighbor Discovery are shown to the stations that
// find neighbours for reports.
package passall

import (
	"encoding/binary"
	"intsink/engine/metric"
	"sync/atomic"

	"intsink/engine/aside"
	"intsink/engine/burst"
	"intsink/engine/wire/packet"
)

// Counters are what is counted of one link.
type Counters struct {
	Passed uint64 // packets from the network that passed as they came
}

// Metrics are those of a link.
var Metrics = []metric.Of[Counters]{
	{Name: "intsink_passed_packets_total", Help: "packets from the network that passed as they came, in mode pass or bypass; received and forwarded count them, too", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.Passed)
	}},
}

// Aside lets packets of one worker pass.
type Aside struct {
	On       bool        // packets pass as they came
	asked    atomic.Bool // by another goroutine
	counters []*Counters // by link
}

// New makes the aside of a worker.
func New(counters []*Counters) *Aside { return &Aside{counters: counters} }

// Ask makes packets pass as they came, or no longer, from the next tick on. Safe from any
// goroutine.
func (a *Aside) Ask(pass bool) { a.asked.Store(pass) }

// Tick takes over what was asked for.
func (a *Aside) Tick(int64) { a.On = a.asked.Load() }

// Next implements aside.Aside: all bursts are due while packets pass.
func (a *Aside) Next() (packets, at int64) {
	if a.On {
		return 0, 0
	}
	return aside.Never, aside.Never
}

// Due implements aside.Aside: no aside sees the INT of a burst that passes.
func (a *Aside) Due(*burst.Burst, int64) bool { return false }

// Arrived implements aside.Aside.
func (a *Aside) Arrived(*burst.Burst) {}

// Leaving implements aside.Aside.
func (a *Aside) Leaving(*burst.Burst) {}

// Do lets a burst pass.
//
//go:noinline
func (a *Aside) Do(b *burst.Burst) {
	station := b.Link.HostStation
	if b.Direction == burst.ToHost {
		a.counters[b.Link.Index].Passed += uint64(b.N)
		station = b.Link.NetworkStation
		b.Fast.Clear()
	}
	hear(station, b)
}

// hear shows the frames of a burst that is not parsed to the station that finds neighbours for reports: they would be
// forgotten, and reports be dropped until they are found again. Of most frames one or two fields tell that they are not.
func hear(station burst.Station, b *burst.Burst) {
	if station == nil {
		return
	}
	l := &b.Layers[0]
	for _, m := range b.Vec[:b.N] {
		if f := m.Bytes(); looksNeighborly(f) && burst.MaybeNeighbor(packet.Parse(f, m.PktLen(), l), l) {
			station.Hear(f, b.Now)
		}
	}
}

// looksNeighborly reports whether a frame, behind up to two tags, is ARP or an IPv6 packet whose first header is ICMPv6:
// Neighbor Discovery has no extension headers.
func looksNeighborly(f []byte) bool {
	const nextHeader, etherTypeARP = 6, 0x0806
	at := packet.EthernetLen
	for range 2 {
		if len(f) >= at+packet.VLANLen && packet.IsVLAN(binary.BigEndian.Uint16(f[at-2:])) {
			at += packet.VLANLen
		}
	}
	if len(f) < at+nextHeader+1 {
		return false
	}
	switch binary.BigEndian.Uint16(f[at-2:]) {
	case etherTypeARP:
		return true
	case packet.EtherTypeIPv6:
		return f[at+nextHeader] == packet.ProtoICMPv6
	}
	return false
}
