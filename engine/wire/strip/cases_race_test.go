//go:build race

package strip_test

// cases of the property test; the race detector has nothing to find there.
const cases = 20_000
