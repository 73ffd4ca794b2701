package flows

import (
	"testing"
	"unsafe"
)

func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(Flow{}); n > 320 || n%64 != 0 {
		t.Errorf("Flow has %d bytes, want at most 320 and whole cache lines", n)
	}
	if n := unsafe.Sizeof(bucket{}); n != 64 {
		t.Errorf("bucket has %d bytes, want one cache line", n)
	}
	if n := unsafe.Sizeof(Key{}); n != 40 {
		t.Errorf("Key has %d bytes, want 40", n)
	}
}
