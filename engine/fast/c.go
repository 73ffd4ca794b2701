//go:build cgo && !purego

// Calls from Go into the C loops, one per burst (go_fast_receive).

package fast

/*
#cgo CFLAGS: -std=c11 -O3 -Wall -Wextra
#include "fast.h"

// The address of a State is memory outside the Go heap: it crosses as a number.
static inline void go_fast_receive(uintptr_t s) { fast_receive((struct fast_state *)s); }
static inline void go_fast_match(uintptr_t s) { fast_match((struct fast_state *)s); }
static inline void go_fast_lookup(uintptr_t s) { fast_lookup((struct fast_state *)s); }
static inline void go_fast_pass(uintptr_t s) { fast_pass((struct fast_state *)s); }
static inline void go_fast_poll(uintptr_t l) { fast_poll((struct fast_loop *)l); }
static inline void go_fast_strip(uintptr_t s, uint64_t which) { fast_strip((struct fast_state *)s, which); }
#cgo noescape go_fast_receive
#cgo nocallback go_fast_receive
#cgo noescape go_fast_match
#cgo nocallback go_fast_match
#cgo noescape go_fast_lookup
#cgo nocallback go_fast_lookup
#cgo noescape go_fast_pass
#cgo nocallback go_fast_pass
#cgo noescape go_fast_poll
#cgo nocallback go_fast_poll
#cgo noescape go_fast_strip
#cgo nocallback go_fast_strip
*/
import "C"

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// haveC tells whether the loops in C run here: on amd64 they are compiled for processors
// with AVX2 and BMI2, as most have been since about 2015.
var haveC = runtime.GOARCH != "amd64" || cpu.X86.HasAVX2 && cpu.X86.HasBMI2

func (p *Path) run(s step) {
	if p.inGo {
		p.runGo(s)
		return
	}
	at := C.uintptr_t(uintptr(unsafe.Pointer(p.State)))
	switch s {
	case receive:
		C.go_fast_receive(at)
	case match:
		C.go_fast_match(at)
	case lookup:
		C.go_fast_lookup(at)
	case pass:
		C.go_fast_pass(at)
	}
}

func (p *Path) poll(l *Loop) { C.go_fast_poll(C.uintptr_t(uintptr(unsafe.Pointer(l)))) }

func (p *Path) stripC(which uint64) {
	C.go_fast_strip(C.uintptr_t(uintptr(unsafe.Pointer(p.State))), C.uint64_t(which))
}

// layout is the sizes and offsets of fast.h, in the order of State and what it holds.
func layout() []uintptr {
	var out [C.FAST_LAYOUT]C.uint64_t
	C.fast_layout(&out[0])
	all := make([]uintptr, len(out))
	for i, v := range out {
		all[i] = uintptr(v)
	}
	return all
}
