// The struct Table with its memory (huge pages, mmap), New, Close, capacity, counters; insert.go
// keeps rates of evictions and new flows in it.

package flows

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"
)

// Config of a table.
type Config struct {
	Capacity    int    // flows; rounded up to a power of two, at least 16
	Seed        uint64 // keys the hash
	IdleTimeout int64  // nanoseconds without a packet that end a flow
}

// Table maps keys to flows. It belongs to one goroutine.
type Table struct {
	hasher    hasher
	mask      uint64 // of the number of a bucket
	buckets   []bucket
	flows     []Flow // as many as slots
	slab      slab
	evictions uint64
	refused   uint64
	evicted   int64 // time up to which evictions are spent
	crowded   int64 // the same of new flows, at the rate above which there is a flood
	idle      int64
	hand      int   // whose turn is next (placeOfTurn)
	handTime  int64 // time up to which the hand has moved
	visited   int64 // when the last round of visits began
	unvisited int   // flows that it has not come to
	leaves    func(*Flow)
	cold      []Cold // cold[i] and losses[i] belong to flows[i]
	losses    []Loss
	memory    [3][]byte
}

// Places is how many flows a table of that capacity has room for: the next power of two, 16 at least.
func Places(capacity int) int {
	n := 2 * slots
	for n < capacity {
		n <<= 1
	}
	return n
}

// New maps all the memory that the table will ever use.
func New(c Config) *Table {
	n := Places(c.Capacity) / slots
	t := &Table{hasher: newHasher(c.Seed), mask: uint64(n - 1), idle: c.IdleTimeout}
	flows := n * slots * int(unsafe.Sizeof(Flow{}))
	var hot []byte
	t.memory[0], hot = mapHot(flows + n*int(unsafe.Sizeof(bucket{})))
	t.memory[1] = mapMemory(n * slots * int(unsafe.Sizeof(Cold{})))
	t.memory[2] = mapMemory(n * slots * int(unsafe.Sizeof(Loss{})))
	// SAFETY: all mappings are page aligned, zero, at least as long as the slices,
	// hold no pointers but into each other, and live until Close. Flows come first: of
	// them there is a whole number of lines.
	t.flows = unsafe.Slice((*Flow)(unsafe.Pointer(&hot[0])), n*slots)
	t.buckets = unsafe.Slice((*bucket)(unsafe.Pointer(&hot[flows])), n)
	t.cold = unsafe.Slice((*Cold)(unsafe.Pointer(&t.memory[1][0])), n*slots)
	t.losses = unsafe.Slice((*Loss)(unsafe.Pointer(&t.memory[2][0])), n*slots)
	return t
}

// Memory of a table per flow of its capacity, in bytes.
const (
	// Bytes is taken at start: the flow, and its share of a bucket.
	Bytes = int(unsafe.Sizeof(Flow{})) + int(unsafe.Sizeof(bucket{}))/slots
	// A flow with events of its own takes SideBytes more, and one with numbered packets
	// SequenceBytes more, each when it first needs them.
	SideBytes     = int(unsafe.Sizeof(Cold{}))
	SequenceBytes = int(unsafe.Sizeof(Loss{}))
)

// Advice of madvise(2).
const (
	madvHugepage      = 14 // MADV_HUGEPAGE
	madvPopulateWrite = 23 // MADV_POPULATE_WRITE, Linux 5.14
)

// mapMemory maps n bytes outside the Go heap. The kernel gives memory to a page when it is
// first written.
func mapMemory(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		panic(fmt.Sprintf("flows: no memory for a table of %d bytes: %v", n, err)) // at start only
	}
	return b
}

// hugepage is the size of a huge page.
const hugepage = 2 << 20

// mapHot maps n bytes in huge pages where there are some, and all of it at once, so
// that no packet waits for a page. Small tables have a huge page to themselves, too:
// each flow of theirs would otherwise be a miss in the TLB.
func mapHot(n int) (whole, hot []byte) {
	size := (n + hugepage - 1) &^ (hugepage - 1)
	whole = mapMemory(size + hugepage)
	from := int(-uintptr(unsafe.Pointer(&whole[0])) % hugepage)
	hot = whole[from : from+n : from+n]
	syscall.Madvise(whole[from:from+size], madvHugepage) // a refusal changes nothing
	syscall.Madvise(hot, madvPopulateWrite)
	return whole, hot
}

// Close gives the memory back. No flow may be touched after it.
func (t *Table) Close() {
	for _, m := range t.memory {
		syscall.Munmap(m)
	}
	*t = Table{}
}

// OnEvict has f called with each flow that makes room for another and has used Cold, before it is gone.
func (t *Table) OnEvict(f func(*Flow)) { t.leaves = f }

// Capacity returns how many flows there is room for.
func (t *Table) Capacity() int { return len(t.flows) }

// SetIdleTimeout changes how many nanoseconds without a packet end a flow.
func (t *Table) SetIdleTimeout(ns int64) { t.idle = ns }

// Evictions returns how many flows made room for others before they were idle.
func (t *Table) Evictions() uint64 { return t.evictions }

// Refused returns how many packets of unknown flows found no room for theirs: in a flood.
func (t *Table) Refused() uint64 { return t.refused }

// Hash returns the keyed hash of k.
func (t *Table) Hash(k *Key) uint64 { return t.hasher.hash(k) }

// StartTime is about how long New takes for a table of that capacity on this
// machine, now: the kernel has to find and clear the memory. It is measured on a
// small part; memory that a virtual machine has never touched takes longer.
func StartTime(capacity int) time.Duration {
	const sample = 64 << 20
	start := time.Now()
	b, _ := mapHot(sample)
	took := time.Since(start)
	syscall.Munmap(b)
	return took * time.Duration(capacity) / (sample / time.Duration(Bytes))
}
