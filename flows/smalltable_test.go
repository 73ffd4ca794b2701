package flows

import "testing"

// TestSmallKeepsWhatHolds: of a full bucket the entry goes that was longest not seen,
// one that holds something last.
func TestSmallKeepsWhatHolds(t *testing.T) {
	table := NewSmall(smallSlots, 1, func(v *int, _ int64) bool { return *v > 0 }) // one bucket
	get := func(at int64, key uint64) (v *int, fresh bool) { return table.Get(at*second, [2]uint64{key}) }
	for key := range uint64(smallSlots) {
		v, fresh := get(int64(key), key)
		if *v = int(key) % 2; !fresh {
			t.Fatalf("key %d was there", key)
		}
	}
	for _, c := range []struct {
		at    int64
		key   uint64
		fresh bool
	}{
		{10, 4, true}, {11, 0, true}, {12, 1, false}, {13, 3, false}, // in place of 0, 2
		{14, 5, true}, {15, 1, false}, {16, 3, false}, {17, 0, false}, {18, 4, true},
	} {
		if _, fresh := get(c.at, c.key); fresh != c.fresh {
			t.Errorf("key %d at %d: fresh %v, want %v", c.key, c.at, fresh, c.fresh)
		}
	}
	for key := uint64(10); key < 14; key++ { // all hold: the idlest goes
		v, _ := get(int64(20+key), key)
		*v = 1
	}
	if _, fresh := get(40, 20); !fresh || table.Len() != smallSlots {
		t.Errorf("fresh %v, %d entries", fresh, table.Len())
	}
	if _, fresh := get(41, 13); fresh {
		t.Error("one that was seen later made room")
	}
}
