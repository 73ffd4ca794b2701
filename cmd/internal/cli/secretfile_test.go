package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFilesForPackets: a new file is its owner's alone; one that is there stays, and so does what a link leads to.
func TestFilesForPackets(t *testing.T) {
	dir := t.TempDir()
	victim, link, dangling := filepath.Join(dir, "victim"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	reset := func() {
		os.WriteFile(victim, []byte("precious"), 0o644)
		for l, to := range map[string]string{link: victim, dangling: filepath.Join(dir, "nowhere")} {
			os.Remove(l)
			if err := os.Symlink(to, l); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		path    string
		replace bool
		want    string // of the error; "": none
	}{
		{filepath.Join(dir, "new"), false, ""}, {victim, false, "add --force"}, {link, false, "add --force"}, {dangling, false, "add --force"},
		{victim, true, ""}, {link, true, ""}, {dangling, true, ""}, {"/dev/null", false, ""}, {"/dev/null", true, ""}, {filepath.Join(dir, "no", "folder"), true, "no such file"},
	} {
		reset()
		f, err := CreateOwn(c.path, c.replace)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, replaced %v: %v, want %q", c.path, c.replace, err, c.want)
		}
		if err == nil {
			io.WriteString(f, "packets")
			f.Close()
			if info, err := os.Lstat(c.path); err != nil || c.path != "/dev/null" && info.Mode() != 0o600 {
				t.Errorf("%s: %v %v", c.path, info.Mode(), err)
			}
		}
		if text, _ := os.ReadFile(victim); string(text) != "precious" && c.path != victim {
			t.Errorf("%s, replaced %v: the file that a link leads to has %q", c.path, c.replace, text)
		}
	}
}

// TestOverwriteFollowsNobodysLink: a link of another user is not followed, one of one's own is.
func TestOverwriteFollowsNobodysLink(t *testing.T) {
	dir := t.TempDir()
	victim, link := filepath.Join(dir, "victim"), filepath.Join(dir, "link")
	os.WriteFile(victim, []byte("precious"), 0o644)
	os.Symlink(victim, link)
	if os.Getuid() == 0 { // else there is nobody else to make it
		os.Lchown(link, 65534, 65534)
		if _, err := Overwrite(link); err == nil || !strings.Contains(err.Error(), "a link of another user") {
			t.Error(err)
		}
		if err := WriteFile(link, []byte("new")); err == nil || !strings.Contains(err.Error(), "a link of another user") {
			t.Error(err)
		}
		if text, _ := os.ReadFile(victim); string(text) != "precious" {
			t.Errorf("%q", text)
		}
		os.Lchown(link, 0, 0)
	}
	f, err := Overwrite(link)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if f, err = Overwrite(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

// TestOverwriteEmptiesNobodysFile: a file of another user, one that has a second name, and one in a folder that a link of another
// user leads to stay as they are, and none of them is removed as unfinished.
func TestOverwriteEmptiesNobodysFile(t *testing.T) {
	for name, c := range map[string]struct {
		make func(dir, path string) error // path is the file precious of a folder
		at   string
		want string
	}{
		"of another user": {func(_, path string) error { return os.Chown(path, 65534, 65534) }, "d/f", "belongs to another user"},
		"one more name":   {func(dir, path string) error { return os.Link(path, filepath.Join(dir, "g")) }, "g", "has another name"},
		"a link on the way": {func(dir, _ string) error {
			return errors.Join(os.Symlink("d", filepath.Join(dir, "l")), os.Lchown(filepath.Join(dir, "l"), 65534, 65534))
		}, "l/f", "a link of another user"},
		"a link to a link": {func(dir, _ string) error {
			return errors.Join(os.Symlink("d", filepath.Join(dir, "l")), os.Lchown(filepath.Join(dir, "l"), 65534, 65534), os.Symlink("l/f", filepath.Join(dir, "own")))
		}, "own", "a link of another user"},
		"a pipe of his": {func(dir, _ string) error {
			return errors.Join(unix.Mkfifo(filepath.Join(dir, "p"), 0o666), os.Chown(filepath.Join(dir, "p"), 65534, 65534))
		}, "p", "belongs to another user"}, // and nobody waits for its reader
		"a link that leads to itself": {func(dir, _ string) error { return os.Symlink("own", filepath.Join(dir, "own")) }, "own", "too many levels"},
	} {
		dir := t.TempDir()
		file, at := filepath.Join(dir, "d/f"), filepath.Join(dir, c.at)
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "d"), 0o755), os.WriteFile(file, []byte("precious"), 0o644), c.make(dir, file)); err != nil {
			t.Fatal(err)
		}
		_, err := Overwrite(at)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if name != "one more name" { // that one is its own, and so is what it would remove
			Unfinished(errors.New("why"), at)
		}
		if text, _ := os.ReadFile(file); string(text) != "precious" {
			t.Errorf("%s: the file has %q", name, text)
		}
		if _, err := CreateOwn(at, true); strings.Contains(name, "on the way") && err == nil {
			t.Errorf("%s: replaced", name)
		}
	}
}

// TestOwnLinksLead: links of one's own, of folders and of files, lead where they always did; a file that is not there is made there.
func TestOwnLinksLead(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "d"), 0o755), os.Symlink(filepath.Join(dir, "d"), filepath.Join(dir, "l")), os.Symlink("../l/./f", filepath.Join(dir, "d/own"))); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "l/own"), []byte("text")); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "d/f")); string(text) != "text" {
		t.Errorf("%q", text)
	}
	if err := Unfinished(errors.New("why"), filepath.Join(dir, "l/own")); !strings.Contains(err.Error(), "was removed") {
		t.Error(err)
	}
	for _, path := range []string{filepath.Join(dir, "l"), filepath.Join(dir, "l") + "/", "/", dir, filepath.Join(dir, "no/f"), ""} {
		if f, err := Overwrite(path); err == nil {
			f.Close()
			t.Errorf("%s was opened", path)
		}
	}
	t.Chdir(dir)
	if f, err := Overwrite("d/../l/f"); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
}
