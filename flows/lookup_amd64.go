//go:build amd64 && !purego

package flows

import "golang.org/x/sys/cpu"

// useAVX2 tells whether the processor knows the instructions of lookup_amd64.s, as most have
// done since about 2015. On others the Go twins run.
var useAVX2 = cpu.X86.HasAVX2

func prefetch(t *Table, hashes []uint64) {
	if useAVX2 {
		prefetchAVX2(t, hashes)
		return
	}
	prefetchGo(t, hashes)
}

func findByTag(t *Table, hashes []uint64, out []*Flow) {
	if useAVX2 {
		findByTagAVX2(t, hashes, out)
		return
	}
	findByTagGo(t, hashes, out)
}

func confirm(now int64, keys []Key, out []*Flow, from int) (next int) {
	if useAVX2 {
		return confirmAVX2(now, keys, out, from)
	}
	return confirmGo(now, keys, out, from)
}

//go:noescape
func prefetchAVX2(t *Table, hashes []uint64)

//go:noescape
func findByTagAVX2(t *Table, hashes []uint64, out []*Flow)

//go:noescape
func confirmAVX2(now int64, keys []Key, out []*Flow, from int) (next int)
