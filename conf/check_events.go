// Checks of event thresholds against each other: clear below raise, overrides.

package conf

// checkEvents compares thresholds with each other, those that this block sets:
// what an override inherits is reported where it stands. inherited is nil where e is
// no override.
func (d checker) checkEvents(e, inherited *Events, where string) {
	for _, x := range []struct {
		name string
		b    *Deadband
	}{{"hop_latency", &e.HopLatency}, {"end_to_end", &e.EndToEnd}, {"link_latency", &e.LinkLatency}} {
		if x.b.K > x.b.N && (d.Has(&x.b.K) || d.Has(&x.b.N)) {
			d.ErrorAt([]any{&x.b.K, &x.b.N}, "%s: %s: k = %d of n = %d: k of the last n packets must deviate, so k is at most n", where, x.name, x.b.K, x.b.N)
		}
	}
	d.checkClear(&e.Congestion.Clear, &e.Congestion.Raise, where+": congestion")
	d.checkClear(&e.TxUtilization.Clear, &e.TxUtilization.Raise, where+": tx_utilization")
	idle := func(e *Events) bool { return e.EndToEnd.ClockOffset != 0 && e.EndToEnd.Clock != PTPClock }
	if d.Has(&e.EndToEnd.ClockOffset) && idle(e) && (inherited == nil || !idle(inherited)) {
		d.WarnAt([]any{&e.EndToEnd.ClockOffset}, `%s: end_to_end: clock_offset does nothing unless clock = "ptp"`, where)
	}
}

func (d checker) checkClear(clear, raise *uint32, where string) {
	if *clear > *raise && (d.Has(clear) || d.Has(raise)) {
		d.ErrorAt([]any{clear, raise}, "%s: clear = %d is above raise = %d: an episode would end as it begins; set clear to raise or less", where, *clear, *raise)
	}
}
