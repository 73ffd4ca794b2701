// Claim: a state folder is one sink's, and nobody else's to write to.

package statefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/internal/trusted"
	"intsink/internal/plainfile"
)

const (
	lockFile      = "lock"
	claimPatience = time.Second           // for a sink that is about to end
	claimEvery    = 20 * time.Millisecond // it is tried
)

// Claim takes the state folder dir for this process, until it ends or calls release. The error says why the folder is not used:
// another sink does, which would come back after a restart with what this one was told, or others can put what they like into it.
func Claim(dir string) (release func(), err error) {
	release = func() {}
	if dir == "" {
		return release, nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return release, err
	}
	folder, err := trusted.Open(real)
	if err != nil {
		return release, err
	}
	folder.Close()
	path := filepath.Join(real, lockFile)
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
	if errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return release, nil // nothing can be written: what is there is read, and each file tells
	} else if err != nil {
		return release, fmt.Errorf("%s: %w", path, err)
	}
	for end := time.Now().Add(claimPatience); ; time.Sleep(claimEvery) {
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(end) {
			break
		}
	}
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		unix.Close(fd)
		holder, _ := plainfile.ReadAtMost(path, 32)
		return release, fmt.Errorf("%s: another sink (pid %.20q) keeps its state there: give this one a folder of its own, and restart it", dir, strings.TrimSpace(string(holder)))
	case err != nil: // a file system without locks
		unix.Close(fd)
		return release, nil
	}
	unix.Ftruncate(fd, 0)
	unix.Pwrite(fd, fmt.Appendf(nil, "%d\n", os.Getpid()), 0) // for people
	return func() { unix.Close(fd) }, nil
}
