//go:build linux && amd64

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// profile is how often each address was executed.
type profile struct {
	at      map[uint64]uint64
	packets int
}

// notWorker are functions of this program and of its stand-ins for DPDK.
var notWorker = []string{"main.", "intsink/bench/cmd/instructions.", "runtime.Breakpoint", "intsink/dpdk/mbuf.(*Arena)"}

// perFunction sums what the worker executed by function; what was inlined belongs
// to the function that it was inlined into.
func (p *profile) perFunction() map[string]uint64 { return p.sums(func(uint64) bool { return true }) }

// sums is perFunction of some instructions.
func (p *profile) sums(of func(at uint64) bool) map[string]uint64 {
	sums := map[string]uint64{}
	for at, n := range p.at {
		name := functionAt(at)
		if of(at) && !slices.ContainsFunc(notWorker, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			sums[name] += n
		}
	}
	return sums
}

// atomics is how many of the instructions a packet take a line of memory from all other CPUs: those with the prefix
// LOCK, and XCHG with memory.
func (p *profile) atomics() map[string]uint64 {
	return p.sums(func(at uint64) bool {
		code := (*(**[4]byte)(unsafe.Pointer(&at)))[:] // SAFETY: the program's own code, which the child has executed
		if code[0] == 0xf0 {
			return true
		}
		for code[0]&0xf0 == 0x40 || code[0] == 0x66 { // REX, 16 bits
			code = code[1:]
		}
		return code[0]&^1 == 0x86 && code[1] < 0xc0
	})
}

// functionAt names the function of this program at an address, in Go or in C. The
// child is the same program, at the same addresses.
func functionAt(at uint64) string {
	f := runtime.FuncForPC(uintptr(at))
	if f == nil {
		return inC(at)
	}
	// FuncForPC tells what was inlined there; its entry is the outer function's.
	return runtime.FuncForPC(f.Entry()).Name()
}

// perPacket is the sum of what functions have executed, by packets.
func (p *profile) perPacket(byFunction map[string]uint64) float64 {
	var sum uint64
	for _, n := range byFunction {
		sum += n
	}
	return float64(sum) / float64(p.packets)
}

// print lists the n functions that have executed the most.
func (p *profile) print(w io.Writer, n int, byFunction map[string]uint64) {
	names := slices.SortedFunc(maps.Keys(byFunction), func(a, b string) int {
		return cmp.Or(cmp.Compare(byFunction[b], byFunction[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(n, len(names))] {
		fmt.Fprintf(w, "    %8.2f %s\n", float64(byFunction[name])/float64(p.packets), name)
	}
}
