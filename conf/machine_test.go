package conf

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMemoryLimit: the least limit of all groups above, in both versions, and where the paths are not those
// that the container has.
func TestMemoryLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		groups string
		files  map[string]string
		want   uint64
	}{
		{"none", "0::/\n", map[string]string{"sys/fs/cgroup/memory.max": "max\n"}, 0},
		{"no file", "0::/a/b\n", map[string]string{}, 0},
		{"its own", "0::/a/b\n", map[string]string{"sys/fs/cgroup/a/b/memory.max": "1048576\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 1 << 20},
		{"that of the group above", "0::/a/b\n", map[string]string{"sys/fs/cgroup/a/b/memory.max": "1048576\n", "sys/fs/cgroup/a/memory.max": "4096\n"}, 4096},
		{"a container's", "0::/\n", map[string]string{"sys/fs/cgroup/memory.max": "201326592\n"}, 192 << 20},
		{"a path outside of the container", "0::/../../x\n", map[string]string{"sys/fs/cgroup/memory.max": "4096\n"}, 4096},
		{"version 1", "5:memory:/docker/1\n4:cpu:/\n", map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "8192\n"}, 8192},
		{"version 1, none", "5:memory:/\n", map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		{"both versions", "5:memory:/a\n0::/a\n", map[string]string{"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "8192\n"}, 8192},
		{"garbage", "x\n0::\n\n", map[string]string{"sys/fs/cgroup/memory.max": "-1\n"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			c.files["proc/self/cgroup"] = c.groups
			for name, text := range c.files {
				name = filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := memoryLimit(root); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}
