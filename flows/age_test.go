package flows

import "testing"

// TestFlowEndsAtItsNanosecond: a flow ends when it was silent for its idle timeout, a closing one
// after two seconds where that is less, and neither a nanosecond before; it ends once.
func TestFlowEndsAtItsNanosecond(t *testing.T) {
	for _, c := range []struct {
		name    string
		idle    int64
		closing bool
		after   int64
	}{
		{"open", 30 * second, false, 30 * second},
		{"closing", 30 * second, true, 2 * second},
		{"open, short timeout", second, false, second},
		{"closing, short timeout", second, true, second},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := New(Config{Capacity: 16, Seed: 1, IdleTimeout: c.idle})
			defer table.Close()
			k := keyOf(1)
			found, _ := lookup(table, 7*second, k)
			if c.closing {
				found[0].Close()
			}
			ended := 0
			for _, late := range []int64{0, 1, c.after - 1} {
				if table.agePlace(0, 7*second+late, func(*Flow) { ended++ }); ended != 0 || table.Find(&k) == nil {
					t.Fatalf("ended after %d ns, want %d", late, c.after)
				}
			}
			for range 2 {
				if table.agePlace(0, 7*second+c.after, func(*Flow) { ended++ }); ended != 1 || table.Find(&k) != nil || table.Len() != 0 {
					t.Fatalf("ended %d times after %d ns, want once", ended, c.after)
				}
			}
		})
	}
}
