package repotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// guessable is a name of a command's own in a folder that everybody may write to.
var guessable = regexp.MustCompile(`(?:/var)?/tmp/[\w.][\w./-]*|/dev/shm/[\w.][\w./-]*`)

// TestDocumentsUseNoGuessableFolder: what a reader types as root in a folder where another user can be first runs
// what that user wants.
func TestDocumentsUseNoGuessableFolder(t *testing.T) {
	for _, document := range documents(t) {
		for n, line := range strings.Split(read(t, document), "\n") {
			if name := guessable.FindString(line); name != "" && document != "CHANGELOG.md" {
				t.Errorf("%s:%d: %s: use \"$(mktemp -d)\", or a folder of the reader's own", document, n+1, name)
			}
		}
	}
}

// TestUpgradeRunsTheNewProgram: the line of docs/change.md that runs a program that was unpacked, beside another
// user who made each folder that can be guessed, and puts a program of his own wherever he may.
func TestUpgradeRunsTheNewProgram(t *testing.T) {
	line := regexp.MustCompile(`(?m)^# (.*dpkg-deb -x .*)$`).FindStringSubmatch(read(t, "docs/change.md"))
	if line == nil {
		t.Fatal("docs/change.md unpacks no program")
	}
	dir, everybodys := t.TempDir(), t.TempDir()
	os.Chmod(everybodys, 0o777|os.ModeSticky)
	attacker := "" // as the same user, where the test is not root: he may do more then, but guesses no more
	if os.Getuid() == 0 {
		attacker = "setpriv --reuid=65534 --regid=65534 --clear-groups "
		for up := everybodys; up != "/"; up = filepath.Dir(up) {
			os.Chmod(up, 0o755|modeOf(t, up))
		}
	}
	attack := func(text string) string { return attacker + "sh -c '" + text + "'\n" }
	guess := attack("mkdir -p " + everybodys + "/new")
	for _, name := range guessable.FindAllString(line[1], -1) {
		guess += attack("mkdir -p " + filepath.Join(everybodys, filepath.Base(strings.TrimSuffix(name, "/usr/bin/intsink"))) + "/usr/bin")
	}
	replace := ""
	if attacker != "" {
		replace = attack(`for d in ` + everybodys + `/*; do echo "echo attacked" >$d/usr/bin/mine && chmod 755 $d/usr/bin/mine && mv -f $d/usr/bin/mine $d/usr/bin/intsink; done 2>/dev/null; true`)
	}
	unpack := "#!/bin/sh\nmkdir -p \"$3/usr/bin\" && printf '#!/bin/sh\\necho the new program' >\"$3/usr/bin/intsink\" && chmod 755 \"$3/usr/bin/intsink\"\n" + replace
	if err := os.WriteFile(filepath.Join(dir, "dpkg-deb"), []byte(unpack), 0o755); err != nil {
		t.Fatal(err)
	}
	command := strings.NewReplacer("/var/tmp/", everybodys+"/", "/tmp/", everybodys+"/").Replace(line[1])
	if strings.Contains(line[1], "$(mktemp") { // which goes by TMPDIR
		command = line[1]
	}
	cmd := exec.Command("bash", "-euc", guess+command)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "TMPDIR="+everybodys)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "the new program\n" {
		t.Errorf("%s: %v\n%s", line[1], err, out)
	}
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", path, err))
	}
	return info.Mode()
}
