//go:build !amd64 || purego

package flows

func prefetch(t *Table, hashes []uint64) { prefetchGo(t, hashes) }

func findByTag(t *Table, hashes []uint64, out []*Flow) { findByTagGo(t, hashes, out) }

func confirm(now int64, keys []Key, out []*Flow, from int) (next int) {
	return confirmGo(now, keys, out, from)
}
