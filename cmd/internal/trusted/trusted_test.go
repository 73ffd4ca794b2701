package trusted

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// other is a user who is not this one.
const other = 12345

// opened is a folder of the test's.
func opened(t *testing.T) (*Folder, string) {
	t.Helper()
	dir := t.TempDir()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f, dir
}

// TestOpen: every folder on the way counts, the grandparents too, and none may be a link.
func TestOpen(t *testing.T) {
	for name, c := range map[string]struct {
		at   string // what is changed of a/b/c
		make func(path string) error
		ok   bool
	}{
		"as it is":                     {"a", func(string) error { return nil }, true},
		"one that its group may write": {"a/b/c", func(p string) error { return os.Chmod(p, 0o775) }, false},
		"one that all may write":       {"a/b/c", func(p string) error { return os.Chmod(p, 0o777) }, false},
		"such a parent":                {"a/b", func(p string) error { return os.Chmod(p, 0o777) }, false},
		"such a grandparent":           {"a", func(p string) error { return os.Chmod(p, 0o777) }, false},
		"a sticky grandparent":         {"a", func(p string) error { return os.Chmod(p, 0o777|os.ModeSticky) }, true},
		"a grandparent of another":     {"a", func(p string) error { return os.Chown(p, other, 0) }, false},
		"a sticky one of another":      {"a", func(p string) error { return errors.Join(os.Chown(p, other, 0), os.Chmod(p, 0o755|os.ModeSticky)) }, false},
		"a link":                       {"a/b/c", func(p string) error { return errors.Join(os.Rename(p, p+"2"), os.Symlink("c2", p)) }, false},
		"a link on the way":            {"a", func(p string) error { return errors.Join(os.Rename(p, p+"2"), os.Symlink("a2", p)) }, false},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a/b/c")
		if err := errors.Join(os.MkdirAll(path, 0o755), c.make(filepath.Join(dir, c.at))); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			f.Close()
		}
	}
	if _, err := Open("relative"); err == nil {
		t.Error("a relative path is opened")
	}
}

// TestFile: what is not a file of the user's own, or root's, is not opened.
func TestFile(t *testing.T) {
	f, dir := opened(t)
	path := filepath.Join(dir, "f")
	for name, c := range map[string]struct {
		make func() error
		ok   bool
	}{
		"own":                 {func() error { return nil }, true},
		"others may write it": {func() error { return os.Chmod(path, 0o666) }, false},
		"of another user":     {func() error { return os.Chown(path, other, 0) }, false},
		"a link":              {func() error { return errors.Join(os.Rename(path, path+"2"), os.Symlink("f2", path)) }, false},
		"a pipe":              {func() error { return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)) }, false},
	} {
		os.Remove(path)
		if err := errors.Join(os.WriteFile(path, nil, 0o644), c.make()); err != nil {
			t.Fatal(err)
		}
		file, err := f.File("f")
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			file.Close()
		}
	}
}

// TestWriteFollowsNoLink: where links have the names, what they lead to stays as it is, and its mode.
func TestWriteFollowsNoLink(t *testing.T) {
	f, dir := opened(t)
	precious := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x", "x.new"} {
		if err := os.Symlink(precious, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	file, err := f.Write("x", []byte("text"), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, _ := os.Lstat(filepath.Join(dir, "x"))
	text, _ := os.ReadFile(filepath.Join(dir, "x"))
	if string(text) != "text" || info.Mode() != 0o755 || f.Has("x.new") {
		t.Errorf("%q %v", text, info.Mode())
	}
	info, _ = os.Lstat(precious)
	if text, _ := os.ReadFile(precious); string(text) != "precious" || info.Mode() != 0o600 {
		t.Errorf("what the link leads to is %q %v", text, info.Mode())
	}
}

// TestTheFolderMoves: what is done in a folder that was opened is done there, whatever has its name meanwhile.
func TestTheFolderMoves(t *testing.T) {
	dir := t.TempDir()
	own, evil := filepath.Join(dir, "own"), filepath.Join(dir, "evil")
	os.Mkdir(own, 0o755)
	os.Mkdir(evil, 0o755)
	f, err := Open(own)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	os.Rename(own, own+".moved")
	os.Symlink(evil, own)
	if file, err := f.Write("x", []byte("#!/bin/sh\necho new"), 0o755); err != nil {
		t.Error(err)
	} else {
		file.Close()
	}
	if err := errors.Join(f.Link("x", "y"), f.Rename("x", "z"), f.Remove("y")); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(evil); len(left) != 0 || !f.Has("z") || f.Has("x") || f.Has("y") {
		t.Errorf("in the other folder: %v", left)
	}
}

// TestAskRunsWhatIsOpen: as nobody, without the environment of who asks, whatever has the file's name by then.
func TestAskRunsWhatIsOpen(t *testing.T) {
	f, dir := opened(t)
	t.Setenv("SECRET", "of root's")
	file, err := f.Write("x", []byte("#!/bin/sh\necho good $1 $(id -u) $SECRET\n"), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	path := filepath.Join(dir, "x")
	os.Remove(path)
	os.WriteFile(path, []byte("#!/bin/sh\necho evil\n"), 0o755)
	if said, err := Ask(file, "version"); err != nil || said != fmt.Sprintf("good version %d", nobody) {
		t.Errorf("%q %v", said, err)
	}
	bad, err := f.Write("y", []byte("#!/bin/sh\necho first >&2; echo why >&2; exit 3\n"), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	if _, err := Ask(bad); err == nil || !strings.Contains(err.Error(), "y: exit status 3: why") {
		t.Error(err)
	}
}

// TestProgramOf: a process says no more than a name; the file there has to be the one that it runs, and nobody else's.
func TestProgramOf(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, _ := os.ReadFile(sleep)
	for name, c := range map[string]struct {
		make func(dir, path string) error // once it runs
		want string
	}{
		"its own":                        {func(_, _ string) error { return nil }, ""},
		"a folder that others may write": {func(dir, _ string) error { return os.Chmod(dir, 0o777) }, "others than root can change it"},
		"a folder of another":            {func(dir, _ string) error { return os.Chown(dir, other, 0) }, "others than root can change it"},
		"a file of another":              {func(_, path string) error { return os.Chown(path, other, 0) }, "others than root can change it"},
		"replaced":                       {func(_, path string) error { return os.Remove(path) }, "no longer the one that is installed"},
		"by another file":                {func(_, path string) error { return errors.Join(os.Rename(path, path+".gone"), os.Symlink(sleep, path)) }, ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "intsink")
		if err := os.WriteFile(path, program, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		if err := c.make(dir, path); err != nil {
			t.Fatal(err)
		}
		folder, file, err := ProgramOf(cmd.Process.Pid)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			file.Close()
			folder.Close()
		}
	}
}

// TestProgramInAnotherMountNamespace: what a process has mounted over a name is not the file of that name here.
func TestProgramInAnotherMountNamespace(t *testing.T) {
	dir := t.TempDir()
	path, evil := filepath.Join(dir, "intsink"), filepath.Join(dir, "evil")
	script := fmt.Sprintf("cp $(command -v sleep) %[1]s; cp %[1]s %[2]s", path, evil)
	if out, err := exec.Command("sh", "-ec", script).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	cmd := exec.Command("sh", "-ec", fmt.Sprintf("mount --bind %[2]s %[1]s; exec %[1]s 1000", path, evil))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	exe := fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid)
	for link := ""; link != path; link, _ = os.Readlink(exe) {
		if cmd.ProcessState != nil {
			t.Fatal("it does not run")
		}
	}
	if _, _, err := ProgramOf(cmd.Process.Pid); err == nil || !strings.Contains(err.Error(), "is not the file that the process runs") {
		t.Error(err)
	}
}

// TestPeer: the kernel says who listens, and whom the place was given to may.
func TestPeer(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if pid, uid, err := Peer(c); pid != os.Getpid() || uid != os.Geteuid() || err != nil {
		t.Errorf("%d %d %v", pid, uid, err)
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, _, err := Peer(a); err == nil {
		t.Error("a pipe has a peer")
	}
	may := func(uid int) bool { return MayAnswer(path, uid) == nil }
	if !may(0) || !may(os.Geteuid()) || may(other) {
		t.Error("in a folder of this user's")
	}
	os.Chown(path, other, 0)
	if !may(other) || may(other+1) {
		t.Error("on a socket that was given to another one")
	}
	os.Chown(dir, other, 0)
	os.Chown(path, 0, 0)
	if !may(other) || may(other+1) {
		t.Error("in a folder that was given to another one")
	}
	os.Chmod(dir, 0o777)
	if may(other) || may(other+1) {
		t.Error("in a folder that everybody may write")
	}
}

// TestSameRights: owner, mode and file capabilities go along.
func TestSameRights(t *testing.T) {
	f, dir := opened(t)
	as, err := f.Write("as", nil, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer as.Close()
	raw := []byte{1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0} // cap_net_raw+ep, linux/capability.h
	path := filepath.Join(dir, "as")
	os.Chown(path, 0, other)
	os.Chmod(path, 0o750)
	if err := unix.Setxattr(path, capabilities, raw, 0); err != nil {
		t.Fatal(err)
	}
	file, err := f.Write("new", nil, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := SameRights(file, as); err != nil {
		t.Fatal(err)
	}
	info, _ := file.Stat()
	got := make([]byte, 64)
	n, err := unix.Fgetxattr(int(file.Fd()), capabilities, got)
	if info.Sys().(*syscall.Stat_t).Gid != other || info.Mode() != 0o750 || string(got[:max(n, 0)]) != string(raw) {
		t.Errorf("%v %v %x %v", info.Sys(), info.Mode(), got[:max(n, 0)], err)
	}
}
