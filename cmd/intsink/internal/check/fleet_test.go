package check

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sink is a configuration with a node id, a hw_id_base and workers on lcores.
func sink(id, base int, lcores string) string {
	return fmt.Sprintf(`node {
  id         = %d
  hw_id_base = %d
}
dpdk { lcores = %q }
port "n" { device = "net_null0" }
port "h" { device = "net_null1" }
link "l" {
  network = "n"
  host    = "h"
}
int { udp_port = 5000 }
watch "all" {}
collector "c" { address = "192.0.2.1:8555" }
`, id, base, lcores)
}

func TestFleet(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		fails bool
		says  string
	}{
		{"sound", map[string]string{"a.hcl": sink(1, 0, "1-2"), "b.hcl": sink(2, 0, "1-2")}, false, ""},
		{"the same node and workers", map[string]string{"a.hcl": sink(1, 0, "1-2"), "b.hcl": sink(1, 1, "1-2")}, true, "b.hcl: error: node 1 has hw_id 1-2, and so has"},
		{"the same node, other workers", map[string]string{"a.hcl": sink(1, 0, "1-2"), "b.hcl": sink(1, 2, "1")}, false, "b.hcl: warning: node 1 is also that of"},
		{"another port of INT", map[string]string{"a.hcl": sink(1, 0, "1-2"), "b.hcl": strings.Replace(sink(2, 0, "1-2"), "5000", "5001", 1)}, false,
			"b.hcl: warning: other than at"},
		{"what it is", map[string]string{"a.hcl": sink(1, 0, "1-2"), "b.hcl": strings.Replace(sink(2, 0, "1-2"), "5000", "5001", 1)}, false, "int.udp_port: 5000 -> 5001"},
		{"another unit of a node", map[string]string{"a.hcl": sink(1, 0, "1-2"), "b.hcl": sink(2, 0, "1-2") + "node_model \"m\" { queue_unit = \"80 bytes\" }\n"}, false, "node_model \"m\": added"},
		{"an invalid file", map[string]string{"a.hcl": "nothing = 1\n"}, true, "unknown attribute nothing"},
		{"no file", nil, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out, errs bytes.Buffer
			err := Fleet(&out, &errs, dir)
			if (err != nil) != c.fails || !strings.Contains(errs.String(), c.says) {
				t.Errorf("%v\n%s", err, errs.String())
			}
			if !c.fails && !strings.Contains(out.String(), "is valid: 2 sinks") {
				t.Error(out.String())
			}
		})
	}
}
