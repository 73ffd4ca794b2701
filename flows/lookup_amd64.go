//go:build amd64 && !purego

package flows

import "golang.org/x/sys/cpu"

// wide tells whether the processor knows the instructions of lookup_amd64.s, as most have
// done since about 2015. On others the Go twins run.
var wide = cpu.X86.HasAVX2

func prefetch(t *Table, hashes []uint64) {
	if wide {
		prefetchWide(t, hashes)
		return
	}
	prefetchGo(t, hashes)
}

func candidates(t *Table, hashes []uint64, out []*Flow) {
	if wide {
		candidatesWide(t, hashes, out)
		return
	}
	candidatesGo(t, hashes, out)
}

func confirm(now int64, keys []Key, out []*Flow, from int) (next int) {
	if wide {
		return confirmWide(now, keys, out, from)
	}
	return confirmGo(now, keys, out, from)
}

//go:noescape
func prefetchWide(t *Table, hashes []uint64)

//go:noescape
func candidatesWide(t *Table, hashes []uint64, out []*Flow)

//go:noescape
func confirmWide(now int64, keys []Key, out []*Flow, from int) (next int)
