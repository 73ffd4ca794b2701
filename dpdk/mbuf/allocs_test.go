//go:build !race

package mbuf

import "testing"

func TestPacketPathDoesNotAllocate(t *testing.T) {
	a := arena(t, 64, 256)
	v, w := NewVec(), NewVec()
	sum := 0
	n := testing.AllocsPerRun(100, func() {
		a.AllocBulk(v, 4)
		for i, m := range v[:4] {
			m.SetLen(100)[0] = 1
			m.Adj(14)
			m.Prepend(4)
			if i > 0 {
				v[0].Chain(m)
			}
			sum += len(m.Bytes()) + m.PktLen()
		}
		v[0].Pullup(200)
		*w = *v
		a.FreeBulk(w, 1)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
