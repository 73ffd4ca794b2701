package fast

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/intgen"
)

// TestFuzzState writes what fuzz/fuzz.c begins with, by marking, into FAST_FUZZ_DIR: what a
// worker knows after some traffic, and bursts of that traffic.
func TestFuzzState(t *testing.T) {
	dir := os.Getenv("FAST_FUZZ_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	for m := intgen.Marking(0); m <= intgen.ByIFA; m++ {
		r := rand.New(rand.NewPCG(1, uint64(m)))
		w := newWorld(t, anyMarking(m, false), everyEvent(), true)
		sources := newSources(r, 24, m)
		corpus := filepath.Join(dir, fmt.Sprint(m), "corpus")
		if err := os.MkdirAll(corpus, 0o755); err != nil {
			t.Fatal(err)
		}
		for n := range 60 {
			frames, lens, seed := make([][]byte, 1+r.IntN(mbuf.MaxBurst)), make([]int, mbuf.MaxBurst), []byte(nil)
			for i := range frames {
				frames[i] = sources[r.IntN(len(sources))].next(t, r, int64(1e18))
				lens[i] = len(frames[i])
				seed = append(binary.LittleEndian.AppendUint16(seed, uint16(lens[i])), byte(n%3*0x30))
				seed = append(seed, frames[i]...)
			}
			w.burst(int64(1e18)+int64(n)*1000, frames, lens, 0)
			write(t, filepath.Join(corpus, fmt.Sprint(n)), seed)
		}
		if w.stored < 3 {
			t.Errorf("marking %d: only %d templates", m, w.stored)
		}
		write(t, filepath.Join(dir, fmt.Sprint(m), "state"), unsafe.Slice((*byte)(unsafe.Pointer(w.State)), unsafe.Sizeof(State{})))
		view := w.detector.View()
		write(t, filepath.Join(dir, fmt.Sprint(m), "view"), unsafe.Slice((*byte)(unsafe.Pointer(view)), unsafe.Sizeof(*view)))
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, bytes.Clone(b), 0o644); err != nil {
		t.Fatal(err)
	}
}
