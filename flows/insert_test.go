package flows

import (
	"testing"
)

// TestEvictionsAtOnce: a thousand at one instant, and one more ten microseconds later.
func TestEvictionsAtOnce(t *testing.T) {
	x := &Table{}
	spend := func(now int64) (n int) {
		for n < 5000 && x.mayEvict(now) {
			x.evicted = max(x.evicted, now) + evictionNs
			n++
		}
		return n
	}
	const now = 5e9
	if first, later := spend(now), spend(now+evictionNs); first != 1000 || later != 1 {
		t.Errorf("%d at once and %d later, want 1000 and 1", first, later)
	}
}
