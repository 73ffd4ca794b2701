// waiting: the changes that wait for one server, in the order in which they go, and how many may go in a minute.

package webhook

import (
	"sync"
	"time"

	"intsink/cmd/internal/problem"
)

// room is how many changes wait for one server; beyond that those go that matter least, the oldest first.
const room = 64

// How many changes that packets told of go to one server in a minute: of places that were known, and of others.
const (
	knownAMinute   = 60
	strangeAMinute = 20
)

// waiting is what one server is still to be told. Its methods are safe for concurrent use.
type waiting struct {
	counts *counts
	wake   chan struct{} // something new waits

	mu     sync.Mutex
	untold map[uint64]bool  // problems whose begin there was no room for: their ends are not told either
	all    []problem.Change // the oldest first, one of each problem
	left   int              // that there was no room for since the last one went
	since  time.Time        // the minute at hand
	may    [2]int           // go in it yet, of known places and of others
}

func newWaiting(n *counts) *waiting {
	return &waiting{counts: n, wake: make(chan struct{}, 1), untold: map[uint64]bool{}}
}

// rank is 0 of what goes first: what the sink itself knows before what packets tell, known places before others, errors before
// warnings.
func rank(c *problem.Change) (n int) {
	byPackets, known := c.Problem.Told()
	if byPackets {
		n += 2
	}
	if byPackets && !known {
		n += 2
	}
	if c.Problem.Severity != problem.Error {
		n++
	}
	return n
}

// put has c wait. Of one problem only the last state waits.
func (w *waiting) put(c problem.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.all {
		if was := &w.all[i]; was.Problem.ID == c.Problem.ID {
			if was.Event == problem.Begin && c.Event == problem.Turn {
				c.Event = problem.Begin // nobody was told of it
			}
			*was = c
			w.counts[Replaced].Add(1)
			return
		}
	}
	untold := w.untold[c.Problem.ID]
	if delete(w.untold, c.Problem.ID); untold && c.Event == problem.End {
		w.counts[Dropped].Add(1)
		return
	}
	if w.all = append(w.all, c); len(w.all) > room {
		worst := 0
		for i := range w.all {
			if rank(&w.all[i]) > rank(&w.all[worst]) {
				worst = i
			}
		}
		if gone := w.remove(worst); gone.Event != problem.End {
			w.untold[gone.Problem.ID] = true
		}
		w.counts[Dropped].Add(1)
		w.left++
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *waiting) remove(i int) problem.Change {
	c := w.all[i]
	w.all = append(w.all[:i], w.all[i+1:]...)
	return c
}

// next takes the change out that goes now, and says how many others do not go, or not in this minute; or else how long it takes
// until one may; 0: until wake says so.
func (w *waiting) next(now time.Time) (c *problem.Change, more int, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.since) >= time.Minute || now.Before(w.since) {
		w.since, w.may = now, [2]int{knownAMinute, strangeAMinute}
	}
	best, held := -1, 0
	for i := range w.all {
		if may := w.budget(&w.all[i]); may != nil && *may == 0 {
			held++
		} else if best < 0 || rank(&w.all[i]) < rank(&w.all[best]) {
			best = i
		}
	}
	if best < 0 && held > 0 {
		return nil, 0, w.since.Add(time.Minute).Sub(now)
	}
	if best < 0 {
		return nil, 0, 0
	}
	if may := w.budget(&w.all[best]); may != nil {
		*may--
	}
	more, w.left = held+w.left, 0
	return new(w.remove(best)), more, 0
}

// budget is what is left of the minute for such changes; nil: they have none, being the sink's own.
func (w *waiting) budget(c *problem.Change) *int {
	byPackets, known := c.Problem.Told()
	switch {
	case !byPackets:
		return nil
	case known:
		return &w.may[0]
	}
	return &w.may[1]
}
