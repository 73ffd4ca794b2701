// waiting: the changes that wait for one server, in the order in which they go, and how many may go in a minute.

package webhook

import (
	"slices"
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

// A problem that begins again is told a minute after the last change of it that was, and so is what follows: what comes and goes is one
// request a minute. After forgetAfter it is as if it had never begun.
const (
	againAfter  = time.Minute
	forgetAfter = 10 * time.Minute
	mostPaced   = 1 << 12 // problems
)

// told is what a server knows of one problem.
type told struct {
	begins int
	at     time.Time // of the last change
}

// waiting is what one server is still to be told. Its methods are safe for concurrent use.
type waiting struct {
	counts *counts
	wake   chan struct{} // something new waits

	mu     sync.Mutex
	untold map[uint64]bool  // problems whose begin there was no room for, or that the server never took: their ends are not told either
	told   map[uint64]told  // of the last minutes
	all    []problem.Change // the oldest first, one of each problem
	left   int              // that there was no room for since the last one went
	since  time.Time        // the minute at hand
	may    [2]int           // go in it yet, of known places and of others
}

func newWaiting(n *counts) *waiting {
	return &waiting{counts: n, wake: make(chan struct{}, 1), untold: map[uint64]bool{}, told: map[uint64]told{}}
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
			w.counts[Replaced].Add(1)
			if was.Event == problem.Begin && c.Event == problem.End || was.Event == problem.End && c.Event == problem.Begin {
				w.remove(i) // the server knows it as it is
				w.counts[Dropped].Add(1)
				return
			}
			if was.Event == problem.Begin && c.Event == problem.Turn {
				c.Event = problem.Begin // nobody was told of it
			}
			*was = c
			return
		}
	}
	untold := w.untold[c.Problem.ID]
	if delete(w.untold, c.Problem.ID); untold && c.Event == problem.End {
		w.counts[Dropped].Add(1)
		return
	} else if untold && c.Event == problem.Turn {
		c.Event = problem.Begin
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

// unheard takes up that the server did not take c, and will not: it is not told of the end of what it never heard begin.
func (w *waiting) unheard(c *problem.Change) {
	if c.Event != problem.Begin {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.all, func(o problem.Change) bool { return o.Problem.ID == c.Problem.ID })
	switch {
	case i < 0:
		w.untold[c.Problem.ID] = true
	case w.all[i].Event == problem.End:
		w.remove(i)
		w.counts[Dropped].Add(1)
	default:
		w.all[i].Event = problem.Begin
	}
}

// due is when c may go.
func (w *waiting) due(c *problem.Change, now time.Time) time.Time {
	t, known := w.told[c.Problem.ID]
	if !known || t.begins < 2 && (c.Event != problem.Begin || t.begins == 0) || now.Sub(t.at) >= forgetAfter {
		return now
	}
	return t.at.Add(againAfter)
}

// tells takes up that c goes.
func (w *waiting) tells(c *problem.Change, now time.Time) {
	for id, t := range w.told {
		if now.Sub(t.at) >= forgetAfter || len(w.told) >= mostPaced {
			delete(w.told, id)
		}
	}
	t := w.told[c.Problem.ID]
	if t.at = now; c.Event == problem.Begin {
		t.begins++
	}
	w.told[c.Problem.ID] = t
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
		if due := w.due(&w.all[i], now); due.After(now) {
			if rest := due.Sub(now); pause == 0 || rest < pause {
				pause = rest
			}
		} else if may := w.budget(&w.all[i]); may != nil && *may == 0 {
			held++
		} else if best < 0 || rank(&w.all[i]) < rank(&w.all[best]) {
			best = i
		}
	}
	if rest := w.since.Add(time.Minute).Sub(now); best < 0 && held > 0 && (pause == 0 || rest < pause) {
		return nil, 0, rest
	}
	if best < 0 {
		return nil, 0, pause
	}
	w.tells(&w.all[best], now)
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
