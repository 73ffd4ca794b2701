// State: keeps streams over a restart of the collector.

package streams

import "net/netip"

// State is the part of a stream that must be stored so that its extended numbers continue
// after a restart of the collector.
type State struct {
	Exporter  netip.Addr     `json:"exporter"`
	Collector netip.AddrPort `json:"collector"`
	Node      uint32         `json:"node_id"`
	HwID      uint8          `json:"hw_id"`
	Version   uint8          `json:"version"`
	Start     int64          `json:"start"`
	Next      uint64         `json:"next"`
}

// States returns the states to be stored, in the order of the keys. Streams whose packets are
// not numbered are left out.
func (t *Table) States() []State {
	all := make([]State, 0, len(t.streams))
	for _, s := range t.Sorted() {
		if s.copies == 0 {
			all = append(all, State{s.Exporter, s.Collector, s.Node, s.HwID, s.Version, s.start, s.next})
		}
	}
	return all
}

// Resume makes a stream of each state, as far as there is room. With exact, numbers that are
// missing before the next packet count as such. Otherwise packets may have come after the
// states were stored: then it is not known what is missing, and nothing counts.
func (t *Table) Resume(states []State, exact bool, now Times) {
	for _, st := range states {
		k := Key{st.Exporter, st.Collector, st.Node, st.HwID, st.Version}
		if len(t.streams) >= t.max || st.Version > 2 {
			return
		}
		s := &Stream{Key: k, start: st.Start, first: st.Next, next: st.Next, newest: now, resuming: !exact}
		for i := range s.seen { // take all earlier numbers for numbers that came
			s.seen[i] = ^uint64(0)
		}
		t.streams[k] = s
	}
}
