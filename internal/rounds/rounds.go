// Package rounds says how often a test repeats what it draws at random. `make test` runs most
// tests twice: in full, and with the race detector, which makes them five to twenty times slower. What a
// test computes in one goroutine has no races to find, so there a few rounds show that the
// detector (with the pointer checks that it switches on) accepts the code.
package rounds

// Of is n, or a part of it under the race detector: n divided by less, at least one.
// It is for what one goroutine does; rounds between goroutines stay as they are.
func Of(n, less int) int {
	if !Race {
		return n
	}
	return max(1, n/less)
}
