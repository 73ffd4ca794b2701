// Package verify chooses one INT packet in so many, and has its checksums verified as it came and as
// it leaves.
//
//	verify.go   which packets are verified, and what is counted
//	compare.go  a packet as it came, and without INT
package verify

import (
	"intsink/engine/metric"
	"sync"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside"
	"intsink/engine/burst"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// Result is what came out where the checksums of a packet were verified after its INT
// was removed. The list is closed: it generates metric labels.
type Result uint8

const (
	Good         Result = iota // every checksum of a header in front of INT is right
	Bad                        // one is wrong that was right as the packet came
	Unverifiable               // there is none, or one was wrong or could not be read as the packet came
	NumResults
)

// String is the value of the result label.
func (v Result) String() string {
	return [NumResults]string{"good", "bad", "unverifiable"}[v]
}

// Counters are what is counted of one link.
type Counters struct {
	Verified [NumResults]uint64 // INT packets whose checksums were verified
}

// Metrics are those of a link.
var Metrics = []metric.Of[Counters]{
	{Name: "intsink_verified_packets_total", Help: "INT packets whose checksums were verified after their INT was removed, one in int.verify: good, bad (right as it came, wrong as it leaves) or unverifiable (it has none, or it was wrong as it came)", Samples: func(c *Counters, to metric.Samples) {
		for i, n := range c.Verified {
			to.Add(n, "result", Result(i))
		}
	}},
}

// BadPacket is an INT packet whose checksum was right as it came, and wrong as it left.
type BadPacket struct {
	Time int64 // Unix nanoseconds of the worker's clock; 0: there was none
	Link int
	Flow flows.Key
}

// Aside verifies packets of one worker.
type Aside struct {
	counters []*Counters // by link
	none     bool        // all links are taps: there is nothing to verify

	interval int   // INT packets from one that is verified to the next; 0: none is
	packets  int64 // that came before the burst at hand
	at       int64 // the next one is due after so many; less than zero: with the next burst
	turn     int   // which packet of a burst is picked
	n        int
	all      [mbuf.MaxBurst]picked // all[:n] of the burst at hand
	room     packet.Layers

	mu      sync.Mutex // guards lastBad; the worker only ever tries it
	lastBad BadPacket
}

// New makes the aside of a worker. none: all its links are taps.
func New(counters []*Counters, none bool) *Aside { return &Aside{counters: counters, none: none} }

// Adopt has one INT packet in n verified, from the next one on; 0: none.
func (a *Aside) Adopt(n int) {
	if n != a.interval {
		a.interval, a.at = n, -1
	}
}

// LastBad is the last packet that verification found bad. Safe from any goroutine.
func (a *Aside) LastBad() BadPacket {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lastBad
}

// Due implements aside.Aside.
func (a *Aside) Due(b *burst.Burst, before int64) bool {
	if a.interval == 0 || before < a.at {
		return false
	}
	if a.packets = before; a.at < 0 {
		a.at = before
	}
	if b.Link.Host == nil {
		a.at = before + 1
		return false
	}
	return true
}

// Arrived picks INT packets of b, which still have their INT.
func (a *Aside) Arrived(b *burst.Burst) {
	a.n = 0
	n := b.Fast.Len()
	for k := 0; a.at <= a.packets && k < n; k++ {
		a.at += int64(a.interval)
		a.begin(b, uint8(a.turn%n))
		a.turn++
	}
	a.at = max(a.at, a.packets+1-int64(n)) // what one burst had no packets for is not made up for
}

// Leaving counts the packets, which have lost their INT.
func (a *Aside) Leaving(b *burst.Burst) {
	for k := range a.n {
		x := &a.all[k]
		if b.Verdict[x.i] == burst.Consumed {
			continue
		}
		r := a.result(b.Vec[x.i], x)
		a.counters[b.Link.Index].Verified[r]++
		if r == Bad {
			a.noteBad(b, &b.Fast.Keys[x.j])
		}
	}
}

// noteBad keeps a bad packet, unless somebody looks there now.
func (a *Aside) noteBad(b *burst.Burst, flow *flows.Key) {
	if a.mu.TryLock() {
		a.lastBad = BadPacket{Time: b.Now, Link: b.Link.Index, Flow: *flow}
		a.mu.Unlock()
	}
}

// Next implements aside.Aside.
func (a *Aside) Next() (packets, at int64) {
	if a.none || a.interval == 0 {
		return aside.Never, aside.Never
	}
	return a.at, aside.Never
}

// Tick implements aside.Aside.
func (a *Aside) Tick(int64) {}
