package flows

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Config of a table.
type Config struct {
	Capacity    int    // flows; rounded up to a power of two, at least 16
	Seed        uint64 // keys the hash
	IdleTimeout int64  // nanoseconds without a packet that end a flow
}

const slots = 8 // flows of one bucket

// bucket is the index of eight flows: one cache line. A flow may stand in either
// of two buckets.
type bucket struct {
	tag  [slots]uint16 // of the hash; 0: free
	seen [slots]uint32 // Tick of the last packet
	_    [16]byte
}

// Table maps keys to flows. It belongs to one goroutine.
type Table struct {
	seed      uint64
	mask      uint64
	buckets   []bucket
	flows     []Flow // flows[b*slots+s] belongs to buckets[b], slot s
	n         int
	evictions uint64
	idle      int64
	hand      int   // next bucket to age
	handTime  int64 // time up to which the hand has moved
	memory    [2][]byte
	touched   uint16 // keeps the loads of the prefetch pass alive
}

// New maps all the memory that the table will ever use.
func New(c Config) *Table {
	n := 1
	for n*slots < max(c.Capacity, 2*slots) {
		n <<= 1
	}
	t := &Table{seed: c.Seed, mask: uint64(n - 1), idle: c.IdleTimeout}
	t.memory[0] = mapMemory(n * int(unsafe.Sizeof(bucket{})))
	t.memory[1] = mapMemory(n * slots * int(unsafe.Sizeof(Flow{})))
	// SAFETY: both mappings are page aligned, zero, exactly as long as the
	// slices, hold no Go pointers, and live until Close.
	t.buckets = unsafe.Slice((*bucket)(unsafe.Pointer(&t.memory[0][0])), n)
	t.flows = unsafe.Slice((*Flow)(unsafe.Pointer(&t.memory[1][0])), n*slots)
	return t
}

const madvHugepage = 14 // MADV_HUGEPAGE

func mapMemory(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("flows: no memory for a table of %d bytes: %v", n, err)) // at start only
	}
	syscall.Madvise(b, madvHugepage) // fewer TLB misses; a refusal changes nothing
	return b
}

// Close gives the memory back. No flow may be touched after it.
func (t *Table) Close() {
	for _, m := range t.memory {
		syscall.Munmap(m)
	}
	*t = Table{}
}

// Len is the number of flows in the table.
func (t *Table) Len() int { return t.n }

// Capacity is how many flows there is room for.
func (t *Table) Capacity() int { return len(t.flows) }

// Evictions is how many flows made room for others before they were idle.
func (t *Table) Evictions() uint64 { return t.evictions }

// Hash is the keyed hash of k.
func (t *Table) Hash(k *Key) uint64 { return hash(t.seed, k) }

// LookupBurst finds or makes the flow of every key: out[j] for keys[j], its
// hash in hashes[j]. Bit j of fresh tells that out[j] was made now. All flows
// stay valid until the next call; none is evicted by a later key of the same
// call. out[j] is nil where that would be needed. At most 64 keys.
func (t *Table) LookupBurst(now int64, keys []Key, hashes []uint64, out []*Flow) (fresh uint64) {
	hashes, out = hashes[:len(keys)], out[:len(keys)]
	var touched uint16
	for j := range keys {
		hashes[j] = hash(t.seed, &keys[j])
	}
	// Each pass only loads what the next one needs, for all keys: the cache
	// misses of a pass overlap, where one key after the other would wait for each.
	for _, h := range hashes {
		touched += t.buckets[h&t.mask].tag[0]
	}
	tick := Tick(now)
	for j, h := range hashes {
		f := t.candidate(tick, h)
		out[j] = f
		if f != nil {
			touched += uint16(f.seen) + uint16(f.PathHash[0]) + uint16(f.Hops[0].Node)
		}
	}
	t.touched = touched
	for j := range keys {
		if f := out[j]; f != nil && f.Key.equal(&keys[j]) {
			f.seen = now
			continue
		}
		f := t.find(now, hashes[j], &keys[j])
		if f == nil {
			if f = t.insert(now, hashes[j], &keys[j], out[:j]); f != nil {
				fresh |= 1 << j
			}
		}
		out[j] = f
	}
	return fresh
}

// candidate is the flow in the first bucket whose tag is that of h, most likely
// the right one; nil where there is none. It is marked as seen before that is
// known: one wrong in 32768 is found idle a little later.
func (t *Table) candidate(tick uint32, h uint64) *Flow {
	b := h & t.mask
	bk, tag := &t.buckets[b], tagOf(h)
	for s := range slots {
		if bk.tag[s] == tag {
			bk.seen[s] = tick
			return &t.flows[b*slots+uint64(s)]
		}
	}
	return nil
}

func tagOf(h uint64) uint16 { return uint16(h>>48) | 1 }

// second is the other bucket of a hash.
func (t *Table) second(h uint64) uint64 { return (h>>24 ^ h) & t.mask }

func (t *Table) find(now int64, h uint64, k *Key) *Flow {
	if f := t.findIn(now, h&t.mask, tagOf(h), k); f != nil {
		return f
	}
	return t.findIn(now, t.second(h), tagOf(h), k)
}

func (t *Table) findIn(now int64, b uint64, tag uint16, k *Key) *Flow {
	bk := &t.buckets[b]
	for s := range slots {
		if bk.tag[s] != tag {
			continue
		}
		if f := &t.flows[b*slots+uint64(s)]; f.Key.equal(k) {
			bk.seen[s] = Tick(now)
			f.seen = now
			return f
		}
	}
	return nil
}

// insert takes a free slot of either bucket, or evicts the idlest flow of both
// that is not in held.
func (t *Table) insert(now int64, h uint64, k *Key, held []*Flow) *Flow {
	tick := Tick(now)
	var victim uint64
	oldest, found := uint32(0), false
	for _, b := range [2]uint64{h & t.mask, t.second(h)} {
		bk := &t.buckets[b]
		for s := range slots {
			at := b*slots + uint64(s)
			if bk.tag[s] == 0 {
				t.n++
				return t.place(now, at, tagOf(h), k)
			}
			age := tick - bk.seen[s]
			if found && age <= oldest || age == 0 && isHeld(held, &t.flows[at]) {
				continue
			}
			victim, oldest, found = at, age, true
		}
	}
	if !found {
		return nil
	}
	t.evictions++
	return t.place(now, victim, tagOf(h), k)
}

func isHeld(held []*Flow, f *Flow) bool {
	for _, h := range held {
		if h == f {
			return true
		}
	}
	return false
}

func (t *Table) place(now int64, at uint64, tag uint16, k *Key) *Flow {
	bk, s := &t.buckets[at/slots], at%slots
	bk.tag[s], bk.seen[s] = tag, Tick(now)
	f := &t.flows[at]
	*f = Flow{Key: *k, seen: now}
	return f
}
