// Sizes and offsets of Flow, Key, Hop and bucket that the C of engine/fast is compared with.

package flows

import "unsafe"

// Layout returns the size of a flow, a key, a hop and a bucket and the offset of every field that C
// uses (engine/fast), in the order of its struct, to be compared with C.
func Layout() []uintptr {
	var f *Flow
	var b *bucket
	var k *Key
	var x *Index
	var l *Loss
	return []uintptr{
		unsafe.Sizeof(*k), unsafe.Offsetof(k.addrs),
		unsafe.Sizeof(f.Hops[0]), unsafe.Offsetof(f.Hops[0].Interfaces), unsafe.Offsetof(f.Hops[0].Ref),
		unsafe.Sizeof(*f), unsafe.Offsetof(f.Generation), unsafe.Offsetof(f.PathHops), unsafe.Offsetof(f.NextRefresh),
		unsafe.Offsetof(f.seen), unsafe.Offsetof(f.packets), unsafe.Offsetof(f.bytes), unsafe.Offsetof(f.PathSeen),
		unsafe.Offsetof(f.EndRef), unsafe.Offsetof(f.Hops), unsafe.Offsetof(f.windows), unsafe.Offsetof(f.cold), unsafe.Offsetof(f.LastReport), unsafe.Offsetof(f.LastEvents), unsafe.Offsetof(f.loss),
		unsafe.Offsetof(l.Seen), unsafe.Offsetof(l.NumHoles), unsafe.Offsetof(l.Pending), unsafe.Offsetof(l.Listed), unsafe.Offsetof(l.Anew),
		unsafe.Sizeof(*b), unsafe.Offsetof(b.tags),
		unsafe.Sizeof(*x), unsafe.Offsetof(x.more), unsafe.Offsetof(x.Mask), unsafe.Offsetof(x.Buckets), unsafe.Offsetof(x.Flows),
	}
}

// What is shifted by for the size of a bucket.
const bucketShift = 6

var (
	_ [1 << bucketShift]byte = [unsafe.Sizeof(bucket{})]byte{}
	_ [5 * 64]byte           = [unsafe.Sizeof(Flow{})]byte{} // five cache lines
)
