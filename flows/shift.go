package flows

import "unsafe"

// What is shifted by for the sizes of a bucket and of a flow, and for the flows of a bucket.
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
