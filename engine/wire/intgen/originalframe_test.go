package intgen

import "testing"

// TestFlowsDiffer: no two of many flows have the same ends.
func TestFlowsDiffer(t *testing.T) {
	for _, ipv6 := range []bool{false, true} {
		seen := map[[2]string]bool{}
		for n := 0; n < 1<<23; n += 4093 {
			f := NthFlow(n, n%2 == 0, ipv6)
			ends := [2]string{f.Src.String(), f.Dst.String()}
			if seen[ends] || f.Src.Is6() != ipv6 || (f.Proto == TCP) != (n%2 == 0) {
				t.Fatalf("flow %d: %+v", n, f)
			}
			seen[ends] = true
		}
	}
}
