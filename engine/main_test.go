package engine

import (
	"log"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain gives flow tables small pages: each of the thousands of workers that these tests make
// would otherwise clear a huge page for a few flows, a third of the time that all of them take.
func TestMain(m *testing.M) {
	if err := unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0); err != nil {
		log.Fatalf("prctl(PR_SET_THP_DISABLE): %v", err)
	}
	os.Exit(m.Run())
}
