// Limits: the 99th percentiles of queues, in memory that package fast reads in C.

package usual

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Limits has a place for each of 65,536 hashes of queues. It is outside the Go heap: the detectors of all
// workers and the C of engine/fast read the same words. Two queues with one hash have the higher values of
// both; of a thousand queues that meets some eight.
type Limits struct {
	memory []byte
	key    uint64
}

// Limit is one place of Limits. Values of 0 are not known.
type Limit struct {
	latency, occupancy, owner atomic.Uint32
	_                         uint32
}

// LimitShift is how many bits of a hash are the place of a queue; LimitStep lies between two queues of an
// interface.
const (
	LimitShift = 16
	LimitStep  = 1237
)

func newLimits(seed uint64) *Limits {
	b, err := syscall.Mmap(-1, 0, int(unsafe.Sizeof(Limit{}))<<LimitShift, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("usual: no memory for %d limits: %v", 1<<LimitShift, err)) // at start only
	}
	return &Limits{memory: b, key: seed*0x9e3779b97f4a7c15 | 1}
}

func (l *Limits) close() { syscall.Munmap(l.memory) }

// Address returns where the limits stand and the key of their hash, for C.
func (l *Limits) Address() (unsafe.Pointer, uint64) { return unsafe.Pointer(&l.memory[0]), l.key }

// of returns the place of a queue: key is that of its table (event.Fabric).
func (l *Limits) of(key [2]uint64) *Limit {
	node, egress := bits.ReverseBytes32(uint32(key[0]>>32)), bits.ReverseBytes16(uint16(key[0]))
	first := uint64(node) | uint64(egress)<<48 // the first eight bytes of a hop, as a load finds them
	at := (uint32(first*l.key>>(64-LimitShift)) + uint32(uint8(key[1]))*LimitStep) % (1 << LimitShift)
	// SAFETY: at is below the number of limits, whose memory lives as long as l.
	return (*Limit)(unsafe.Add(unsafe.Pointer(&l.memory[0]), uintptr(at)*unsafe.Sizeof(Limit{})))
}

// Of returns the 99th percentiles of a queue's latency and occupancy that thresholds are made of; 0: there is
// none yet.
func (l *Limits) Of(key [2]uint64) (latency, occupancy uint32) {
	e := l.of(key)
	return e.latency.Load(), e.occupancy.Load()
}

// Set writes the limits of a queue.
func (l *Limits) Set(key [2]uint64, latency, occupancy uint32) {
	e, owner := l.of(key), uint32(mix(key[0]^mix(key[1])))|1
	if had := e.owner.Load(); had != 0 && had != owner {
		latency, occupancy = max(latency, e.latency.Load()), max(occupancy, e.occupancy.Load())
	}
	e.owner.Store(owner)
	e.latency.Store(latency)
	e.occupancy.Store(occupancy)
}

// mix spreads a number over 64 bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>32) * 0x9e3779b97f4a7c15
	return x ^ x>>29
}
