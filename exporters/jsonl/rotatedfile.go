// file: appends whole lines to a file, follows its name when it is renamed or deleted, rotates it, and
// locks it.

package jsonl

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// file is a file that ends behind a whole line. It is locked against other writers while it is open, and
// opened with O_APPEND: whoever cuts it (logrotate's copytruncate) gets no hole in front of the next line.
type file struct {
	c    Config
	f    *os.File
	path string // of f: that of c at the time when it was opened
}

// openFile opens a file to append to. A line that an earlier process could not finish is
// cut off.
func openFile(c Config) (*file, error) {
	path := c.pathNow()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|unix.O_NONBLOCK, 0o640)
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENXIO) {
		return nil, notRegular(path)
	}
	if err != nil {
		return nil, err
	}
	w := &file{c, f, path}
	err = w.lock()
	size := int64(0)
	if err == nil {
		size, err = wholeLines(f)
	}
	if err == nil {
		err = w.cut(size)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

func notRegular(path string) error {
	return fmt.Errorf("%s is not a regular file; \"-\" is standard output, \"unix:PATH\" a socket", path)
}

// cut makes the file end behind size bytes. One that already does is left alone: truncate would change its time.
func (w *file) cut(size int64) error {
	if now, err := w.size(); err != nil || now == size {
		return err
	}
	return w.f.Truncate(size)
}

// wholeLines returns the length of f up to its last line feed.
func wholeLines(f *os.File) (int64, error) {
	s, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !s.Mode().IsRegular() {
		return 0, notRegular(f.Name())
	}
	buf := make([]byte, 64<<10)
	for end := s.Size(); end > 0; {
		n := min(end, int64(len(buf)))
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return 0, err
		}
		for i := n - 1; i >= 0; i-- {
			if buf[i] == '\n' {
				return end - n + i + 1, nil
			}
		}
		end -= n
	}
	return 0, nil
}

// size returns how long the file is now: another hand may have cut it.
func (w *file) size() (int64, error) {
	s, err := w.f.Stat()
	if err != nil {
		return 0, err
	}
	return s.Size(), nil
}

// named reports whether the path still names the file: not after a rename, and not on the next day where it has a date.
func (w *file) named() bool {
	open, err := w.f.Stat()
	if err != nil {
		return false
	}
	path, err := os.Stat(w.path)
	return err == nil && w.path == w.c.pathNow() && os.SameFile(open, path)
}

// errDeleted is the error of lines that were written into a file that no name leads to any more.
var errDeleted = errors.New("the file was deleted while it was written: its lines are written again, into a new one")

// write appends b. Before, it opens the path anew if that names another file by now or none, as after a
// rotation by another program; afterwards it looks whether a reader can still find what it wrote.
func (w *file) write(b []byte) error {
	if !w.named() {
		if err := w.renew(); err != nil {
			return err
		}
	}
	size, err := w.size()
	if err != nil {
		return err
	}
	if w.c.Rotate > 0 && size > 0 && size+int64(len(b)) > w.c.Rotate {
		if err := w.rotate(); err != nil {
			return err
		}
		size = 0
	}
	if n, err := w.f.Write(b); err != nil {
		if now, statErr := w.size(); statErr == nil && now == size+int64(n) {
			w.f.Truncate(size) // the disk is full: what was written of the line goes
		}
		return err
	}
	var s unix.Stat_t
	if err := unix.Fstat(int(w.f.Fd()), &s); err != nil {
		return err
	}
	if s.Nlink == 0 {
		return errDeleted
	}
	return nil
}

// renew closes the file and opens its path anew.
func (w *file) renew() error {
	if err := w.f.Close(); err != nil {
		return err
	}
	next, err := openFile(w.c)
	if err != nil {
		return err
	}
	*w = *next
	return nil
}

// rotate renames PATH to PATH.1, PATH.1 to PATH.2 and so on, and begins PATH anew.
func (w *file) rotate() error {
	name := func(n int) string { return fmt.Sprintf("%s.%d", w.path, n) }
	if w.c.Keep == 0 {
		if err := os.Remove(w.path); err != nil {
			return err
		}
	}
	for n := w.c.Keep; n > 0; n-- {
		from := name(n - 1)
		if n == 1 {
			from = w.path
		}
		if err := os.Rename(from, name(n)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return w.renew()
}

func (w *file) Close() error { return w.f.Close() }
