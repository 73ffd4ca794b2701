package usual

import "testing"

// TestWhatBeginsWithAFault: a place without a usual latency does not learn long latencies while other hops of its node are slow,
// nor from a packet that met a slow hop; it learns short latencies, and long ones where no hop is slow.
func TestWhatBeginsWithAFault(t *testing.T) {
	const fault = 301_000
	late := Place{Hop, HopKey(202, 2, 1)}
	known := Place{Hop, HopKey(202, 1, 1)}
	path := Place{Path, [2]uint64{7, 7}}
	for name, c := range map[string]struct {
		slow bool    // the way that is known is
		with []Place // in the same packet
		ns   uint32
		of   Place
		want bool // it is learned
	}{
		"a way through a slow node":          {true, []Place{late}, fault, late, false},
		"a way through it, fast":             {true, []Place{late}, 1700, late, true},
		"a way through a node that is well":  {false, []Place{late}, fault, late, true},
		"a path through a slow node":         {true, []Place{known, path}, fault, path, false},
		"a path through a node that is well": {false, []Place{path}, fault, path, true},
	} {
		u := newTest(t)
		next := learnFor(u, known, 1000, 5, always(1700, unknown))
		for n := range int64(4 * 100) { // four minutes
			now := next*minute + n*minute/100
			if c.slow {
				u.Learn(now, []Reading{{known, fault, unknown}})
			}
			var all []Reading
			for _, p := range c.with {
				all = append(all, Reading{p, c.ns, unknown})
			}
			u.Learn(now+1, all)
		}
		if v, _ := u.Of(c.of); v.Latency.Known != c.want {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
