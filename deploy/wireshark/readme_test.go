package wireshark_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fullName = regexp.MustCompile("`(int(?:_report)?\\.[a-z0-9_.]*[a-z0-9])\\b")

// Installed as README.md says, the dissector has every field and preference that
// README.md names in full.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	var install string
	for line := range strings.Lines(string(readme)) {
		if strings.HasPrefix(line, "install ") {
			install = line
		}
	}
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", cmd.Args, err)
		}
		return string(out)
	}
	run("sh", "-c", install)
	known := map[string]bool{}
	for line := range strings.Lines(run("tshark", "-G", "fields")) {
		if columns := strings.Split(line, "\t"); len(columns) > 2 {
			known[columns[2]] = true
		}
	}
	for line := range strings.Lines(run("tshark", "-G", "currentprefs")) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "#"), ":")
		known[name] = true
	}
	names := fullName.FindAllStringSubmatch(string(readme), -1)
	if len(names) < 30 {
		t.Fatalf("README.md names %d fields", len(names))
	}
	for _, n := range names {
		if !known[n[1]] {
			t.Errorf("README.md names %s, which is neither field nor preference", n[1])
		}
	}
}
