//go:build linux && amd64

package main

import (
	"debug/elf"
	"sort"
	"sync"
)

// symbols are the functions of this program, in C those that Go knows nothing of, by
// address.
var symbols = sync.OnceValue(func() []elf.Symbol {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		return nil
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		return nil // stripped
	}
	functions := all[:0]
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			functions = append(functions, s)
		}
	}
	sort.Slice(functions, func(i, j int) bool { return functions[i].Value < functions[j].Value })
	return functions
})

// inC names the function in C at an address, "?" where it is of a shared library.
func inC(at uint64) string {
	all := symbols()
	i := sort.Search(len(all), func(i int) bool { return all[i].Value > at }) - 1
	if i < 0 || at >= all[i].Value+all[i].Size {
		return "?"
	}
	return "C." + all[i].Name
}
