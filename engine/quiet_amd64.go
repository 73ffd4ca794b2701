//go:build amd64 && !purego

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/strip"
	"intsink/flows"
)

// Types whose fields quiet_amd64.s names.
type (
	asmInfo inthdr.Info
	asmFlow flows.Flow
	asmHop  flows.Hop
	asmLane event.Lane
	asmMbuf mbuf.Mbuf
)

const (
	maxHops  = flows.MaxHops
	plainLen = strip.PlainLen
)

//go:noescape
func quietRun(q *quietState, b *burst, from int) (next int)
