//go:build cgo

// Calls from Go into the C loops, one per burst (go_fast_receive).

package fast

/*
#cgo CFLAGS: -std=c11 -O3 -Wall -Wextra
#include <stdbool.h>
#include "fast.h"

#if !defined(__x86_64__) || defined(FAST_PORTABLE)
#define fast_receive_portable fast_receive
#define fast_lookup_portable fast_lookup
#define fast_pass_portable fast_pass
#define fast_poll_portable fast_poll
#define fast_strip_portable fast_strip
#define fast_strip_frame_portable fast_strip_frame
#else
void fast_receive_portable(struct fast_state *);
void fast_lookup_portable(struct fast_state *);
void fast_pass_portable(struct fast_state *);
void fast_poll_portable(struct fast_loop *);
void fast_strip_portable(struct fast_state *, uint64_t which);
uint32_t fast_strip_frame_portable(const struct fast_template *, uint8_t *frame, uint32_t len, uint32_t pkt_len);
#endif

// The address of a State is memory outside the Go heap: it crosses as a number. With portable, the
// code without vectors runs.
static inline void go_fast_receive(uintptr_t s, bool portable) { (portable ? fast_receive_portable : fast_receive)((struct fast_state *)s); }
static inline void go_fast_lookup(uintptr_t s, bool portable) { (portable ? fast_lookup_portable : fast_lookup)((struct fast_state *)s); }
static inline void go_fast_pass(uintptr_t s, bool portable) { (portable ? fast_pass_portable : fast_pass)((struct fast_state *)s); }
static inline void go_fast_poll(uintptr_t l, bool portable) { (portable ? fast_poll_portable : fast_poll)((struct fast_loop *)l); }
static inline void go_fast_strip(uintptr_t s, uint64_t which, bool portable) { (portable ? fast_strip_portable : fast_strip)((struct fast_state *)s, which); }
static inline uint32_t go_fast_strip_frame(const void *t, uint8_t *frame, uint32_t len, uint32_t pkt_len, bool portable)
{
	return (portable ? fast_strip_frame_portable : fast_strip_frame)((const struct fast_template *)t, frame, len, pkt_len);
}
#cgo noescape go_fast_receive
#cgo nocallback go_fast_receive
#cgo noescape go_fast_lookup
#cgo nocallback go_fast_lookup
#cgo noescape go_fast_pass
#cgo nocallback go_fast_pass
#cgo noescape go_fast_poll
#cgo nocallback go_fast_poll
#cgo noescape go_fast_strip
#cgo nocallback go_fast_strip
#cgo noescape go_fast_strip_frame
#cgo nocallback go_fast_strip_frame
*/
import "C"

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/cpu"

	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/usual"
	"intsink/flows"
)

// haveC tells whether the loops in C run here.
const haveC = true

// vectors tells whether this processor has what the C is compiled for: on amd64 AVX2 and BMI2, as
// most have had since about 2015. Others run the portable C.
var vectors = runtime.GOARCH != "amd64" || cpu.X86.HasAVX2 && cpu.X86.HasBMI2

func (p *Path) run(s step) {
	at := C.uintptr_t(uintptr(unsafe.Pointer(p.State)))
	switch s {
	case receive:
		C.go_fast_receive(at, C.bool(p.portable))
	case lookup:
		C.go_fast_lookup(at, C.bool(p.portable))
	case pass:
		C.go_fast_pass(at, C.bool(p.portable))
	}
}

func (p *Path) poll(l *Loop) {
	C.go_fast_poll(C.uintptr_t(uintptr(unsafe.Pointer(l))), C.bool(p.portable))
}

// Strip takes INT out of the packets whose bits are set in which. All have templates.
func (p *Path) Strip(which uint64) {
	if which == 0 {
		return // most bursts: the call costs as much as half a packet
	}
	C.go_fast_strip(C.uintptr_t(uintptr(unsafe.Pointer(p.State))), C.uint64_t(which), C.bool(p.portable))
}

// stripFrame takes INT out of the packet that starts with f and is of pktLen bytes, by a template that
// matches it. The packet then starts removed bytes further on.
func (p *Path) stripFrame(t *Template, f []byte, pktLen int) (removed int) {
	alone := *t // what it is a part of may have pointers, which no call into C may see
	return int(C.go_fast_strip_frame(unsafe.Pointer(&alone), (*C.uint8_t)(unsafe.Pointer(&f[0])), C.uint32_t(len(f)), C.uint32_t(pktLen), C.bool(p.portable)))
}

// inC are the structs of fast.h, for a test to compare with those of Go, field by field.
func inC() []any {
	return []any{
		(*C.struct_fast_mbuf)(nil), (*C.struct_fast_state)(nil), (*C.struct_fast_view)(nil), (*C.struct_fast_loop)(nil),
		(*C.struct_fast_flow)(nil), (*C.struct_fast_loss)(nil), (*C.struct_fast_bucket)(nil), (*C.struct_fast_model)(nil), (*C.struct_fast_limit)(nil), (*C.struct_fast_link)(nil),
		(*C.struct_fast_tallies)(nil), (*C.struct_fast_cold)(nil), (*C.struct_fast_drawn)(nil),
	}
}

// What C and Go both count with is the same: the index is zero, or this does not compile.
var (
	_ = [1]int{}[maxShapes-C.FAST_SHAPES]
	_ = [1]int{}[maxTemplates-C.FAST_TEMPLATES]
	_ = [1]int{}[flows.RefreshShift-C.FAST_REFRESH_SHIFT]
	_ = [1]int{}[event.NodesAlone-C.FAST_NODES_ALONE]
	_ = [1]int{}[event.NoLatency-C.FAST_NO_LATENCY]
	_ = [1]int{}[usual.LimitShift-C.FAST_LIMIT_SHIFT]
	_ = [1]int{}[usual.Fuller-C.FAST_FULLER]
	_ = [1]int{}[flows.TickShift-C.FAST_TICK_SHIFT]
	_ = [1]int{}[episode.MaxOpen-C.FAST_RECORDS]
	_ = [1]int{}[flows.MaxShares-C.FAST_SHARES]
	_ = [1]int{}[flows.MaxHops-C.FAST_MOST_HOPS]
	_ = [1]int{}[event.BusyRuns-C.FAST_BUSY]
	_ = [1]int{}[event.MaxPolicies-C.FAST_POLICIES]
)
