// Run: packets of a burst that are reported alike.

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

	// Of packet k, below N. Whoever gathers the packets fills it.
	N      int
	Inner  [mbuf.MaxBurst][]byte // as much of it as the report carries
	Number [mbuf.MaxBurst]uint8  // its own in the burst
}

// all has a bit for each packet.
func (p *Run) all() uint64 { return 1<<p.N - 1 }

// of is the number of packet k in the burst.
func (p *Run) of(k int) uint8 { return p.Number[k&(mbuf.MaxBurst-1)] & (mbuf.MaxBurst - 1) }

// entropy is that of packet k's flow.
func (p *Run) entropy(k int) uint16 { return uint16(p.Hashes[p.of(k)]) }

// shortest is the length of the shortest of Inner.
func (p *Run) shortest() int {
	least := len(p.Inner[0])
	for _, inner := range p.Inner[:p.N] {
		least = min(least, len(inner))
	}
	return least
}
