package metric

import "testing"

// TestAddAddsAllNumbers, and leaves the rest.
func TestAddAddsAllNumbers(t *testing.T) {
	type inner struct{ A [2][2]uint64 }
	type all struct {
		inner
		Name string
		B    inner
		N    uint32
		I    int64
		S    *int
	}
	one := 1
	sum, o := all{inner: inner{[2][2]uint64{{1, 2}, {3, 4}}}, Name: "sum", N: 5, I: -6, S: &one}, all{inner: inner{[2][2]uint64{{10, 20}, {30, 40}}}, Name: "o", N: 50, I: 60}
	o.B.A[1][1] = 7
	Add(&sum.inner, &o.inner)
	Add(&sum.B, &o.B)
	if sum.inner.A != [2][2]uint64{{11, 22}, {33, 44}} || sum.B.A[1][1] != 7 || sum.Name != "sum" || sum.N != 5 {
		t.Errorf("%+v", sum)
	}
}
