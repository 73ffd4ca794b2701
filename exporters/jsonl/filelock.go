// Locks a file against other writers of lines, and finds out who holds the lock.

package jsonl

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// HeldError says that somebody else writes lines into a file.
type HeldError struct {
	Path string
	PID  int // 0: not known
}

// Error names the file and its writer.
func (e *HeldError) Error() string {
	switch e.PID {
	case 0:
		return fmt.Sprintf("%s: another process writes this file; give each its own", e.Path)
	case os.Getpid():
		return fmt.Sprintf("%s: another output of this process writes this file; give each its own", e.Path)
	}
	return fmt.Sprintf("%s: process %d writes this file; give each its own", e.Path, e.PID)
}

// lock takes the file's lock. Where the filesystem has none, the file goes without.
func (w *file) lock() error {
	err := unix.Flock(int(w.f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	}
	return &HeldError{w.path, w.holder()}
}

// holder returns the process that holds the lock, as /proc/locks has it; 0: it is not there, since it is
// in another container or on another machine.
func (w *file) holder() int {
	var s unix.Stat_t
	locks, err := os.Open("/proc/locks")
	if err != nil || unix.Fstat(int(w.f.Fd()), &s) != nil {
		return 0
	}
	defer locks.Close()
	inode := fmt.Sprintf("%02x:%02x:%d", unix.Major(s.Dev), unix.Minor(s.Dev), s.Ino)
	for lines := bufio.NewScanner(locks); lines.Scan(); { // 1: FLOCK ADVISORY WRITE 4711 fe:01:1234 0 EOF
		if f := strings.Fields(lines.Text()); len(f) > 5 && f[1] == "FLOCK" && f[5] == inode {
			pid, _ := strconv.Atoi(f[4])
			return max(pid, 0)
		}
	}
	return 0
}
