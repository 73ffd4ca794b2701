//go:build race

package rounds

// Race tells whether the race detector watches this test.
const Race = true
