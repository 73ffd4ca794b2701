//go:build amd64 && !purego

package engine

import (
	"unsafe"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/engine/strip"
	"intsink/flows"
)

// recallRun is recallGo.
//
//go:noescape
func recallRun(q *recallState, b *burst, from int) (next int)

// quietRun is quietGo.
//
//go:noescape
func quietRun(q *quietState, b *burst, from int) (next int)

// stripRun is stripGo.
//
//go:noescape
func stripRun(b *burst, from int) (next int)

// Types and constants that the assembly names.
type (
	asmMbuf   mbuf.Mbuf
	asmMemory inthdr.Memory
	asmMemo   inthdr.Memo
	asmInfo   inthdr.Info
	asmIndex  flows.Index
	asmKey    flows.Key
	asmFlow   flows.Flow
	asmHop    flows.Hop
	asmLane   event.Lane
)

var _ [1 << memoShift]byte = [unsafe.Sizeof(inthdr.Memo{})]byte{}

const (
	maxFrame  = packet.MaxFrame
	memoMask  = inthdr.Memos - 1
	memoShift = 6
	maxHops   = flows.MaxHops
	plainLen  = strip.PlainLen
)
