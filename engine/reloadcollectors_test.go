package engine

import (
	"encoding/binary"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/reporting"
	"intsink/engine/wire/report"
)

// TestCollectorsComeAndGo: the one that stays goes on with its sequence, wherever it stands;
// the one that goes gets what was open for it; none of the mbufs stays away.
func TestCollectorsComeAndGo(t *testing.T) {
	b := newBed(t, nil)
	first, second := ring.New(64), ring.New(64)
	v := mbuf.NewVec()
	sequences := func(r *ring.Ring) (all []uint32) {
		t.Helper()
		n := r.Pop(v, mbuf.MaxBurst)
		for _, m := range v[:n] {
			all = append(all, binary.BigEndian.Uint32(m.Bytes()[report.HandoffLen:])&(1<<22-1))
		}
		b.reports.FreeBulk(v, n)
		return all
	}
	reload := func(outlets ...reporting.Outlet) {
		r := *b.rules
		r.Watches, r.Collectors = slices.Clone(r.Watches), nil
		r.Watches[0].Collectors = 1<<len(outlets) - 1
		for _, o := range outlets {
			name := "first"
			if o.Ring == second {
				name = "second"
			}
			r.Collectors = append(r.Collectors, reporting.Collector{Name: name, MaxPayload: 1358})
		}
		b.ReloadCollectors(&r, outlets)
		b.step(1e6)
		if !b.Adopted(&r) {
			t.Fatal("not adopted")
		}
	}
	reload(reporting.Outlet{Ring: first})
	for i, c := range []struct {
		name          string
		outlets       []reporting.Outlet
		first, second []uint32 // of what was open at the reload, and of a flow behind it
		counters      []string
	}{
		{"one comes, in front", []reporting.Outlet{{Ring: second}, {Ring: first}}, []uint32{0, 1}, []uint32{0}, []string{"second", "first"}},
		{"places change", []reporting.Outlet{{Ring: first}, {Ring: second}}, []uint32{2, 3}, []uint32{1, 2}, []string{"first", "second"}},
		{"the first goes", []reporting.Outlet{{Ring: second}}, []uint32{4}, []uint32{3, 4}, []string{"second"}},
		{"and comes back, as another", []reporting.Outlet{{Ring: second}, {Ring: first}}, []uint32{0}, []uint32{5, 6}, []string{"second", "first"}},
		{"all go", []reporting.Outlet{}, []uint32{1}, []uint32{7}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.send(withINT(t, plain(2*i), nil))
			reload(c.outlets...)
			b.send(withINT(t, plain(2*i+1), nil))
			b.step(2e6)
			if a, z := sequences(first), sequences(second); !slices.Equal(a, c.first) || !slices.Equal(z, c.second) {
				t.Errorf("first got %v, want %v; second %v, want %v", a, c.first, z, c.second)
			}
			b.Publish()
			var names []string
			for _, k := range b.Snapshot().Collectors {
				names = append(names, k.Name)
				if k.Packets == 0 || k.Packets != k.Reports {
					t.Errorf("%+v", k)
				}
			}
			if !slices.Equal(names, c.counters) {
				t.Errorf("counters of %v, want %v", names, c.counters)
			}
		})
	}
	if n := b.reports.InUse(); n != 0 {
		t.Errorf("%d mbufs of the report pool are in use, without a collector", n)
	}
}
