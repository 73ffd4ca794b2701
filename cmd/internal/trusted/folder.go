// Folder: a folder in which nobody but root, and this process's user, can put one file in place of another; its files, by descriptors.

// Package trusted is how root touches files and programs on behalf of a service that another user runs: by descriptors that this
// process has opened, in folders that nobody else can change, up to the root. No path is looked up twice, no link is followed, and
// no program runs because of what another user's process is, or says. What the service's user renames, links or answers meanwhile
// changes nothing.
package trusted

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"intsink/internal/plainfile"
)

// Folder is an open folder.
type Folder struct {
	path string
	root *os.Root
}

// Open opens the folder at an absolute path step by step. The error names the step that others can change.
func Open(path string) (*Folder, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%s: not an absolute path", path)
	}
	f := &Folder{path: "/"}
	var err error
	if f.root, err = os.OpenRoot("/"); err != nil {
		return nil, err
	}
	for _, step := range strings.Split(filepath.Clean(path), "/")[1:] {
		if step == "" {
			break // the root itself
		}
		next, err := f.step(step)
		f.Close()
		if err != nil {
			return nil, err
		}
		f = next
	}
	return f, nil
}

// step opens a folder in f. In one with the sticky bit, as /tmp, others cannot rename what is not theirs.
func (f *Folder) step(name string) (*Folder, error) {
	next := &Folder{path: f.Path(name)}
	before, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, fmt.Errorf("%s: not a folder: name the one that a link leads to", next.path)
	}
	if next.root, err = f.root.OpenRoot(name); err != nil {
		return nil, err
	}
	now, err := next.root.Stat(".")
	if err == nil && !os.SameFile(before, now) {
		err = fmt.Errorf("%s: somebody puts another folder in its place", next.path)
	}
	if err == nil && !(now.Mode()&fs.ModeSticky != 0 && mine(now)) {
		err = own(next.path, now)
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// mine tells whether what info is about belongs to root, or to this process's user.
func mine(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}

// own returns an error where others can change what info is about. Where an ACL lets others write, the mode shows it as the group's.
func own(path string, info fs.FileInfo) error {
	if mine(info) && info.Mode().Perm()&0o022 == 0 {
		return nil
	}
	e := &ChangeableError{Path: path, Owner: -1}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().Perm()&0o022 == 0 {
		e.Owner = int(s.Uid)
	}
	return e
}

// ChangeableError is of a file or folder that others than root, and this process's user, can change.
type ChangeableError struct {
	Path  string
	Owner int // who alone can; -1: several can
}

func (e *ChangeableError) Error() string {
	return fmt.Sprintf("%s: others than root can change it: chown root, and chmod go-w", e.Path)
}

// Path is where the file name in f is.
func (f *Folder) Path(name string) string { return filepath.Join(f.path, name) }

// Close closes f.
func (f *Folder) Close() { f.root.Close() }

// File opens the regular file name in f, which nobody else can change. It follows no link.
func (f *Folder) File(name string) (*os.File, error) {
	before, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", f.Path(name), plainfile.ErrNotRegular)
	}
	if err := own(f.Path(name), before); err != nil {
		return nil, err
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	now, err := file.Stat()
	if err == nil && !os.SameFile(before, now) {
		err = fmt.Errorf("%s: somebody puts another file in its place", f.Path(name))
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Write makes the file name in f anew, in place of what has the name, whole: when it is on the disk. It is open to read.
func (f *Folder) Write(name string, text []byte, mode fs.FileMode) (*os.File, error) {
	fresh := name + ".new"
	if err := f.Remove(fresh); err != nil {
		return nil, err
	}
	file, err := f.root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil { // who has it open to write keeps it from running
		err = e
	}
	if err == nil {
		err = f.Rename(fresh, name)
	}
	if err != nil {
		f.Remove(fresh)
		return nil, err
	}
	return f.File(name)
}

// Rename gives a file in f another name, in place of what has that, and returns when that is on the disk.
func (f *Folder) Rename(from, to string) error {
	if err := f.root.Rename(from, to); err != nil {
		return err
	}
	dir, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// Link gives a file in f one more name, in place of what has that.
func (f *Folder) Link(from, to string) error {
	if err := f.Remove(to); err != nil {
		return err
	}
	return f.root.Link(from, to)
}

// Remove removes a file in f. That there is none is no error.
func (f *Folder) Remove(name string) error {
	if err := f.root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Has tells whether f has a file of that name.
func (f *Folder) Has(name string) bool {
	_, err := f.root.Lstat(name)
	return err == nil
}

// capabilities is the extended attribute with the rights of a program's file (capabilities(7)).
const capabilities = "security.capability"

// SameRights gives a file the owner, mode and file capabilities of another one.
func SameRights(file, as *os.File) error {
	info, err := as.Stat()
	if err != nil {
		return err
	}
	s := info.Sys().(*syscall.Stat_t)
	now, err := file.Stat()
	if err != nil {
		return err
	}
	if was := now.Sys().(*syscall.Stat_t); was.Uid != s.Uid || was.Gid != s.Gid {
		if err := file.Chown(int(s.Uid), int(s.Gid)); err != nil {
			return fmt.Errorf("%s is of uid %d and gid %d, which the new file cannot be: %w: root may", as.Name(), s.Uid, s.Gid, err)
		}
	}
	if err := unix.Fchmod(int(file.Fd()), s.Mode&0o7777); err != nil {
		return err
	}
	var have, want [64]byte
	n, err := unix.Fgetxattr(int(as.Fd()), capabilities, want[:])
	if err != nil || n == 0 {
		return nil // it has none, as on a file system without attributes
	}
	if err := unix.Fsetxattr(int(file.Fd()), capabilities, want[:n], 0); err != nil {
		return fmt.Errorf("%s has file capabilities (getcap), which the new file cannot be given: %w: root may", as.Name(), err)
	}
	if m, err := unix.Fgetxattr(int(file.Fd()), capabilities, have[:]); err != nil || !bytes.Equal(have[:max(m, 0)], want[:n]) {
		return fmt.Errorf("%s has file capabilities (getcap), which the new file does not keep", as.Name())
	}
	return nil
}
