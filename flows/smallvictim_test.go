package flows

import "testing"

// TestSmallEvictsTheIdlest: of a full bucket the entry that was not seen for longest goes, whichever slot it
// is in; those that hold something only where all do, and then the idlest of them.
func TestSmallEvictsTheIdlest(t *testing.T) {
	for _, c := range []struct {
		name  string
		ages  [smallSlots]int64 // seconds since each was seen
		holds [smallSlots]int
		gone  uint64
	}{
		{"none holds", [smallSlots]int64{3, 9, 1, 2}, [smallSlots]int{}, 1},
		{"the last is the idlest", [smallSlots]int64{3, 1, 2, 9}, [smallSlots]int{}, 3},
		{"the idlest holds", [smallSlots]int64{3, 9, 1, 2}, [smallSlots]int{1: 1}, 0},
		{"one does not", [smallSlots]int64{3, 9, 0, 2}, [smallSlots]int{1, 1, 0, 1}, 2},
		{"all hold", [smallSlots]int64{3, 2, 9, 1}, [smallSlots]int{1, 1, 1, 1}, 2},
		{"as old as can be told", [smallSlots]int64{3, 2, 1, 2_000_000}, [smallSlots]int{}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			small := NewSmall(smallSlots, 1, func(v *int, _ int64) bool { return *v != 0 })
			defer small.Close()
			const now = 1_800_000_000 * second
			for n, age := range c.ages {
				v, _ := small.Get(now-age*second, [2]uint64{uint64(n)})
				*v = c.holds[n]
			}
			if _, fresh := small.Get(now, [2]uint64{99}); !fresh || small.Evictions() != 1 || small.Len() != smallSlots {
				t.Fatalf("%v, %d evictions, %d entries", fresh, small.Evictions(), small.Len())
			}
			for n := range uint64(smallSlots) {
				if there := small.Find([2]uint64{n}) != nil; there == (n == c.gone) {
					t.Errorf("entry %d there: %v, want %d gone", n, there, c.gone)
				}
			}
		})
	}
}
