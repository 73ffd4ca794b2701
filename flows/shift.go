package flows

import "unsafe"

// What is shifted by for the sizes of a bucket and of a flow.
const (
	bucketShift = 6
	flowShift   = 8
	placeShift  = 2 // of what a bucket has of a flow
)

var (
	_ [1 << bucketShift]byte = [unsafe.Sizeof(bucket{})]byte{}
	_ [1 << flowShift]byte   = [unsafe.Sizeof(Flow{})]byte{}
	_ [1 << placeShift]byte  = [unsafe.Sizeof(bucket{}.flows[0])]byte{}
)
