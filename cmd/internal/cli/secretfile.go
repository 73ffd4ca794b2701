// Files that a command makes for packets of others: nobody else reads them, or chooses where they are.

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// CreateOwn makes a new file that its owner alone may read. A file that is there already is an error, unless replace:
// then it goes, whoever it belongs to, and what a link leads to stays as it is. Devices and pipes are opened.
func CreateOwn(path string, replace bool) (*os.File, error) {
	p, err := find(path, false)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.isStream() {
		return p.openStream()
	}
	f, err := p.open(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if replace && errors.Is(err, fs.ErrExist) {
		if err := p.remove(); err != nil {
			return nil, err
		}
		f, err = p.open(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	}
	if errors.Is(err, fs.ErrExist) {
		err = taken(path)
	}
	return f, err
}

// Taken is the error that CreateOwn would return for a file that is there, to be known before it takes long to come so far.
func Taken(path string, replace bool) error {
	p, err := find(path, false)
	if err != nil {
		return nil // CreateOwn says so
	}
	defer p.close()
	if _, err := p.stat(); err != nil || replace || p.isStream() {
		return nil
	}
	return taken(path)
}

func taken(path string) error {
	return fmt.Errorf("%s: there is such a file: name another one, or add --force to replace it", path)
}

// Overwrite makes a file that its owner alone may read, or empties the one that is there. It follows no link of another
// user, and empties no file of another user or with another name: with such, that user would choose which file is emptied, or read
// what is written.
func Overwrite(path string) (*os.File, error) { return overwrite(path, 0o600) }

// overwrite is Overwrite of a file that has mode where it is new.
func overwrite(path string, mode uint32) (*os.File, error) {
	p, err := find(path, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.isStream() {
		return p.openStream()
	}
	f, err := p.open(unix.O_WRONLY|unix.O_CREAT|unix.O_NONBLOCK, mode) // a pipe that somebody puts there meanwhile does not hold it up
	if err != nil {
		return nil, err
	}
	var s unix.Stat_t
	switch err = unix.Fstat(int(f.Fd()), &s); {
	case err != nil:
	case s.Mode&unix.S_IFMT != unix.S_IFREG:
		err = fmt.Errorf("%s is not a regular file: name another one", path)
	case !own(&s):
		err = fmt.Errorf("%s belongs to another user, who would read what is written: name another file", path)
	case s.Nlink > 1:
		err = fmt.Errorf("%s is a file that has another name, too, which another user may have chosen: name another file", path)
	default:
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// isStream tells whether a device, or a pipe, is there; not by a link.
func (p *place) isStream() bool {
	s, err := p.stat()
	return err == nil && (s.Mode&unix.S_IFMT == unix.S_IFCHR || s.Mode&unix.S_IFMT == unix.S_IFBLK || s.Mode&unix.S_IFMT == unix.S_IFIFO)
}

// openStream opens it. One of another user is not even waited for.
func (p *place) openStream() (*os.File, error) {
	at, err := p.open(unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	var s unix.Stat_t
	if err := unix.Fstat(int(at.Fd()), &s); err != nil || !own(&s) {
		return nil, fmt.Errorf("%s belongs to another user, who would read what is written: name a file", p.path)
	}
	return os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", at.Fd()), os.O_WRONLY, 0)
}

// own tells whether the user of this process has made something, or root.
func own(s *unix.Stat_t) bool { return s.Uid == 0 || int(s.Uid) == os.Geteuid() }
