// Files that a command makes for packets of others: nobody else reads them, or chooses where they are.

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// CreateOwn makes a new file that its owner alone may read. A file that is there already is an error, unless replace:
// then it goes, whoever it belongs to, and what a link leads to stays as it is. Devices and pipes are opened.
func CreateOwn(path string, replace bool) (*os.File, error) {
	if isStream(path) {
		return openStream(path)
	}
	f, err := createNew(path)
	if replace && errors.Is(err, fs.ErrExist) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		f, err = createNew(path)
	}
	if errors.Is(err, fs.ErrExist) {
		err = taken(path)
	}
	return f, err
}

// Taken is the error that CreateOwn would return for a file that is there, to be known before it takes long to come so far.
func Taken(path string, replace bool) error {
	if _, err := os.Lstat(path); err != nil || replace || isStream(path) {
		return nil
	}
	return taken(path)
}

func taken(path string) error {
	return fmt.Errorf("%s: there is such a file: name another one, or add --force to replace it", path)
}

func createNew(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
}

// Overwrite makes a file that its owner alone may read, or empties the one that is there. It follows no link of another
// user: with a link, that user would choose which file is emptied.
func Overwrite(path string) (*os.File, error) { return overwrite(path, 0o600) }

// overwrite is Overwrite of a file that has mode where it is new.
func overwrite(path string, mode fs.FileMode) (*os.File, error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if !own(info) {
			return nil, fmt.Errorf("%s is a link of another user: name another file", path)
		}
		return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	}
	if isStream(path) {
		return openStream(path)
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, mode)
}

// isStream tells whether path is a device, or a pipe; not by a link.
func isStream(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0
}

func openStream(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !own(info) {
		f.Close()
		return nil, fmt.Errorf("%s belongs to another user, who would read what is written: name a file", path)
	}
	return f, nil
}

// own tells whether the user of this process has made something, or root.
func own(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}
