package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
