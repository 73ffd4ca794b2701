//go:build amd64 && !purego

package flows

import "unsafe"

// Those of lookup_go.go, in assembly.

//go:noescape
func candidates(t *Table, tick uint32, hashes []uint64, out []*Flow)

//go:noescape
func confirm(now int64, keys []Key, out []*Flow, from int) (next int)

// What lookup_amd64.s shifts by for the sizes of a bucket and of a flow, and for the
// flows of a bucket.
const (
	bucketShift = 6
	flowShift   = 8
	slotShift   = 3
)

var (
	_ [1 << bucketShift]byte = [unsafe.Sizeof(bucket{})]byte{}
	_ [1 << flowShift]byte   = [unsafe.Sizeof(Flow{})]byte{}
	_ [1 << slotShift]byte   = [slots]byte{}
)
