// Run: packets reported alike by a template, many at once.

package reporting

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
	"intsink/flows"
)

// Run is packets of a burst that are reported alike but for the packet that is shown and for
// what their flows explain: of INT-MD, of one domain, for the same events, to the same
// collectors. Several are reported at once, so that each costs little more than copying it.
type Run struct {
	Set        event.Set
	Priority   event.Priority
	Collectors uint64       // bit i: collector i hears of it
	Info       *inthdr.Info // of the first packet
	InType     report.InType

	// Of the burst, by a packet's number there.
	Flows    *[mbuf.MaxBurst]*flows.Flow
	Hashes   *[mbuf.MaxBurst]uint64
	Triggers *[mbuf.MaxBurst]event.Trigger // of Set & event.Triggered

	n        int
	inner    [mbuf.MaxBurst][]byte // inner[:n]
	number   [mbuf.MaxBurst]uint8  // of packet k in the burst
	shortest int                   // of inner
}

// Clear makes p empty.
func (p *Run) Clear() { p.n, p.shortest = 0, 1<<16 }

// Add puts packet j of the burst into p. inner is as much of it as the report carries.
func (p *Run) Add(j int, inner []byte) {
	n := p.n & (mbuf.MaxBurst - 1)
	p.inner[n], p.number[n] = inner, uint8(j)
	p.n++
	p.shortest = min(p.shortest, len(inner))
}

// Len is how many packets are in p.
func (p *Run) Len() int { return p.n }

// all has a bit for each packet.
func (p *Run) all() uint64 { return 1<<p.n - 1 }

// of is the number of packet k in the burst.
func (p *Run) of(k int) uint8 { return p.number[k&(mbuf.MaxBurst-1)] & (mbuf.MaxBurst - 1) }

// entropy is that of packet k's flow.
func (p *Run) entropy(k int) uint16 { return uint16(p.Hashes[p.of(k)]) }
