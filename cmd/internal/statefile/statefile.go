// Read and Write: files in the folder that systemd keeps for the sink (StateDirectory): versioned, checksummed, whole or not
// there.

// Package statefile keeps what a sink knows over a restart, in files of its state folder. A file that is torn, of another
// version or of another machine is set aside and told; it never keeps the sink from starting.
package statefile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"intsink/internal/plainfile"
)

// Max is how many bytes the body of a file may have, and mostHeader its header.
const (
	Max        = 64 << 20
	mostHeader = 1024
)

// Dir is the folder that systemd gives a service for its state, by the environment; "": there is none.
func Dir(getenv func(string) string) string {
	dir, _, _ := strings.Cut(getenv("STATE_DIRECTORY"), ":")
	return dir
}

// header returns the first line of a state file: its kind, the version of its format, the machine that wrote it, and the
// SHA-256 of all that follows.
func header(kind string, version int, body []byte) string {
	return fmt.Sprintf("intsink %s %d machine %s sha256 %x\n", kind, version, machine(), sha256.Sum256(body))
}

// machineFile names this machine; an image that was cloned gets another one (machine-id(5)).
var machineFile = "/etc/machine-id"

// machine is a short hash of the machine's id: the id itself is nobody's to read.
func machine() string {
	id, err := plainfile.Read(machineFile)
	if err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%x", sha256.Sum256(bytes.TrimSpace(id)))[:16]
}

// Read returns the body that Write left in the file at path. No file is no error, and no body. A file that cannot be used
// is renamed to path.bad, in place of the last such one, and the error says why.
//
// What kills have left of files that were being written is removed: a sink that is killed again and again fills no disk.
func Read(path, kind string, version int) ([]byte, error) {
	left, _ := filepath.Glob(path + ".[0-9]*") // as Whole calls them
	for _, l := range left {
		os.Remove(l)
	}
	text, err := plainfile.ReadAtMost(path, Max+mostHeader)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		var body []byte
		if body, err = check(text, kind, version); err == nil {
			return body, nil
		}
	}
	return nil, SetAside(path, err)
}

// SetAside renames the file at path, which cannot be used for err.
func SetAside(path string, err error) error {
	if moved := os.Rename(path, path+".bad"); moved != nil {
		return fmt.Errorf("%s cannot be used: %w; it stays where it is: %w", path, err, moved)
	}
	return fmt.Errorf("%s cannot be used: %w; it is now %s.bad", path, err, filepath.Base(path))
}

// check returns the body of text, which is a whole file.
func check(text []byte, kind string, version int) ([]byte, error) {
	line, body, whole := bytes.Cut(text, []byte("\n"))
	var k, m, sum string
	var v int
	if _, err := fmt.Sscanf(string(line), "intsink %s %d machine %s sha256 %s", &k, &v, &m, &sum); err != nil || !whole {
		return nil, errors.New("it is torn, or no file of intsink")
	}
	switch {
	case k != kind:
		return nil, fmt.Errorf("it has %.40q, not %q", k, kind)
	case v != version:
		return nil, fmt.Errorf("it is of version %d, this is %d", v, version)
	case m != machine():
		return nil, errors.New("it is of another machine")
	case sum != fmt.Sprintf("%x", sha256.Sum256(body)):
		return nil, errors.New("it is torn: its checksum is wrong")
	}
	return body, nil
}

// Write leaves body in the file at path so that it is there as a whole, or not at all.
func Write(path, kind string, version int, body []byte) error {
	if len(body) > Max {
		return fmt.Errorf("%s: %d bytes; at most %d can be read again", path, len(body), Max)
	}
	return Whole(path, []byte(header(kind, version, body)), body)
}

// Whole writes a file so that it is there with all parts, or not at all.
func Whole(path string, parts ...[]byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no longer there once it is renamed
	for _, b := range parts {
		if err == nil {
			_, err = f.Write(b)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path)) // the new name, too, is to outlast a power cut
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
