package jsonl

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
)

// TestAnotherHand: lines go where the path leads, whatever another program has done with the file: none is
// lost, none is doubled, and no hole is left.
func TestAnotherHand(t *testing.T) {
	for _, c := range []struct {
		name  string
		hand  func(path string)
		files map[string]string // what is in them afterwards
	}{
		{"renamed", func(p string) { os.Rename(p, p+".1") }, map[string]string{"f": "b\n", "f.1": "a\n"}},
		{"renamed, and an empty one in its place", func(p string) { os.Rename(p, p+".1"); os.WriteFile(p, nil, 0o600) }, map[string]string{"f": "b\n", "f.1": "a\n"}},
		{"deleted", func(p string) { os.Remove(p) }, map[string]string{"f": "b\n"}},
		{"copied and cut", func(p string) { os.WriteFile(p+".1", []byte("a\n"), 0o600); os.Truncate(p, 0) }, map[string]string{"f": "b\n", "f.1": "a\n"}},
		{"a line of another program", func(p string) {
			f, _ := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
			f.WriteString("x\n")
			f.Close()
		}, map[string]string{"f": "a\nx\nb\n"}},
		{"the folder renamed", func(p string) { os.Rename(filepath.Dir(p), filepath.Dir(p)+"2"); os.Mkdir(filepath.Dir(p), 0o700) }, map[string]string{"f": "b\n", "../d2/f": "a\n"}},
		{"replaced by a link to another file", func(p string) {
			os.WriteFile(p+".other", []byte("y\n"), 0o600)
			os.Remove(p)
			os.Symlink("f.other", p)
		}, map[string]string{"f.other": "y\nb\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "d", "f")
			os.Mkdir(filepath.Dir(path), 0o700)
			f := opened(t, Config{Path: path})
			wrote(t, f, "a\n")
			c.hand(path)
			wrote(t, f, "b\n")
			for name, want := range c.files {
				if got := read(t, filepath.Join(filepath.Dir(path), name)); got != want {
					t.Errorf("%s has %q, want %q", name, got, want)
				}
			}
		})
	}
}

// TestDeletedMeanwhile: what went into a file that was deleted before anybody could read it is not delivered.
func TestDeletedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	link := path + ".link"
	f := opened(t, Config{Path: link})
	os.Rename(link, path)
	os.Symlink(path, link) // named reads the link, which goes on leading to the file: only its count of names tells
	os.Remove(path)
	f.c.Path = "/proc/self/fd/" + fdOf(f)
	f.path = f.c.Path
	if err := f.write([]byte("a\n")); !errors.Is(err, errDeleted) {
		t.Errorf("error %v", err)
	}
}

func fdOf(f *file) string {
	all, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range all {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(to, f.f.Name()[:len(f.f.Name())-len(".link")]) {
			return fd.Name()
		}
	}
	return ""
}

// TestDeletedWhileItIsWritten: an output whose file is deleted again and again has each record once in what
// is left, or in a file that was there to be read.
func TestDeletedWhileItIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	b := collecttest.New(t, collect.Options{Recent: 20000}, 1<<30, New(Config{Path: path}))
	all := ""
	for range 5 {
		b.Send(20)
		b.Wait("all is written", func() bool { text, _ := os.ReadFile(path); return bytes.Count(text, []byte("\n")) == 40 })
		all += read(t, path)
		os.Remove(path)
	}
	b.Stop()
	wantAll(t, sequences(t, all), 100)
}

// TestTickClosesRenamedFiles: an output that has nothing to write lets go of a file that was renamed.
func TestTickClosesRenamedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	o := New(Config{Path: path})
	if err := o.Open(); err != nil || o.w == nil {
		t.Fatal(err)
	}
	o.Tick()
	if o.w == nil {
		t.Fatal("a file that is where it was is closed")
	}
	os.Rename(path, path+".1")
	o.Tick()
	if o.w == nil {
		t.Error("the file is looked at more than once a second")
	}
	o.look = o.look.Add(-lookEvery - time.Second)
	if o.Tick(); o.w != nil {
		t.Error("the renamed file is held open")
	}
}

// TestOneWriter: a second output of this process, and one of another process, are refused, with the process
// that writes there.
func TestOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f := opened(t, Config{Path: path})
	wrote(t, f, "a\n")
	second := New(Config{Path: path})
	var held *HeldError
	if err := second.Open(); !errors.As(err, &held) || held.PID != os.Getpid() || !strings.Contains(err.Error(), "another output of this process") {
		t.Errorf("error %v", err)
	}
	f.Close()
	if err := second.Open(); err != nil {
		t.Errorf("the file is free again: %v", err)
	}
	second.Close()

	other := exec.Command("flock", "--no-fork", path, "sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { other.Process.Kill(); other.Wait() }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		o := New(Config{Path: path})
		err := o.Open()
		o.Close()
		if errors.As(err, &held) {
			if held.PID == os.Getpid() || held.PID == 0 || strings.Contains(err.Error(), "of this process") {
				t.Errorf("error %v of a file that process %d writes", err, other.Process.Pid)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal("the other process never had the file")
		}
	}
}
