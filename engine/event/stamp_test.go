package event

import "testing"

func TestStamps(t *testing.T) {
	const now = 1763776800_000000500
	m := NewModels([]NodeModel{
		{Nodes: only(1, 1), LatencyUnit: 1000, QueueUnit: 80, TimestampBits: 48, Unix: true},
		{Nodes: only(2, 2), TimestampBits: 32, TimestampUnit: 8},
	})
	asWire, short, free := m.Of(7), m.Of(1), m.Of(2)
	if short.Latency(5) != 5000 || short.Occupancy(2) != 160 || asWire.Latency(5) != 5 || asWire.Occupancy(2) != 2 {
		t.Error("units")
	}
	for _, c := range []struct {
		name  string
		s     Stamp
		ns    uint64
		known bool
	}{
		{"as the wire has it", Stamp{now - 400, 64, asWire}, now - 400, true},
		{"far away", Stamp{5, 64, asWire}, 5, true},
		{"a format of 32 bits", Stamp{(now - 400) & (1<<32 - 1), 32, asWire}, now - 400, true},
		{"a node of 48 bits", Stamp{(now + 400) & (1<<48 - 1), 64, short}, now + 400, true},
		{"counts from somewhere", Stamp{5, 64, free}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if ns, known := c.s.Unix(now); known != c.known || known && ns != c.ns {
				t.Errorf("%d, %v; want %d, %v", ns, known, c.ns, c.known)
			}
		})
	}
	if ns, known := (Stamp{(1<<32 - 10), 64, free}).Until(now, Stamp{5, 64, free}); ns != 15*8 || !known {
		t.Errorf("over the wrap of 32 bits: %d, %v", ns, known)
	}
	if ns, known := (Stamp{now, 64, asWire}).Until(now, Stamp{now - 30, 64, asWire}); ns != -30 || !known {
		t.Errorf("a clock that is behind: %d, %v", ns, known)
	}
}
