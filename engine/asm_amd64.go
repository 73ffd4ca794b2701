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

// wide tells whether the processor knows the instructions of the assembly, as most have
// done since about 2015. On others the Go twins run.
var wide = cpu.X86.HasAVX2 && cpu.X86.HasBMI2

func recallRun(q *recallState, b *burst, from int) (next int) {
	if wide {
		return recallWide(q, b, from)
	}
	return recallGo(q, b, from)
}

func quietRun(q *quietState, b *burst, from int) (next int) {
	if wide {
		return quietWide(q, b, from)
	}
	return quietGo(q, b, from)
}

func stripRun(b *burst, from int) (next int) {
	if wide {
		return stripWide(b, from)
	}
	return stripGo(b, from)
}

// recallWide is recallGo.
//
//go:noescape
func recallWide(q *recallState, b *burst, from int) (next int)

// quietWide is quietGo.
//
//go:noescape
func quietWide(q *quietState, b *burst, from int) (next int)

// stripWide is stripGo.
//
//go:noescape
func stripWide(b *burst, from int) (next int)

// Types and constants that the assembly names.
type (
	asmMbuf   mbuf.Mbuf
	asmMemory inthdr.HeaderCache
	asmMemo   inthdr.Template
	asmInfo   inthdr.Info
	asmIndex  flows.Index
	asmKey    flows.Key
	asmFlow   flows.Flow
	asmHop    flows.Hop
	asmLane   event.FastPolicy
)

var _ [1 << memoShift]byte = [unsafe.Sizeof(inthdr.Template{})]byte{}

const (
	maxFrame  = packet.MaxFrame
	memoMask  = inthdr.NumTemplates - 1
	memoShift = 6
	sumWords  = 21 // of INT, that one jump leads to
	sumBytes  = 4  // of an instruction that adds one
)
