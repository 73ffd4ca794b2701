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
func (p *profile) perFunction() map[string]uint64 {
	sums := map[string]uint64{}
	for at, n := range p.at {
		name := functionAt(at)
		if !slices.ContainsFunc(notWorker, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			sums[name] += n
		}
	}
	return sums
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

func (p *profile) perPacket() float64 {
	var sum uint64
	for _, n := range p.perFunction() {
		sum += n
	}
	return float64(sum) / float64(p.packets)
}

// print lists the n most expensive functions.
func (p *profile) print(w io.Writer, n int) {
	sums := p.perFunction()
	names := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(n, len(names))] {
		fmt.Fprintf(w, "    %8.1f %s\n", float64(sums[name])/float64(p.packets), name)
	}
}
