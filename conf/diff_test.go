package conf

import (
	"strings"
	"testing"
)

// TestDiff: what a file says otherwise than another, with both values.
func TestDiff(t *testing.T) {
	const two = base + "watch \"b\" {}\nwatch \"a\" {}\ncollector \"one\" { address = \"192.0.2.1:8555\" }\n"
	for _, c := range []struct{ name, old, now, want string }{
		{"nothing", two, two + "\n# a comment\n", ""},
		{"a default that is written out", two, two + "flows { idle_timeout = \"30s\" }", ""},
		{"an attribute", two, strings.Replace(two, `"a" {}`, `"a" { sample = 9 }`, 1), `watch "a".sample: 0 -> 9`},
		{"an attribute without a default", two, strings.Replace(two, `"a" {}`, "\"a\" {\n match { source = [\"10.0.0.0/8\"] }\n}", 1), `watch "a".match.source: (not set) -> ["10.0.0.0/8"]` + "\nwatch \"a\".match.flow: (not set) -> \"any\""},
		{"an attribute that is gone", two + "dpdk { mbufs = 32768 }", two, `dpdk.mbufs: 32768 -> 65536`},
		{"nested", two, two + "events {\n refresh { every = \"7s\" }\n}", `events.refresh.every: "60s" -> "7s"`},
		{"a block more", two, two + `watch "c" {}`, `watch "c": added`},
		{"a block less", two + `watch "c" {}`, two, `watch "c": removed`},
		{"another order", two, strings.Replace(strings.Replace(strings.Replace(two, `"b"`, `"x"`, 1), `"a"`, `"b"`, 1), `"x"`, `"a"`, 1), `watch: "b", "a" -> "a", "b"`},
		{"a label with a dot", two, two + `watch "c.d" {}` + "\n" + `watch "c" { sample = 3 }`, "watch \"c.d\": added\nwatch \"c\": added"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parse := func(src string) *Config {
				p, d := parse("test.hcl", []byte(src), fakeMachine())
				if p == nil {
					t.Fatal(d.Err())
				}
				return p
			}
			var lines []string
			for _, change := range Diff(parse(c.old), parse(c.now)) {
				lines = append(lines, change.String())
			}
			if got := strings.Join(lines, "\n"); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestBlockOfAChange(t *testing.T) {
	for path, want := range map[string]string{`watch "a.b".sample`: "watch", "node.id": "node", "watch": "watch", `collector "x"`: "collector"} {
		if got := (Change{Path: path}).Block(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
