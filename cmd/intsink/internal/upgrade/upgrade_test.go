package upgrade

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/trusted"
	"intsink/cmd/intsink/internal/control"
)

// TestGuard: what a new program tells at which second, and why it goes.
func TestGuard(t *testing.T) {
	asked, _ := json.Marshal(control.EndedTrial{End: control.TrialProblem, Why: "a link is down"})
	for _, c := range []struct {
		name, want string
		told       map[int]string
		at         int // the second at which it is looked
	}{
		{"a start takes its time", "", map[int]string{1: "STATUS=opening"}, 29},
		{"it never polls", "its workers do not poll 30s after it took over: opening", map[int]string{1: "STATUS=opening"}, 31},
		{"it polls, and its links come late", "", map[int]string{1: "WATCHDOG=1", 58: "WATCHDOG=1"}, 59},
		{"its links never come", "it does not forward 1m0s after it took over: port \"a\"", map[int]string{1: "WATCHDOG=1\nSTATUS=port \"a\"", 60: "WATCHDOG=1"}, 61},
		{"it hangs", "its workers have not polled for 5s: forwarding", map[int]string{2: "READY=1\nSTATUS=forwarding\nWATCHDOG=1"}, 8},
		{"it goes on", "", map[int]string{2: "READY=1\nWATCHDOG=1", 90: "WATCHDOG=1"}, 94},
		{"nobody confirms", "nobody confirmed it in time", map[int]string{2: "READY=1", 609: "WATCHDOG=1"}, 611},
		{"it confirms itself", "nobody confirmed it in time", map[int]string{2: "READY=1", 3: kept + "me", 4: "INTSINK_KEPT=1", 609: "WATCHDOG=1"}, 611},
		{"it asks to go back", "a link is down", map[int]string{2: "READY=1\nWATCHDOG=1", 30: back + string(asked)}, 31},
		{"it asks, and nobody understands", "it asked to go back", map[int]string{2: "READY=1", 3: back + "{"}, 4},
	} {
		begin := time.Unix(1000, 0)
		g := Guard{Trial: &Trial{Trial: control.Trial{Until: begin.Add(10 * time.Minute), Program: "1"}}, Version: "2", began: begin}
		for s := range c.at + 1 {
			if text := c.told[s]; text != "" {
				g.take(text, begin.Add(time.Duration(s)*time.Second))
			}
		}
		g.look(begin.Add(time.Duration(c.at) * time.Second))
		why := ""
		if g.back != nil {
			why = g.back.Why
		}
		if why != c.want {
			t.Errorf("%s: %q, want %q", c.name, why, c.want)
		}
	}
}

// TestGuardTellsSystemd: all but what is the guard's, and that a program stops which somebody else follows.
func TestGuardTellsSystemd(t *testing.T) {
	now := time.Unix(1000, 0)
	const stop = "STOPPING=1\nWATCHDOG_USEC=0\nSTATUS=sending"
	g := Guard{Trial: &Trial{}}
	for _, c := range []struct{ told, want string }{
		{"READY=1\nSTATUS=forwarding", "READY=1\nSTATUS=forwarding"}, {stop, "STATUS=sending"},
		{"MAINPID=7\nWATCHDOG=1\nNOTIFYACCESS=all\nFDSTORE=1\n" + kept + "me", "WATCHDOG=1"},
	} {
		if got := g.take(c.told, now); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.told, got, c.want)
		}
	}
	if g.stopped = true; g.take(stop, now) != stop {
		t.Error("a stop that somebody asked for is not told")
	}
}

// tools puts commands of that name on the path of the test, each a script.
func tools(t *testing.T, scripts map[string]string) {
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// programIn is a program that is installed in dir, with what it was before.
func programIn(t *testing.T, dir string) *Program {
	t.Helper()
	folder, err := trusted.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	file, err := folder.Write(programName, []byte("old"), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{folder, file, programName}
	t.Cleanup(p.Close)
	return p
}

// packageFor makes a package of intsink that has a script as its program at own.
func packageFor(t *testing.T, own, control, script string) string {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(t.TempDir(), "new.deb")
	make := fmt.Sprintf("mkdir -p %[1]s/DEBIAN $(dirname %[1]s/%[2]s); printf '%%s' '%[3]s' >%[1]s/DEBIAN/control; printf '#!/bin/sh\\n%[4]s\\n' >%[1]s/%[2]s; chmod 755 %[1]s/%[2]s; dpkg-deb --root-owner-group -Znone --build %[1]s %[5]s", dir, own, control, script, out)
	if said, err := exec.Command("sh", "-ec", make).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return out
}

// TestPackages: a package is looked at before anything is changed, and installed once it is confirmed.
func TestPackages(t *testing.T) {
	const fields = "Package: intsink\nVersion: 2\nArchitecture: ARCH\nMaintainer: a <a@example.com>\nDescription: for a test\n"
	arch, err := exec.Command("dpkg", "--print-architecture").Output()
	if err != nil {
		t.Fatal(err)
	}
	mine := strings.Replace(fields, "ARCH", strings.TrimSpace(string(arch)), 1)
	dir := t.TempDir()
	p := programIn(t, dir)
	own, log := filepath.Join(dir, "intsink"), filepath.Join(dir, "log")
	dpkg := func(owner string) map[string]string {
		return map[string]string{
			"dpkg":    fmt.Sprintf(`echo "$@" >>%s; case $1 in --print-architecture) echo %s;; --search) %s;; *) echo installed >%s;; esac`, log, arch, owner, own),
			"apt-get": "echo Inst intsink; cat " + dir + "/apt; exit $(cat " + dir + "/code)",
		}
	}
	for _, c := range []struct {
		name, control, script, owner, apt, code, want string
	}{
		{"another architecture", strings.Replace(fields, "ARCH", "riscv64", 1), "", "true", "", "0", "is a package intsink riscv64: this machine takes intsink "},
		{"another package", strings.Replace(mine, "Package: intsink", "Package: other", 1), "", "true", "", "0", "is a package other "},
		{"no package has the program", mine, "", "false", "", "0", "which no package has: give the program itself"},
		{"a library that is not there", mine, "", "true", "Inst librte-eal25 (24.11)", "0", "apt-get install librte-eal25"},
		{"a library that nobody has", mine, "", "true", " intsink : Depends: librte-eal99 (>= 2) but it is not installable", "100", "Depends: librte-eal99 (>= 2) but it is not installable: install that first"},
		{"a processor that is too old", mine, "echo This program can only be run on v3 >&2; exit 1", "true", "", "0", "the new program does not run here: intsink.next: exit status 1: This program can only be run on v3"},
		{"all is well", mine, "echo intsink 2", "true", "", "0", ""},
	} {
		tools(t, dpkg(c.owner))
		for name, text := range map[string]string{dir + "/apt": c.apt, dir + "/code": c.code} {
			os.WriteFile(name, []byte(text), 0o755)
		}
		version, err := p.Prepare(packageFor(t, own, c.control, c.script))
		left, _ := filepath.Glob(own + ".*")
		switch {
		case c.want == "" && (err != nil || version != "intsink 2" || len(left) != 2):
			t.Errorf("%s: %v %s %s", c.name, err, version, left)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || len(left) != 0):
			t.Errorf("%s: %v, left %s", c.name, err, left)
		}
	}
	if err := p.Install(); err != nil {
		t.Fatal(err)
	}
	said, _ := os.ReadFile(log)
	before, _ := os.ReadFile(Before(own))
	now, _ := os.ReadFile(own)
	left, _ := filepath.Glob(own + ".*")
	if !strings.HasSuffix(string(said), "--force-confdef --force-confold --install "+packageOf(own)+"\n") || len(left) != 1 || !strings.Contains(string(now), "echo intsink 2") {
		t.Errorf("dpkg was called with %s; left %s, before %q, now %q", said, left, before, now)
	}
}
