//go:build amd64 && !purego

package engine

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/flows"
)

// useAVX2 tells whether the processor knows the instructions of the assembly, as most have
// done since about 2015. On others the Go twins run.
var useAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasBMI2

func matchHeaders(q *matchState, b *burst, from int) (next int) {
	if useAVX2 {
		return matchHeadersAVX2(q, b, from)
	}
	return matchHeadersGo(q, b, from)
}

func passUnchanged(q *passState, b *burst, from int) (next int) {
	if useAVX2 {
		return passUnchangedAVX2(q, b, from)
	}
	return passUnchangedGo(q, b, from)
}

func stripUDPv4(b *burst, from int) (next int) {
	if useAVX2 {
		return stripUDPv4AVX2(b, from)
	}
	return stripUDPv4Go(b, from)
}

// matchHeadersAVX2 is matchHeadersGo.
//
//go:noescape
func matchHeadersAVX2(q *matchState, b *burst, from int) (next int)

// passUnchangedAVX2 is passUnchangedGo.
//
//go:noescape
func passUnchangedAVX2(q *passState, b *burst, from int) (next int)

// stripUDPv4AVX2 is stripUDPv4Go.
//
//go:noescape
func stripUDPv4AVX2(b *burst, from int) (next int)

// Types and constants that the assembly names.
type (
	asmMbuf        mbuf.Mbuf
	asmHeaderCache inthdr.HeaderCache
	asmTemplate    inthdr.Template
	asmInfo        inthdr.Info
	asmIndex       flows.Index
	asmKey         flows.Key
	asmFlow        flows.Flow
	asmHop         flows.Hop
	asmFastPolicy  event.FastPolicy
)

var _ [1 << templateShift]byte = [unsafe.Sizeof(inthdr.Template{})]byte{}

const (
	maxFrame      = packet.MaxFrame
	templateMask  = inthdr.NumTemplates - 1
	templateShift = 6
	sumWords      = 21 // of INT, that one jump leads to
	sumBytes      = 4  // of an instruction that adds one
)
