// Package ptytest opens pseudo-terminals for tests of what commands show on a terminal.
package ptytest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Terminal is a terminal whose screen is a text.
type Terminal struct {
	*os.File // what the command writes to

	mu   sync.Mutex
	text strings.Builder
	more *sync.Cond
	gone bool // nobody writes to it any more
}

// Open opens a terminal of so many columns, until the test ends.
func Open(t *testing.T, columns uint16) *Terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &Terminal{File: slave}
	term.more = sync.NewCond(&term.mu)
	go term.read(master)
	t.Cleanup(func() { slave.Close(); master.Close() })
	return term
}

func (t *Terminal) read(master *os.File) {
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		t.mu.Lock()
		t.text.Write(buf[:n])
		t.gone = err != nil
		t.more.Broadcast()
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Wait waits until the screen's text is as asked, or nobody writes to it any more, and
// returns it.
func (t *Terminal) Wait(enough func(text string) bool) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.gone && !enough(t.text.String()) {
		t.more.Wait()
	}
	return t.text.String()
}
