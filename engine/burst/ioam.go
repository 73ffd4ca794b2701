// Counters of IOAM alone: tunnels that ended here.

package burst

import "intsink/engine/metric"

var tunnelsEnded = metric.Of[Counters]{
	Name: "intsink_ioam_decapsulated_total", Help: "tunnels with IOAM that ended here: their IPv6 header went with its IOAM, and the packet inside goes on (decapsulate)",
	Samples: func(c *Counters, to metric.Samples) { to.Add(c.Decapsulated) },
}
