package appliance

import (
	"testing"
)

func TestEnoughMemory(t *testing.T) {
	for free, fits := range map[int]bool{99: false, 100: true} {
		if err := enoughMemory(7, 100, free); (err == nil) != fits {
			t.Errorf("100 MiB needed, %d available: %v", free, err)
		}
	}
}
