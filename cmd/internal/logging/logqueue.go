// Queue: takes lines of the log and writes them from a goroutine of its own, so that nobody waits for
// who reads them.

package logging

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/internal/cli"
)

// maxWaiting is how many bytes of lines may wait to be written; further lines are lost.
const maxWaiting = 4 << 20

// Queue is the log of a service: whoever writes a line to it goes on at once. A line that cannot be written, or has
// no room, is lost and counted.
type Queue struct {
	file  *os.File // that lines go to, to tell what it is; nil: no file
	write func(line []byte) error
	wake  chan struct{}

	mu      sync.Mutex
	lines   [][]byte
	waiting int  // bytes of lines
	writing bool // a line that lines does not have any more is on its way
}

func newQueue(file *os.File, write func([]byte) error) *Queue {
	q := &Queue{file: file, write: write, wake: make(chan struct{}, 1)}
	go q.run()
	return q
}

// Stderr is the queue to standard error. The first call begins it. From then on the end of who reads standard
// error or standard output does not end the process (SIGPIPE), and neither C nor the Go runtime wait for that reader, where
// it is at the other end of a pipe or terminal.
var Stderr = sync.OnceValue(func() *Queue {
	// Not signal.Ignore: the commands that the process runs would inherit that.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	fd, err := unix.FcntlInt(uintptr(unix.Stderr), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil { // it was closed before the start: each line is lost
		fd = -1
	}
	neverWait(unix.Stderr)
	return newQueue(os.Stderr, func(line []byte) error { return writeAll(fd, line) })
})

// neverWait opens the pipe or terminal at fd anew, so that a write to fd fails where it would wait. Others
// that have the same pipe or terminal keep theirs as it is. Sockets cannot be opened anew, and files never wait for a reader.
func neverWait(fd int) {
	var s unix.Stat_t
	if unix.Fstat(fd, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFIFO && s.Mode&unix.S_IFMT != unix.S_IFCHR {
		return
	}
	own, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // of another user: it stays as it is
	}
	unix.Dup3(own, fd, 0)
	unix.Close(own)
}

// writeAll writes a line to fd, however long that takes.
func writeAll(fd int, line []byte) error {
	for len(line) > 0 {
		n, err := unix.Write(fd, line)
		switch err {
		case nil:
			line = line[n:]
		case unix.EINTR:
		case unix.EAGAIN: // another process has made it non-blocking
			unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
		default:
			return err
		}
	}
	return nil
}

// Write implements io.Writer. It never waits, and never fails.
func (q *Queue) Write(line []byte) (int, error) {
	q.mu.Lock()
	room := q.waiting+len(line) <= maxWaiting
	if room {
		q.lines, q.waiting = append(q.lines, bytes.Clone(line)), q.waiting+len(line)
	}
	q.mu.Unlock()
	if !room {
		dropped.Add(1)
		return len(line), nil
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return len(line), nil
}

// run writes lines for ever.
func (q *Queue) run() {
	for range q.wake {
		for line := q.next(); line != nil; line = q.next() {
			if q.write(line) != nil {
				dropped.Add(1)
			}
		}
	}
}

// next takes the oldest line; nil: there is none, and all have been written.
func (q *Queue) next() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = len(q.lines) > 0
	if !q.writing {
		q.lines = nil
		return nil
	}
	line := q.lines[0]
	q.lines, q.waiting = q.lines[1:], q.waiting-len(line)
	return line
}

// dropped counts lines that were lost.
var dropped atomic.Uint64

// Dropped is how many lines of the log were lost since the start of the process.
func Dropped() uint64 { return dropped.Load() }

// Flush waits until all lines are written, for at most patience.
func (q *Queue) Flush(patience time.Duration) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		q.mu.Lock()
		done := len(q.lines) == 0 && !q.writing
		q.mu.Unlock()
		if done {
			return
		}
	}
}

// fileOf is the file that w writes to; nil: none.
func fileOf(w io.Writer) *os.File {
	switch w := w.(type) {
	case *os.File:
		return w
	case *Queue:
		return w.file
	}
	return nil
}

// patience is how long the end of a service waits for its last lines to be written.
const patience = time.Second

// End ends a service that err ended, nil: a signal did. The error goes to standard error as its last line; what
// End returns has the exit code.
func End(program string, err error) error {
	q := Stderr()
	defer q.Flush(patience)
	if code := cli.ExitCode(q, program, err); code != 0 {
		return cli.ExitError{Code: code}
	}
	return nil
}
