package flows

import "unsafe"

// What is shifted by for the sizes of a bucket and of a line, of which a flow has five.
const (
	bucketShift = 6
	lineShift   = 6
)

var (
	_ [1 << bucketShift]byte = [unsafe.Sizeof(bucket{})]byte{}
	_ [5 << lineShift]byte   = [unsafe.Sizeof(Flow{})]byte{}
)
