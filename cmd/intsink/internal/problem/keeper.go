// Keeper: writes the problems to the disk while the sink runs, and once more when it stops.

package problem

import (
	"path/filepath"
	"time"
)

const (
	saveEvery    = 10 * time.Second
	savePatience = time.Second // of the stop, for a disk that hangs
)

// Keep takes up what the state folder dir has, and writes what changes there until the function that it returns is
// called. Without a folder nothing is kept. What cannot be read or written is a line in the log: a disk holds nothing up.
func (l *List) Keep(dir string) (stop func()) {
	if dir == "" {
		return func() {}
	}
	path := filepath.Join(dir, fileName)
	if err := l.Load(path, time.Now()); err != nil {
		l.log().Warn("problems of before are not known", "err", err)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		l.saveUntil(done, path)
	}()
	return func() {
		close(done)
		select {
		case <-ended:
		case <-time.After(savePatience):
		}
	}
}

func (l *List) saveUntil(done <-chan struct{}, path string) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	failing := false
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-tick.C:
		}
		err := l.Save(path, time.Now())
		if err != nil && !failing {
			l.log().Warn("problems cannot be kept over a restart", "err", err)
		} else if err == nil && failing {
			l.log().Info("problems are kept over a restart again")
		}
		failing = err != nil
	}
}
