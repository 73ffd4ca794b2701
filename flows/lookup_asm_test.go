//go:build amd64 && !purego && !race

package flows

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestTwinsNameWhatTheyKnow: most offsets are taken from the types; sizes, places within
// arrays and what stands side by side are not.
func TestTwinsNameWhatTheyKnow(t *testing.T) {
	var b bucket
	var k Key
	for _, got := range [][2]uintptr{
		{unsafe.Sizeof(b.tags), 2 * 8}, {unsafe.Sizeof(b.flows), slots * 4}, {unsafe.Sizeof(k), 40}, {unsafe.Sizeof(k.portsProto), 8},
		{unsafe.Offsetof(k.portsProto), 0}, {unsafe.Offsetof(k.addrs), 8}, // compared at once
		{unsafe.Sizeof(Table{}.mask), 8}, {unsafe.Sizeof(Flow{}.seen), 8}, {slots, 8},
	} {
		if got[0] != got[1] {
			t.Errorf("%d, want %d", got[0], got[1])
		}
	}
}

// twinTable has random tags, few enough that they repeat within a bucket and beyond.
func twinTable(t *testing.T, r *rand.Rand, capacity int) (table *Table, tags []uint16) {
	table = New(Config{Capacity: capacity, Seed: r.Uint64()})
	t.Cleanup(table.Close)
	tags = []uint16{1, 3, 0x7fff, 0x8001, 0xffff, 0xfffd, 0x101, uint16(r.Uint32()) | 1}
	return table, tags
}

func shuffleTags(r *rand.Rand, table *Table, tags []uint16) {
	for b := range table.buckets {
		bk := &table.buckets[b]
		for s := range uint64(slots) {
			tag := tags[r.IntN(len(tags))]
			if r.IntN(3) == 0 {
				tag = []uint16{0, tag + 1, tag - 1, tag ^ 0x8000}[r.IntN(4)] // not all of which a table has
			}
			bk.set(s, tag, uint32(r.IntN(len(table.flows))))
		}
		if r.IntN(4) == 0 {
			*bk = bucket{}
		}
	}
}

// standsIn is the slot of the first bucket of h that tells where f is; slots: none.
func standsIn(t *Table, h uint64, f *Flow) int {
	bk := &t.buckets[t.primary(h)]
	for s, i := range bk.flows {
		if &t.flows[i] == f && bk.tag(uint64(s)) == tagOf(h) {
			return s
		}
	}
	return slots
}

// TestCandidatesTwins: every slot, no slot, more than one, tags that differ in a bit,
// and the bit above, from no hash to 64 of them.
func TestCandidatesTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, capacity := range []int{16, 128, 1024} {
		table, tags := twinTable(t, r, capacity)
		found := [slots + 1]int{}
		for n := range 3000 {
			shuffleTags(r, table, tags)
			before := slices.Clone(table.buckets)
			hashes := make([]uint64, n%65)
			for j := range hashes {
				hashes[j] = uint64(tags[r.IntN(len(tags))]&^uint16(r.IntN(2)))<<48 | r.Uint64()>>16
			}
			out, want := make([]*Flow, 65), make([]*Flow, 65)
			for j := range out {
				out[j], want[j] = &table.flows[0], &table.flows[0] // left there by an earlier burst
			}
			prefetch(table, hashes) // changes nothing
			findByTagGo(table, hashes, want[:len(hashes)])
			findByTag(table, hashes, out[:len(hashes)])
			if !slices.Equal(out, want) || !slices.Equal(table.buckets, before) {
				t.Fatalf("%d hashes: the twins differ", len(hashes))
			}
			for j, h := range hashes {
				found[standsIn(table, h, want[j])]++
			}
		}
		if slices.Min(found[:]) < 100 {
			t.Errorf("found in slots, or not, %v times", found)
		}
	}
}

// TestConfirmTwins: keys that are as their flow's, and such of which one bit is not, of
// any word.
func TestConfirmTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	table, _ := twinTable(t, r, 128)
	confirmed, refused := 0, [5]int{}
	for n := range 6000 {
		keys, out := make([]Key, n%65+1), make([]*Flow, n%65+1)
		for j := range keys {
			f := &table.flows[r.IntN(len(table.flows))]
			f.Key = Key{addrs: [4]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}}
			f.Key.SetPorts([]uint8{4, 6, 0, 5, 0x44}[r.IntN(5)], 17, uint16(r.Uint32()), uint16(r.Uint32()))
			out[j] = f
		}
		for j := range keys { // a later key may have overwritten that of its flow
			k := &out[j].Key
			keys[j] = *k
			if r.IntN(20) == 0 {
				word := r.IntN(5)
				*[]*uint64{&keys[j].addrs[0], &keys[j].addrs[1], &keys[j].addrs[2], &keys[j].addrs[3], &keys[j].portsProto}[word] ^= 1 << r.IntN(64)
				refused[word]++
			}
		}
		// One more, which is as its flow's, stands behind.
		last := len(keys) - 1
		keys[last], out[last] = table.flows[0].Key, &table.flows[0]
		keys, out = keys[:last], out[:last]
		now, was := int64(r.Uint64()), slices.Clone(table.flows)
		for from := 0; from <= len(keys); {
			want := confirmGo(now, keys, out, from)
			after := slices.Clone(table.flows)
			copy(table.flows, was)
			got := confirm(now, keys, out, from)
			if got != want || !slices.Equal(table.flows, after) {
				t.Fatalf("%d keys from %d on: %d confirmed, want %d, or other flows", len(keys), from, got-from, want-from)
			}
			copy(was, table.flows)
			confirmed += got - from
			from = got + 1
		}
	}
	if confirmed < 50_000 || slices.Min(refused[:]) < 500 {
		t.Errorf("%d confirmed, %v not", confirmed, refused)
	}
}
