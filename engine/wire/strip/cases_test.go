//go:build !race

package strip_test

// cases of the property test.
const cases = 1_000_000
