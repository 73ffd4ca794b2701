// place: where a file is to be made, found by descriptors: no link of another user leads there.

package cli

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// place is a name in a folder that is open.
type place struct {
	dir  int
	name string
	path string // as somebody wrote it
}

// mostLinks is how many links may lead to a file, as for the kernel.
const mostLinks = 40

// find walks to the folder of path, step by step, and follows links of this process's user and of root's alone; follow: the last
// one, too. Whoever may rename folders on the way meanwhile leads it to no other user's.
func find(path string, follow bool) (*place, error) {
	p := &place{dir: unix.AT_FDCWD, path: path}
	if err := p.step(&p.dir, "."); err != nil {
		return nil, err
	}
	rest := path
	for links := 0; ; {
		if strings.HasPrefix(rest, "/") {
			if err := p.step(&p.dir, "/"); err != nil {
				return nil, err
			}
		}
		name, after, more := strings.Cut(strings.TrimLeft(rest, "/"), "/")
		if p.name, rest = name, strings.TrimLeft(after, "/"); rest == "" && more || name == "" || rest == "" && (name == "." || name == "..") {
			p.close()
			return nil, &fs.PathError{Op: "open", Path: path, Err: unix.EISDIR}
		}
		last := rest == ""
		if last && !follow {
			return p, nil
		}
		at := p.dir
		if err := open(&at, name, unix.O_PATH|unix.O_NOFOLLOW); err != nil {
			if last {
				return p, nil // it is made
			}
			p.close()
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		to, err := p.linkOf(at)
		switch {
		case err == nil && to != "":
			unix.Close(at)
			if links++; links > mostLinks {
				err = unix.ELOOP
			}
			rest = strings.TrimSuffix(to+"/"+rest, "/")
		case err == nil && last:
			unix.Close(at)
			return p, nil
		case err == nil:
			unix.Close(p.dir)
			p.dir = at
		default:
			unix.Close(at)
		}
		if err != nil {
			p.close()
			return nil, err
		}
	}
}

// linkOf returns where a link leads that is open, "" of anything else.
func (p *place) linkOf(at int) (string, error) {
	var s unix.Stat_t
	if err := unix.Fstat(at, &s); err != nil || s.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", err
	}
	if !own(&s) {
		return "", fmt.Errorf("%s: %s is a link of another user: name another file", p.path, p.name)
	}
	to := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(at, "", to)
	return string(to[:max(n, 0)]), err
}

// step puts the folder name in place of the one that is open.
func (p *place) step(dir *int, name string) error {
	was := *dir
	if err := open(dir, name, unix.O_PATH|unix.O_DIRECTORY); err != nil {
		p.close()
		return &fs.PathError{Op: "open", Path: p.path, Err: err}
	}
	if was >= 0 {
		unix.Close(was)
	}
	return nil
}

func open(at *int, name string, flags int) error {
	fd, err := unix.Openat(*at, name, flags|unix.O_CLOEXEC, 0)
	if err == nil {
		*at = fd
	}
	return err
}

func (p *place) close() {
	if p.dir >= 0 {
		unix.Close(p.dir)
	}
}

func (p *place) stat() (s unix.Stat_t, err error) {
	err = unix.Fstatat(p.dir, p.name, &s, unix.AT_SYMLINK_NOFOLLOW)
	return s, err
}

// open opens, or makes, what has the name; no link.
func (p *place) open(flags int, mode uint32) (*os.File, error) {
	fd, err := unix.Openat(p.dir, p.name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: p.path, Err: err}
	}
	if flags&unix.O_NONBLOCK != 0 {
		unix.SetNonblock(fd, false)
	}
	return os.NewFile(uintptr(fd), p.path), nil
}

// remove takes the name away.
func (p *place) remove() error {
	if err := unix.Unlinkat(p.dir, p.name, 0); err != nil {
		return &fs.PathError{Op: "remove", Path: p.path, Err: err}
	}
	return nil
}
