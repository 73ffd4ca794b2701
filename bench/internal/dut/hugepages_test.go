package dut

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kernel imitates the files of a machine whose kernel takes any number, with so many
// pages reserved and so many of them free.
func kernel(t *testing.T, reserved, free int) string {
	t.Helper()
	dir := t.TempDir()
	for name, n := range map[string]int{"nr_hugepages": reserved, "free_hugepages": free} {
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Append(nil, n, "\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func reservedIn(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "nr_hugepages"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// 16384 mbufs need 128 + (256 + 40) / 2 pages; what was there before stays there.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name           string
		mode           string
		reserved, free int
		during, after  string
		kind           string
	}{
		{"none yet", "auto", 0, 0, "276", "0", "2 MiB hugepages (vm.nr_hugepages raised by 276 for this run)"},
		{"some of others", "on", 100, 10, "366", "100", "2 MiB hugepages (vm.nr_hugepages raised by 266 for this run)"},
		{"enough", "auto", 1000, 500, "1000", "1000", "2 MiB hugepages"},
		{"not wanted", "off", 5, 5, "5", "5", "no hugepages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Memory{mode: c.mode, dir: kernel(t, c.reserved, c.free)}
			release, err := m.Take(16384)
			if err != nil || m.kind != c.kind || m.huge != strings.HasPrefix(c.kind, "2") {
				t.Errorf("%+v, %v", m, err)
			}
			if got := reservedIn(t, m.dir); got != c.during {
				t.Errorf("%s reserved, want %s", got, c.during)
			}
			release()
			release()
			if got := reservedIn(t, m.dir); got != c.after {
				t.Errorf("%s reserved afterwards, want %s", got, c.after)
			}
		})
	}
}

// A kernel without hugepages: "on" fails, "auto" does without and says why.
func TestMemoryWithoutHugepages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	m := Memory{mode: "on", dir: dir}
	if _, err := m.Take(1); err == nil {
		t.Error("on: no error")
	}
	m.mode = "auto"
	if _, err := m.Take(1); err != nil || m.huge || !strings.Contains(m.kind, "no such file") {
		t.Errorf("%+v, %v", m, err)
	}
	if m.Set("perhaps") == nil || m.Set("off") != nil {
		t.Error("Set takes what is no mode, or refuses one")
	}
}
