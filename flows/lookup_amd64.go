//go:build amd64 && !purego

package flows

// Those of lookup_go.go, in assembly.

//go:noescape
func candidates(t *Table, hashes []uint64, out []*Flow)

//go:noescape
func firsts(t *Table, hashes []uint64, out []*Flow)

//go:noescape
func confirm(now int64, keys []Key, out []*Flow, from int) (next int)
