// The file usual: what places usually do, kept over a restart in the state folder.

package appliance

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/statefile"
	"intsink/engine/usual"
)

// usualFile is the name of the file in the folder that systemd gives the sink for its state.
const usualFile = "usual"

// usualEvery is how often the file is written while the sink runs: as much is lost where it dies.
const usualEvery = 5 * time.Minute

// mostUsual is how large a file may be that is read: all places with all classes are less.
const mostUsual = 64 << 20

// usualKeeper writes what is usual now and then, and at the end.
type usualKeeper struct {
	path  string
	sink  uint64 // whose file it is
	usual *usual.Usual
	log   *slog.Logger
	stop  chan struct{}
	done  chan struct{}
}

// keepUsual reads what was usual before the last stop, and begins to keep it. Without a state folder nothing is kept, and
// nil returned.
func keepUsual(getenv func(string) string, sink uint64, u *usual.Usual, log *slog.Logger) *usualKeeper {
	dir, _, _ := strings.Cut(getenv("STATE_DIRECTORY"), ":")
	if dir == "" {
		return nil
	}
	k := &usualKeeper{path: filepath.Join(dir, usualFile), sink: sink, usual: u, log: log, stop: make(chan struct{}), done: make(chan struct{})}
	if err := k.read(time.Now().UnixNano()); err != nil {
		log.Warn("what is usual in the network is learned anew: its file cannot be used", "file", k.path, "err", err)
	}
	go k.run(usualEvery)
	return k
}

// read takes the file in. One that cannot be used is set aside, so that somebody can look at it.
func (k *usualKeeper) read(now int64) error {
	b, err := readBounded(k.path, mostUsual)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = k.usual.Decode(b, k.sink, now)
	}
	if err == nil {
		return nil
	}
	if moved := os.Rename(k.path, k.path+".bad"); moved != nil {
		return fmt.Errorf("%w; and it stays where it is: %w", err, moved)
	}
	return fmt.Errorf("%w; it is now %s.bad", err, usualFile)
}

// readBounded reads a regular file of at most so many bytes.
func readBounded(path string, most int64) ([]byte, error) {
	s, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !s.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case s.Size() > most:
		return nil, fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return os.ReadFile(path)
}

func (k *usualKeeper) write() {
	if err := statefile.Whole(k.path, string(k.usual.Encode(k.sink, time.Now().UnixNano()))); err != nil {
		k.log.Warn("what is usual in the network is not kept over a restart", "file", k.path, "err", err)
	}
}

func (k *usualKeeper) run(every time.Duration) {
	defer close(k.done)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			k.write()
		case <-k.stop:
			k.write()
			return
		}
	}
}

// Stop writes the file a last time.
func (k *usualKeeper) Stop() {
	if k != nil {
		close(k.stop)
		<-k.done
	}
}
