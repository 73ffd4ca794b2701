package plainfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRead: a file is read as it is, up to its bound.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, n := range []int{0, 1, 4096, 4097, 100_000, Max, Max + 1} {
		want := bytes.Repeat([]byte("x"), n)
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if n <= Max && (err != nil || !bytes.Equal(got, want)) || n > Max && (err == nil || !strings.Contains(err.Error(), path+": larger than 1024 KiB")) {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
	}
	if _, err := Read(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(link); string(got) != "text" || err != nil {
		t.Errorf("by a link, as Kubernetes makes them: %q, %v", got, err)
	}
}

// TestWhatIsNoFile: what may never end, or have no end, is refused at once, with what to do; a writer of a pipe does
// not notice.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, path := range []string{fifo, socket, dir, "/dev/zero", "/dev/tty", fmt.Sprintf("/proc/self/fd/%d", r.Fd()), fmt.Sprintf("/dev/fd/%d", w.Fd())} {
		for name, read := range map[string]func() error{
			"file":        func() error { _, err := Read(path); return err },
			"certificate": func() error { _, err := KeyPair(path, path); return err },
			"authority":   func() error { _, err := CertPool(path); return err },
		} {
			if err := read(); path != "/dev/tty" && !errors.Is(err, ErrNotRegular) || err == nil || !strings.Contains(err.Error(), path+": ") {
				t.Errorf("%s %s: %v", name, path, err)
			}
		}
	}
}
