package hugepages

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestCount: free pages of all sizes that nobody was promised; what is missing is what is reserved, beside
// the pages that others have.
func TestCount(t *testing.T) {
	root := t.TempDir()
	for name, pages := range map[string][3]int{"hugepages-2048kB": {10, 4, 30}, "hugepages-1048576kB": {2, 0, 2}, "hugepages-oddkB": {7, 0, 7}} { // free, reserved, all
		dir := filepath.Join(root, "sys/kernel/mm/hugepages", name)
		os.MkdirAll(dir, 0o755)
		for i, file := range []string{"free_hugepages", "resv_hugepages", "nr_hugepages"} {
			os.WriteFile(filepath.Join(dir, file), fmt.Appendln(nil, pages[i]), 0o644)
		}
	}
	p := Count(root)
	if p.FreeMiB != 6*2+2*1024 || p.Total2M != 30 || Free(root, 1<<20) != 2 {
		t.Errorf("%+v", p)
	}
	if lack, command := p.Lack(2060); lack != "" || command != "" {
		t.Errorf("enough: %q, %q", lack, command)
	}
	if lack, command := p.Lack(2063); lack != "2060 MiB of hugepages are free and about 2063 MiB are needed" || command != "sysctl -w vm.nr_hugepages=96" {
		t.Errorf("%q, %q", lack, command)
	}
	os.Mkdir(filepath.Join(root, "proc"), 0o755)
	for size, want := range map[string]string{"2048 kB": "sysctl -w vm.nr_hugepages=96", "1048576 kB": "echo 96 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"} {
		os.WriteFile(filepath.Join(root, "proc/meminfo"), []byte("HugePages_Total: 9\nHugepagesize:    "+size+"\nHugetlb: 1 kB\n"), 0o644)
		p := Count(root)
		if _, command := p.Lack(2063); command != want {
			t.Errorf("the kernel's own size is %s: %q", size, command)
		}
	}
	if p := Count(filepath.Join(root, "none")); p.FreeMiB != 0 {
		t.Errorf("%+v where there are none", p)
	}
}
