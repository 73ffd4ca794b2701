// What the sink learned of the network and of itself, kept over a restart in files of the state folder.

package appliance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/network"
	"intsink/engine/series"
	"intsink/engine/usual"
)

// learned is what one file holds. Before what encode returns, the file has the number of the sink and the time.
type learned struct {
	file    string // its name, which is also its kind
	version int
	what    string        // it is, in the log
	every   time.Duration // it is written: as much is lost where the sink dies
	oldest  time.Duration // that is of use
	encode  func(now int64) []byte
	decode  func(b []byte, now int64) error // with an error nothing is taken
}

func learnedUsual(u *usual.Usual) learned {
	return learned{
		file: "usual", version: 3, what: "what is usual in the network", every: 5 * time.Minute, oldest: 7 * 24 * time.Hour,
		encode: func(int64) []byte { return u.Encode() }, decode: u.Decode,
	}
}

func learnedHistory(p *series.Places) learned {
	return learned{
		file: "history", version: 1, what: "the history of queues, hops, segments and paths", every: time.Minute, oldest: series.Minutes * time.Minute,
		encode: func(int64) []byte { return p.Encode() }, decode: p.Decode,
	}
}

func learnedCounts(c *series.Counts) learned {
	return learned{
		file: "counts", version: 1, what: "the history of counters", every: time.Minute, oldest: series.Minutes * time.Minute,
		encode: func(int64) []byte { return c.Encode() }, decode: c.Decode,
	}
}

func learnedChanges(n *network.Network) learned {
	return learned{
		file: "changes", version: 1, what: "the changes of paths", every: time.Minute, oldest: 7 * 24 * time.Hour,
		encode: func(int64) []byte { return n.EncodeChanges() },
		decode: func(b []byte, now int64) error { return n.DecodeChanges(b, time.Unix(0, now)) },
	}
}

// keepLearned takes in what the state folder has of before, and keeps it from now on. What cannot be used is set aside and
// told. stop writes all a last time; where it returns false, a disk hangs, and encode may still be called. ran is when the
// sink wrote the last of them; zero: that is not known.
func keepLearned(getenv func(string) string, sink uint64, all ...learned) (ran time.Time, stop func() bool) {
	dir := statefile.Dir(getenv)
	if dir == "" {
		return ran, func() bool { return true }
	}
	var keepers []*statefile.Keeper
	for _, l := range all {
		path := filepath.Join(dir, l.file)
		written, err := l.read(path, sink, time.Now())
		if err != nil {
			slog.Warn(l.what+" is learned anew", "err", err)
		}
		if written.After(ran) {
			ran = written
		}
		keepers = append(keepers, statefile.KeepEvery(l.every, l.what, func() error { return l.write(path, sink, time.Now()) }))
	}
	return ran, func() bool {
		stopped := true
		for _, k := range keepers {
			stopped = k.Stop() && stopped
		}
		return stopped
	}
}

const learnedHead = 8 + 8

func (l *learned) write(path string, sink uint64, now time.Time) error {
	head := binary.BigEndian.AppendUint64(nil, sink)
	head = binary.BigEndian.AppendUint64(head, uint64(now.UnixNano()))
	return statefile.Write(path, l.file, l.version, append(head, l.encode(now.UnixNano())...))
}

// read takes the file in, and returns when it was written.
func (l *learned) read(path string, sink uint64, now time.Time) (written time.Time, err error) {
	body, err := statefile.Read(path, l.file, l.version)
	if err != nil || body == nil {
		return written, err
	}
	if written, err = l.take(body, sink, now); err != nil {
		return time.Time{}, statefile.SetAside(path, err)
	}
	return written, nil
}

func (l *learned) take(body []byte, sink uint64, now time.Time) (written time.Time, err error) {
	if len(body) < learnedHead {
		return written, errors.New("it is empty")
	}
	written = time.Unix(0, int64(binary.BigEndian.Uint64(body[8:])))
	switch age := now.Sub(written); {
	case binary.BigEndian.Uint64(body) != sink:
		return written, errors.New("it is another sink's")
	case age > l.oldest || age < -l.oldest:
		return written, fmt.Errorf("it is older than %s, or from tomorrow", l.oldest)
	}
	return written, l.decode(body[learnedHead:], now.UnixNano())
}

// warmWithin is for how long a sink may have written nothing, and still have run a moment ago: it writes each minute, and a
// service that is started again, or a machine, takes its time.
const warmWithin = 3 * time.Minute

// isWarm reports whether a sink that last wrote at ran, and starts now, ran a moment ago. A clock that a reboot has put back
// to when it was last saved is a little behind.
func isWarm(ran, now time.Time) bool { return now.Sub(ran).Abs() < warmWithin }
