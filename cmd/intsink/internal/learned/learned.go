// Keep: takes in what files of the state folder have, and writes them again from time to time.

// Package learned keeps what a sink learned of the network and of itself over a restart, in files of the state folder.
package learned

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"intsink/cmd/internal/statefile"
)

// File is what one file holds. Before what Encode returns, the file has the number of the sink and the time.
type File struct {
	Name    string // its name, which is also its kind
	Version int
	What    string        // it is, in the log
	Every   time.Duration // it is written: as much is lost where the sink dies
	Oldest  time.Duration // that is of use
	Encode  func(now int64) []byte
	Decode  func(b []byte, now int64) error // with an error nothing is taken
}

// Keep takes in what the state folder dir has of before, and keeps it from now on. What cannot be used is set aside and
// told. stop writes all a last time; where it returns false, a disk hangs, and Encode may still be called. ran is when the
// sink wrote the last of them; zero: that is not known. Without a folder nothing is kept.
func Keep(dir string, sink uint64, all ...File) (ran time.Time, stop func() bool) {
	if dir == "" {
		return ran, func() bool { return true }
	}
	var keepers []*statefile.Keeper
	for _, l := range all {
		path := filepath.Join(dir, l.Name)
		written, err := l.read(path, sink, time.Now())
		if err != nil {
			slog.Warn(l.What+" is learned anew", "err", err)
		}
		if written.After(ran) {
			ran = written
		}
		keepers = append(keepers, statefile.KeepEvery(l.Every, l.What, func() error { return l.write(path, sink, time.Now()) }))
	}
	return ran, func() bool {
		stopped := true
		for _, k := range keepers {
			stopped = k.Stop() && stopped
		}
		return stopped
	}
}

const headSize = 8 + 8

func (l *File) write(path string, sink uint64, now time.Time) error {
	head := binary.BigEndian.AppendUint64(nil, sink)
	head = binary.BigEndian.AppendUint64(head, uint64(now.UnixNano()))
	return statefile.Write(path, l.Name, l.Version, append(head, l.Encode(now.UnixNano())...))
}

// read takes the file in, and returns when it was written.
func (l *File) read(path string, sink uint64, now time.Time) (written time.Time, err error) {
	body, err := statefile.Read(path, l.Name, l.Version)
	if err != nil || body == nil {
		return written, err
	}
	if written, err = l.take(body, sink, now); err != nil {
		return time.Time{}, statefile.SetAside(path, err)
	}
	return written, nil
}

func (l *File) take(body []byte, sink uint64, now time.Time) (written time.Time, err error) {
	if len(body) < headSize {
		return written, errors.New("it is empty")
	}
	written = time.Unix(0, int64(binary.BigEndian.Uint64(body[8:])))
	switch age := now.Sub(written); {
	case binary.BigEndian.Uint64(body) != sink:
		return written, errors.New("it is another sink's")
	case age > l.Oldest || age < -l.Oldest:
		return written, fmt.Errorf("it is older than %s, or from tomorrow", l.Oldest)
	}
	return written, l.Decode(body[headSize:], now.UnixNano())
}
