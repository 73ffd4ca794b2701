// Sizes of Flow and bucket that the program counts on.

package flows

import "unsafe"

// What is shifted by for the size of a bucket.
const bucketShift = 6

var (
	_ [1 << bucketShift]byte = [unsafe.Sizeof(bucket{})]byte{}
	_ [5 * 64]byte           = [unsafe.Sizeof(Flow{})]byte{} // five cache lines
)
