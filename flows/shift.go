package flows

import "unsafe"

// What is shifted by for the sizes of a bucket, of what it has of a flow, and of a line, of
// which a flow has five.
const (
	bucketShift = 6
	placeShift  = 2
	lineShift   = 6
)

var (
	_ [1 << bucketShift]byte = [unsafe.Sizeof(bucket{})]byte{}
	_ [5 << lineShift]byte   = [unsafe.Sizeof(Flow{})]byte{}
	_ [1 << placeShift]byte  = [unsafe.Sizeof(bucket{}.flows[0])]byte{}
)
