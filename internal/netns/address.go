package netns

import (
	"testing"

	"intsink/internal/loopback"
)

// FreeAddress returns an address of loopback for a program under test, with a port that nothing
// else takes before the program does; each call returns another one.
func FreeAddress(t testing.TB) string {
	t.Helper()
	address, err := loopback.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
