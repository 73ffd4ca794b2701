package jsonl

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTornLines: a file is cut behind its last line feed, however far from the end that is, and what
// comes is written there.
func TestTornLines(t *testing.T) {
	const block = 64 << 10 // what is read at once
	torn := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct{ name, whole, torn string }{
		{"empty", "", ""},
		{"one byte of a line", "", "x"},
		{"a line feed only", "\n", ""},
		{"a line feed and one byte", "\n", "x"},
		{"whole lines", "{}\n{}\n", ""},
		{"the second line", "{}\n", "{"},
		{"no line feed in a block", "", torn(block)},
		{"no line feed in more than a block", "", torn(block + 1)},
		{"no line feed in two blocks", "", torn(2 * block)},
		{"the line feed is the first byte of the last block", "{}\n", torn(block - 1)},
		{"the line feed is the last byte of the block before", "{}\n", torn(block)},
		{"the line feed is the first byte of a file of two blocks", "\n", torn(2*block - 1)},
		{"a longer line than a block", torn(block) + "\n", "x"},
		{"lines of several blocks", strings.Repeat("{\"type\":\"report\"}\n", 10_000), torn(3*block + 7)},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(c.whole+c.torn), 0o600); err != nil {
				t.Fatal(err)
			}
			f := opened(t, Config{Path: path})
			if size, err := f.size(); err != nil || size != int64(len(c.whole)) || read(t, path) != c.whole {
				t.Errorf("%d bytes are whole lines and %d stay, want %d, %v", size, len(read(t, path)), len(c.whole), err)
			}
			wrote(t, f, "new\n")
			if got := read(t, path); got != c.whole+"new\n" {
				t.Errorf("after a line more %d bytes, ending in %q", len(got), got[max(0, len(got)-20):])
			}
		})
	}
}

// TestFilesThatCannotBeRead: an error is not taken for a file without a whole line, which would be cut to
// nothing.
func TestFilesThatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := wholeLines(f); err == nil || n != 0 {
		t.Errorf("a file that may not be read has %d bytes of lines, %v", n, err)
	}
	f.Close()
	if n, err := wholeLines(f); !errors.Is(err, os.ErrClosed) || n != 0 {
		t.Errorf("a closed file has %d bytes of lines, %v", n, err)
	}
}

// TestFilesAreNotForEveryone: records tell who talks with whom.
func TestFilesAreNotForEveryone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	opened(t, Config{Path: path})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&^0o640 != 0 {
		t.Errorf("%v, %v", err, info.Mode())
	}
}

func opened(t *testing.T, c Config) *file {
	t.Helper()
	f, err := openFile(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func wrote(t *testing.T, f *file, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if err := f.write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRotatesAbove: a file is renamed before it becomes longer than it may, not where it becomes just
// as long, and never while it is empty.
func TestRotatesAbove(t *testing.T) {
	for _, c := range []struct {
		name   string
		rotate int64
		keep   int
		lines  []string
		want   [3]string // PATH, PATH.1, PATH.2; "" is no such file
	}{
		{"exactly as long", 10, 2, []string{"abc\n", "defgh\n"}, [3]string{"abc\ndefgh\n"}},
		{"a byte longer", 9, 2, []string{"abc\n", "defgh\n"}, [3]string{"defgh\n", "abc\n"}},
		{"the next line", 10, 2, []string{"abc\n", "defgh\n", "\n"}, [3]string{"\n", "abc\ndefgh\n"}},
		{"a first line that is too long", 3, 2, []string{"abcdef\n"}, [3]string{"abcdef\n"}},
		{"a line that is too long alone", 3, 2, []string{"abcdef\n", "\n"}, [3]string{"\n", "abcdef\n"}},
		{"one byte", 1, 2, []string{"\n", "\n", "a\n"}, [3]string{"a\n", "\n", "\n"}},
		{"the oldest goes", 2, 2, []string{"a\n", "b\n", "c\n", "d\n"}, [3]string{"d\n", "c\n", "b\n"}},
		{"one is kept", 2, 1, []string{"a\n", "b\n", "c\n"}, [3]string{"c\n", "b\n"}},
		{"none is kept", 2, 0, []string{"a\n", "b\n"}, [3]string{"b\n"}},
		{"never", 0, 2, []string{"a\n", "b\n", "c\n"}, [3]string{"a\nb\nc\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			f := opened(t, Config{Path: path, Rotate: c.rotate, Keep: c.keep})
			wrote(t, f, c.lines...)
			var got [3]string
			for i, name := range []string{path, path + ".1", path + ".2"} {
				b, _ := os.ReadFile(name)
				got[i] = string(b)
			}
			files, _ := filepath.Glob(path + "*")
			wanted := slices.Index(append(c.want[:], ""), "") // files there are
			if size, _ := f.size(); got != c.want || len(files) != wanted || size != int64(len(c.want[0])) {
				t.Errorf("files %v of %q, %d bytes in the first; want %q", files, got, size, c.want)
			}
		})
	}
}

// TestFailedRotation: where a file cannot be renamed, removed or made anew, the line is not written, the
// error is returned, and files that there were stay as they were.
func TestFailedRotation(t *testing.T) {
	blocked := func(t *testing.T, path string) {
		if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		keep  int
		spoil func(t *testing.T, f *file, path string)
		left  string // in PATH; "" where there is no such file
		error error  // nil: any
	}{
		{"a directory in place of PATH.1", 1, func(t *testing.T, _ *file, path string) { blocked(t, path+".1") }, "a\n", nil},
		{"a directory in place of PATH.2", 2, func(t *testing.T, _ *file, path string) {
			blocked(t, path+".2")
			os.WriteFile(path+".1", []byte("old\n"), 0o600)
		}, "a\n", nil},
		{"a directory in place of PATH, none kept", 0, func(t *testing.T, _ *file, path string) {
			os.Remove(path)
			blocked(t, path)
		}, "", nil},
		{"the folder is gone", 1, func(_ *testing.T, _ *file, path string) { os.RemoveAll(filepath.Dir(path)) }, "", os.ErrNotExist},
		{"the file cannot be closed", 1, func(_ *testing.T, f *file, _ string) { f.f.Close() }, "a\n", os.ErrClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "d", "f")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			f := opened(t, Config{Path: path, Rotate: 2, Keep: c.keep})
			wrote(t, f, "a\n")
			c.spoil(t, f, path)
			err := f.write([]byte("b\n"))
			if err == nil || c.error != nil && !errors.Is(err, c.error) {
				t.Errorf("error %v, want %v", err, c.error)
			}
			var rotates *os.PathError // a write to the file that is closed by then would fail as well
			if errors.As(err, &rotates) && rotates.Op == "write" {
				t.Errorf("the line was written nevertheless: %v", err)
			}
			if left, _ := os.ReadFile(path); string(left) != c.left {
				t.Errorf("%q is left, want %q", left, c.left)
			}
		})
	}
}

// unclosable is a socket whose Close fails.
type unclosable struct {
	net.Conn
	err error
}

func (c unclosable) Close() error { return c.err }

// TestCloseTells: an error of closing is returned, for a file and for a socket; standard output is left
// open, and an output that has opened nothing closes nothing.
func TestCloseTells(t *testing.T) {
	broken := errors.New("broken")
	closed := opened(t, Config{Path: filepath.Join(t.TempDir(), "f")})
	closed.f.Close()
	for _, c := range []struct {
		name string
		w    writer
		want error
	}{
		{"file", closed, os.ErrClosed},
		{"socket", stream{nil, unclosable{err: broken}}, broken},
		{"standard output", stream{os.Stdout, nil}, nil},
		{"nothing opened", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := New(Config{})
			o.w = c.w
			if err := o.Close(); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// TestPathsWithADate: lines of the next day go into the next day's file, and the one before ends.
func TestPathsWithADate(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 25, 23, 59, 59, 0, time.UTC)
	f := opened(t, Config{Path: filepath.Join(dir, "int-%Y-%m-%d.%H%%.jsonl"), Now: func() time.Time { return now }})
	wrote(t, f, "1\n")
	now = now.Add(time.Second)
	wrote(t, f, "2\n")
	wrote(t, f, "3\n")
	if first, second := read(t, filepath.Join(dir, "int-2026-11-25.23%.jsonl")), read(t, filepath.Join(dir, "int-2026-11-26.00%.jsonl")); first != "1\n" || second != "2\n3\n" {
		t.Errorf("%q, %q", first, second)
	}
}
