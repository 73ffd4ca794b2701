// Latencies of hops and links of sampled packets, for histograms.

package event

// SampleLatencies counts the latencies of every hop, and of every link between two hops whose
// timestamps the packet carries. What is unknown, and a negative time of a link, is left out.
func (d *Detector) SampleLatencies(now int64, o *Observation) {
	l, hopLen := o.Layout, int(o.Info.HopLen)
	if !o.usable() || hopLen == 0 {
		return
	}
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	var nodes [2]hopValues
	n, after := &nodes[0], &nodes[1] // after: the next node on the way, which stands before this one in the stack
	for at := 0; at+hopLen <= len(stack); at += hopLen {
		readHop(n, stack[at:at+hopLen], l)
		if d.models.any {
			d.models.apply(n)
		}
		if n.latency != unknown32 {
			d.Counters.HopLatencies.Observe(int64(n.latency))
		}
		if at > 0 {
			if ns, known := between(now, n, after); known && ns >= 0 {
				d.Counters.LinkLatencies.Observe(ns)
			}
		}
		n, after = after, n
	}
}
