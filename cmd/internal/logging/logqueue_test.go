package logging

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// reader is what lines of a queue come to.
type reader struct {
	mu    sync.Mutex
	lines []string
	hangs chan struct{} // a write waits for it
	err   error
}

func (r *reader) write(line []byte) error {
	<-r.hangs
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, string(line))
	return r.err
}

// TestQueueWaitsForNobody: while who reads hangs, lines wait as far as there is room, further ones are lost and counted, and
// nobody waits; then what waited comes, in order.
func TestQueueWaitsForNobody(t *testing.T) {
	r := &reader{hangs: make(chan struct{})}
	q := newQueue(nil, r.write)
	before := Dropped()
	const lines, size = 3, maxWaiting / 3
	for i := range lines + 1 { // the first of them may be on its way already
		q.Write([]byte(strings.Repeat(string(rune('a'+i)), size)))
	}
	for range 10 {
		q.Write([]byte(strings.Repeat("z", size)))
	}
	if n := Dropped() - before; n < 10 || n > 11 {
		t.Errorf("%d lines lost, want 10 or 11", n)
	}
	q.Flush(10 * time.Millisecond) // ends
	close(r.hangs)
	q.Flush(time.Minute)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) < lines || !slices.IsSorted(r.lines) || strings.HasPrefix(r.lines[len(r.lines)-1], "z") && len(r.lines) > lines+1 {
		t.Errorf("%d lines", len(r.lines))
	}
}

// TestQueueCountsWhatFails: a line that cannot be written is lost, and the next one is tried.
func TestQueueCountsWhatFails(t *testing.T) {
	r := &reader{hangs: make(chan struct{}), err: errors.New("no space left on device")}
	close(r.hangs)
	q := newQueue(nil, r.write)
	before := Dropped()
	for range 5 {
		if n, err := q.Write([]byte("line\n")); n != 5 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	q.Flush(time.Minute)
	if n := Dropped() - before; n != 5 || len(r.lines) != 5 {
		t.Errorf("%d lines lost of %d", n, len(r.lines))
	}
}

// TestNeverWait: a full pipe refuses what is written to it, and its other users find it as it was; files stay as they are.
func TestNeverWait(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	own, err := unix.Dup(int(w.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(own)
	flags := func(fd int) int {
		n, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			t.Fatal(err)
		}
		return n & unix.O_NONBLOCK
	}
	neverWait(own)
	if flags(own) == 0 || flags(int(w.Fd())) != 0 {
		t.Error("the flags of the pipe")
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = unix.Write(own, block)
	}
	if err != unix.EAGAIN {
		t.Errorf("a write to a full pipe: %v", err)
	}
	f, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if neverWait(int(f.Fd())); flags(int(f.Fd())) != 0 {
		t.Error("the flags of a file")
	}
}
