// Output: writes records as JSON lines into a file (rotatedfile.go), to standard output or a unix
// socket.

package jsonl

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"intsink/exporters/collect"
)

// Config says where lines go.
type Config struct {
	Path   string // a file, "-" for standard output, or "unix:PATH" for a stream socket; a file's may have a date (PathAt)
	Rotate int64  // bytes above which a file is renamed to PATH.1; 0: never
	Keep   int    // renamed files that stay
	Stdout io.Writer

	Now func() time.Time // nil: time.Now
}

// pathNow is the path of the file that lines go to now.
func (c *Config) pathNow() string {
	if c.Now == nil {
		return PathAt(c.Path, time.Now())
	}
	return PathAt(c.Path, c.Now())
}

// PathAt is the path of a file at a time, in UTC: %Y, %m, %d and %H stand for year, month, day and hour, %% for %.
func PathAt(path string, t time.Time) string {
	if !strings.Contains(path, "%") {
		return path
	}
	t = t.UTC()
	return strings.NewReplacer("%%", "%", "%Y", t.Format("2006"), "%m", t.Format("01"), "%d", t.Format("02"), "%H", t.Format("15")).Replace(path)
}

// Output writes lines. It implements collect.Output.
type Output struct {
	c     Config
	w     writer
	tried bool                  // to open it
	retry time.Time             // not before: what could not be opened
	look  time.Time             // when Tick last looked at the file
	away  atomic.Pointer[error] // why it could not be opened; nil: it could, or was not tried
}

// writer is where lines go at the moment.
type writer interface {
	// write writes all of b where a reader finds it, or nothing that stays.
	write(b []byte) error
	Close() error
}

// reopenAfter is how long a file or socket that cannot be opened is left alone.
const reopenAfter = time.Second

// New makes an output. It opens nothing yet: Open, the first Send, or for a file the first Tick does.
func New(c Config) *Output { return &Output{c: c} }

// Open opens the file now: who starts it sees that the folder is missing, or that somebody else writes there (*HeldError). Sockets
// and standard output are left to Send.
func (o *Output) Open() error {
	if o.w != nil || o.c.Path == "-" || strings.HasPrefix(o.c.Path, "unix:") {
		return nil
	}
	return o.open()
}

// lookEvery is how often Tick looks whether the path still names the file.
const lookEvery = time.Second

// Tick opens a file that was not tried yet, or could not be opened. It closes one that was renamed or deleted while nothing is written:
// whoever waits for its end gets it, and its disk space is free again. The next Send opens the path anew.
func (o *Output) Tick() {
	f, ok := o.w.(*file)
	if now := time.Now(); ok && now.Sub(o.look) >= lookEvery {
		o.look = now
		if !f.named() {
			f.Close()
			o.w = nil
		}
	}
	if o.w == nil && (!o.tried || o.Away() != nil) && o.Room(0, 0) {
		o.Open()
	}
}

// Away says why the file or socket cannot be opened.
func (o *Output) Away() error {
	if err := o.away.Load(); err != nil {
		return *err
	}
	return nil
}

// Format is JSON.
func (o *Output) Format() collect.Format { return collect.JSON }

// Room is there, but for a while after a failure.
func (o *Output) Room(int, int) bool { return !time.Now().Before(o.retry) }

// Send writes the records of d. What cannot be written fails, and is sent again.
func (o *Output) Send(d *collect.Delivery) {
	if o.w == nil {
		if err := o.open(); err != nil {
			d.FailedAll(err)
			return
		}
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

// open opens the file or socket; one that cannot be opened is left alone for a while.
func (o *Output) open() error {
	w, err := o.opened()
	if o.tried = true; err != nil {
		o.retry = time.Now().Add(reopenAfter)
		o.away.Store(&err)
		return err
	}
	o.w = w
	o.away.Store(nil)
	return nil
}

func (o *Output) opened() (writer, error) {
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
	f, err := openFile(o.c)
	if err != nil {
		return nil, err
	}
	return f, nil
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
