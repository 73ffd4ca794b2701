package flows

import (
	"syscall"
	"testing"
	"unsafe"
)

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

// TestWalkOfSmall: slices of any size show each entry once, with key, time and value, and the last ends at 0.
func TestWalkOfSmall(t *testing.T) {
	small := NewSmall[int](32, 1, nil)
	defer small.Close()
	for key := range uint64(20) {
		v, _ := small.Get(int64(key)<<20, [2]uint64{key, 5})
		*v = 100 + int(key)
	}
	for _, n := range []int{1, 5, 31, 32, 100} {
		seen, at, calls := map[uint64]int{}, 0, 0
		for calls == 0 || at != 0 {
			at = small.Walk(at, n, func(key [2]uint64, tick uint32, v *int) {
				if seen[key[0]]++; key[1] != 5 || uint64(tick) != key[0] || *v != 100+int(key[0]) {
					t.Errorf("key %d: tick %d, value %d", key, tick, *v)
				}
			})
			if calls++; at != 0 && at != calls*n {
				t.Fatalf("slices of %d: call %d ends at %d", n, calls, at)
			}
		}
		if len(seen) != small.Len() || small.Len()+int(small.Evictions()) != 20 || calls != (32+n-1)/n {
			t.Errorf("slices of %d: %d calls show %d of %d entries", n, calls, len(seen), small.Len())
		}
		for key, times := range seen {
			if times != 1 {
				t.Errorf("slices of %d: key %d seen %d times", n, key, times)
			}
		}
	}
}

// TestCloseGivesMemoryBack: of a closed table no page is mapped.
func TestCloseGivesMemoryBack(t *testing.T) {
	small := NewSmall[[1 << 20]byte](256, 1, nil) // so large that nothing else comes to stand there meanwhile
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&small.entries[0])), 256<<20)
	if len(small.memory) < len(memory) {
		t.Fatalf("%d bytes of memory", len(small.memory))
	}
	var resident [256 << 20 / 4096]byte
	mapped := func() bool {
		_, _, err := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(memory))), uintptr(len(memory)), uintptr(unsafe.Pointer(&resident)))
		return err == 0
	}
	if !mapped() {
		t.Fatal("an open table is not mapped")
	}
	if small.Close(); mapped() {
		t.Error("a closed table is mapped")
	}
}
