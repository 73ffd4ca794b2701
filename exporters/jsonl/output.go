// Output: writes records as JSON lines into a rotated file, to standard output or a unix
// socket.

package jsonl

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"intsink/exporters/collect"
)

// Config says where lines go.
type Config struct {
	Path   string // a file, "-" for standard output, or "unix:PATH" for a stream socket
	Rotate int64  // bytes above which a file is renamed to PATH.1; 0: never
	Keep   int    // renamed files that stay
	Stdout io.Writer
}

// Output writes lines. It implements collect.Output.
type Output struct {
	c     Config
	w     writer
	retry time.Time // not before: what could not be opened
}

// writer is where lines go at the moment.
type writer interface {
	// write writes all of b or nothing that stays.
	write(b []byte) error
	Close() error
}

// reopenAfter is how long a file or socket that cannot be opened is left alone.
const reopenAfter = time.Second

// New makes an output. It opens nothing yet: the first Send does.
func New(c Config) *Output { return &Output{c: c} }

// Format is JSON.
func (o *Output) Format() collect.Format { return collect.JSON }

// Room is there, but for a while after a failure.
func (o *Output) Room(int, int) bool { return !time.Now().Before(o.retry) }

// Send writes the records of d. What cannot be written fails, and is sent again.
func (o *Output) Send(d *collect.Delivery) {
	if o.w == nil {
		w, err := o.open()
		if err != nil {
			o.retry = time.Now().Add(reopenAfter)
			d.FailedAll(err)
			return
		}
		o.w = w
	}
	// A delivery is written as a whole; one that failed was not written at all.
	if err := o.w.write(d.Bytes(collect.JSON, 0, d.Len())); err != nil {
		o.w.Close()
		o.w = nil
		d.FailedAll(err)
		return
	}
	d.Delivered(d.Count())
}

func (o *Output) open() (writer, error) {
	if o.c.Path == "-" {
		return stream{o.c.Stdout, nil}, nil
	}
	if path, unix := strings.CutPrefix(o.c.Path, "unix:"); unix {
		conn, err := net.DialTimeout("unix", path, time.Second)
		if err != nil {
			return nil, fmt.Errorf("%w; is the program that reads from this socket running?", err)
		}
		return stream{conn, conn}, nil
	}
	return openFile(o.c)
}

// Flush does nothing: Send has written everything.
func (o *Output) Flush(context.Context) {}

// Close closes the file or socket.
func (o *Output) Close() error {
	if o.w == nil {
		return nil
	}
	return o.w.Close()
}

// stream is a socket, or standard output.
type stream struct {
	w    io.Writer
	conn net.Conn
}

// writeTimeout bounds how long a reader that does not read holds its output up.
const writeTimeout = 5 * time.Second

func (s stream) write(b []byte) error {
	if s.conn != nil {
		s.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	}
	_, err := s.w.Write(b)
	return err
}

func (s stream) Close() error {
	if s.conn == nil {
		return nil
	}
	return s.conn.Close()
}

// file is a file that ends behind a whole line.
type file struct {
	c    Config
	f    *os.File
	size int64
}

// openFile opens a file to append to. A line that an earlier process could not finish is
// cut off.
func openFile(c Config) (*file, error) {
	f, err := os.OpenFile(c.Path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	size, err := wholeLines(f)
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{c, f, size}, nil
}

// wholeLines returns the length of f up to its last line feed.
func wholeLines(f *os.File) (int64, error) {
	s, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !s.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a regular file; \"-\" is standard output, \"unix:PATH\" a socket", f.Name())
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

func (w *file) write(b []byte) error {
	if w.c.Rotate > 0 && w.size > 0 && w.size+int64(len(b)) > w.c.Rotate {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	if _, err := w.f.WriteAt(b, w.size); err != nil {
		w.f.Truncate(w.size) // the disk is full: what was written of the line goes
		return err
	}
	w.size += int64(len(b))
	return nil
}

// rotate renames PATH to PATH.1, PATH.1 to PATH.2 and so on, and begins PATH anew.
func (w *file) rotate() error {
	if err := w.f.Close(); err != nil {
		return err
	}
	name := func(n int) string { return fmt.Sprintf("%s.%d", w.c.Path, n) }
	if w.c.Keep == 0 {
		if err := os.Remove(w.c.Path); err != nil {
			return err
		}
	}
	for n := w.c.Keep; n > 0; n-- {
		from := name(n - 1)
		if n == 1 {
			from = w.c.Path
		}
		if err := os.Rename(from, name(n)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	next, err := openFile(w.c)
	if err != nil {
		return err
	}
	*w = *next
	return nil
}

func (w *file) Close() error { return w.f.Close() }
