package names

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"intsink/cmd/internal/problem"
	"intsink/conf"
)

const sink = `
port "up" { device = "kernel:a" }
port "down" { device = "kernel:b" }
link "edge" {
  network = "up"
  host    = "down"
}
int { udp_port = 5000 }
watch "all" {}
collector "c" { address = "127.0.0.1:8555" }
`

// of returns the names of a configuration with these lines, and its warnings.
func of(t *testing.T, lines string) (*Book, string) {
	t.Helper()
	c, d := conf.Parse("sink.hcl", []byte(sink+lines))
	if c == nil {
		t.Fatal(d.Errors)
	}
	var warnings []string
	for _, w := range d.Warnings {
		if strings.Contains(w.Message, "names") {
			warnings = append(warnings, w.Message)
		}
	}
	return Of(&c.Names), strings.Join(warnings, "\n")
}

// TestNames: names come of the block, of a shared file and of hosts; the block's own count first; places, ways and flows
// are named as far as they have names; without a Book all stays numbers; what the API answers reads as the same.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("hosts", "127.0.0.1 localhost\n10.0.0.4 web1 web\n10.0.0.4 other\nno address\n10.0.0.5 <b>\n::ffff:10.0.0.6 six # seven\nfd00::1 eight\n")
	shared := write("names.hcl", `
hosts = "hosts"
node "leaf 1" { id = 101 }
node "old" { id = 202 }
`)
	b, warnings := of(t, `
names {
  file = "`+shared+`"
  node "spine2" {
    id         = 202
    interfaces = { 12 = "Eth1/12" }
  }
}`)
	if warnings != "" {
		t.Errorf("warnings: %s", warnings)
	}
	twelve, thirteen := uint16(12), uint16(13)
	place := []problem.Part{{What: "node", ID: "202"}, {What: "egress", ID: "12"}, {What: "queue", ID: "12"}, {What: "link", ID: "202"}, {What: "node", ID: "202x"}}
	b.Place(place)
	got := []string{
		b.Node(202), b.Node(101), b.Node(7), b.Interface(202, &twelve), b.Interface(202, &thirteen), b.Interface(101, &twelve), b.Interface(202, nil), b.Way([]uint32{101, 7, 202}), b.Steps("101 > 202 > ?"),
		b.Flow("udp:10.0.0.4:1024-10.1.0.1:80"), b.Flow("udp:[fd00::1]:1-[fd00::2]:2"), b.Flow("udp:10.0.0.6:1024-10.0.0.4:80"), b.Flow("udp:10.0.0.5:1-10.1.0.1:2"), b.Flow("?"), (&problem.Problem{Place: place}).Where(),
	}
	want := []string{
		"spine2", "leaf 1", "7", "Eth1/12", "13", "12", "-", "leaf 1 > 7 > spine2", "leaf 1 > spine2 > ?",
		"web1 > 10.1.0.1", "eight > fd00::2", "six > web1", "", "", "node spine2 (202), egress Eth1/12 (12), queue 12, link 202, node 202x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var none *Book
	none.Place(place)
	got = []string{none.Node(202), none.Interface(202, &twelve), none.Way([]uint32{1, 2}), none.Steps("1 > 2"), none.Flow("udp:10.0.0.4:1024-10.1.0.1:80"), (&problem.Problem{Place: place}).Where()}
	if diff := cmp.Diff([]string{"202", "12", "1 > 2", "1 > 2", "", "node 202, egress 12, queue 12, link 202, node 202x"}, got); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(b)
	var again Book
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || !cmp.Equal(b.Nodes, again.Nodes) || !maps.Equal(again.Hosts, b.Hosts) {
		t.Errorf("%v: %s", err, text)
	}
}

// TestWorldIsWrong: files that are not there, or are no files, are warnings and leave numbers; packets need no names.
func TestWorldIsWrong(t *testing.T) {
	b, warnings := of(t, `
names {
  file  = "/nowhere/names.hcl"
  hosts = "/dev/zero"
  node "own" { id = 1 }
}`)
	for _, want := range []string{"/nowhere/names.hcl: no such file", "/dev/zero: not a regular file", "until a reload finds the file"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("%q is missing in\n%s", want, warnings)
		}
	}
	if b.Node(1) != "own" || len(b.Hosts) > 0 {
		t.Errorf("names are %+v", b)
	}
}
