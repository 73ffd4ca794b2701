// Counters of IFA alone: packets whose hops have no layout.

package burst

import (
	"fmt"

	"intsink/engine/metric"
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/inthdr"
)

// layoutless counts packets whose hops have no layout: in GNS 15 by LNS, then by GNS.
type layoutless [byGNS + ifa.GNSByHop]uint64

// byGNS is where layoutless has those that go by GNS.
const byGNS = 16

func (l *layoutless) count(i *inthdr.Info) {
	at := int(i.LNS) % byGNS
	if i.GNS != ifa.GNSByHop {
		at = byGNS + int(i.GNS)%ifa.GNSByHop
	}
	l[at]++
}

// NoLayout counts packets with IFA by the namespaces that no layout is known of.
func (c *Counters) NoLayout() map[string]uint64 {
	all := map[string]uint64{}
	for at, n := range c.Layoutless {
		switch {
		case n == 0:
		case at < byGNS:
			all[fmt.Sprintf("gns %d, lns %d", ifa.GNSByHop, at)] = n
		default:
			all[fmt.Sprintf("gns %d", at-byGNS)] = n
		}
	}
	return all
}

var withoutLayout = metric.Of[Counters]{
	Name: "intsink_ifa_without_layout_packets_total", Help: "packets with IFA whose hops have no layout, by namespaces: lns in gns 15, else by gns alone",
	Samples: func(c *Counters, to metric.Samples) {
		for at, n := range c.Layoutless {
			if at < byGNS {
				to.Add(n, "gns", ifa.GNSByHop, "lns", at)
			} else {
				to.Add(n, "gns", at-byGNS, "lns", "")
			}
		}
	},
}
