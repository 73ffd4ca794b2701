package dut

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTSC(t *testing.T) {
	const cpu = "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nopl\nbogomips\t: 5192.29\n\nprocessor\t: 1\nflags\t\t: fpu tsc constant_tsc nopl\nbogomips\t: 5192.29\n"
	if got := tscOf(cpu); got < 2.596 || got > 2.597 {
		t.Errorf("%v GHz, want 2.596", got)
	}
	if got := tscOf("flags\t\t: fpu tsc nopl\nbogomips\t: 5192.29\n"); got != 0 {
		t.Errorf("%v GHz of a counter that changes its pace", got)
	}
}

func TestCache(t *testing.T) {
	dir := t.TempDir()
	for name, files := range map[string][3]string{"index0": {"1", "Data", "32K"}, "index1": {"1", "Instruction", "64K"}, "index2": {"2", "Unified", "1024K"}, "index3": {"3", "Unified", "32768K"}} {
		at := filepath.Join(dir, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for i, file := range []string{"level", "type", "size"} {
			if err := os.WriteFile(filepath.Join(at, file), []byte(files[i]+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for level, want := range []int{0, 32 << 10, 1 << 20, 32 << 20, 0} {
		if got := cacheIn(filepath.Join(dir, "index*"), level); got != want {
			t.Errorf("level %d: %d bytes, want %d", level, got, want)
		}
	}
}
