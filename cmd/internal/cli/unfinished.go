// Unfinished, WriteFile: no file stays that a command could not write to its end.

package cli

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// Unfinished removes the files at paths, which a command has begun and could not write to their
// end for err: half of a file would pass for the whole. The error that it returns says so.
// Devices and pipes stay, and whatever another user put in their place.
func Unfinished(err error, paths ...string) error {
	var gone []string
	for _, path := range paths {
		if removed(path) {
			gone = append(gone, path)
		}
	}
	switch len(gone) {
	case 0:
		return err
	case 1:
		return fmt.Errorf("%w; %s is not complete and was removed", err, gone[0])
	}
	return fmt.Errorf("%w; %s are not complete and were removed", err, strings.Join(gone, " and "))
}

func removed(path string) bool {
	p, err := find(path, true)
	if err != nil {
		return false
	}
	defer p.close()
	s, err := p.stat()
	return err == nil && s.Mode&unix.S_IFMT == unix.S_IFREG && own(&s) && p.remove() == nil
}

// WriteFile writes a file as a whole, or leaves none. One that it may not write stays as it is, and so does what a link of another
// user leads to.
func WriteFile(path string, text []byte) error {
	f, err := overwrite(path, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return Unfinished(err, path)
	}
	return nil
}
