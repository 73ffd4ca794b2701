// Keeper: writes a state file whenever what it has is changed, or every so often, in a goroutine of its own.

package statefile

import (
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	keepPatience = time.Second            // of who changes something, for the disk
	stopPatience = time.Second            // of the stop
	restPatience = 250 * time.Millisecond // of the stop, once it has waited in vain for another file
	tryAgain     = 10 * time.Second       // after a write that failed
	tellAfter    = 10 * time.Second       // a disk that takes as long for a write is told in the log
)

// hangs is that a stop has waited for the disk in vain, and no file was written since: all are in one folder.
var hangs atomic.Bool

// Keeper writes a file whenever Changed is called. A nil Keeper keeps nothing: there is no state folder.
type Keeper struct {
	what        string
	save        func() error
	every       time.Duration      // 0: only what is changed
	asked       chan chan struct{} // who waits for a write
	done, ended chan struct{}
}

// Keep makes a Keeper; save writes the file, which the log calls what.
func Keep(what string, save func() error) *Keeper { return KeepEvery(0, what, save) }

// KeepEvery is Keep of what is changed all the time: it is written at once, every so often, and by Stop.
func KeepEvery(every time.Duration, what string, save func() error) *Keeper {
	k := &Keeper{what: what, save: save, every: every, asked: make(chan chan struct{}, 64), done: make(chan struct{}), ended: make(chan struct{})}
	go k.run()
	return k
}

// Changed has the file written, and returns when it is, or after keepPatience: a disk that hangs holds nobody up. Where
// asked is full, who waits in it has the present state written.
func (k *Keeper) Changed() {
	if k == nil {
		return
	}
	written, late := make(chan struct{}), time.After(keepPatience)
	select {
	case k.asked <- written:
	case <-late:
		return
	}
	select {
	case <-written:
	case <-late:
	}
}

// Stop writes what is not yet written. It reports whether save is no longer called: not so where a disk hangs.
func (k *Keeper) Stop() bool {
	if k == nil {
		return true
	}
	close(k.done)
	patience := stopPatience
	if hangs.Load() {
		patience = restPatience
	}
	select {
	case <-k.ended:
		return true
	case <-time.After(patience):
		hangs.Store(true)
		slog.Warn("not kept over this stop: the disk takes too long", "what", k.what)
		return false
	}
}

func (k *Keeper) run() {
	defer close(k.ended)
	failing := k.every > 0 && k.write(false) // that the sink has started is told, too
	for {
		var again <-chan time.Time
		switch {
		case failing:
			again = time.After(tryAgain)
		case k.every > 0:
			again = time.After(k.every)
		}
		var waiting []chan struct{}
		stopping := false
		select {
		case w := <-k.asked:
			waiting = append(waiting, w)
		case <-again:
		case <-k.done:
			stopping = true
		}
		for more := true; more; {
			select {
			case w := <-k.asked:
				waiting = append(waiting, w)
			default:
				more = false
			}
		}
		if !stopping || failing || k.every > 0 || len(waiting) > 0 {
			failing = k.write(failing)
		}
		for _, w := range waiting {
			close(w)
		}
		if stopping {
			return
		}
	}
}

// write writes the file, and tells in the log where that begins to fail, or no longer does; and of a disk that hangs.
func (k *Keeper) write(failing bool) (fails bool) {
	late := time.AfterFunc(tellAfter, func() {
		slog.Warn("not kept over a restart for now: the disk has not answered for 10 s", "what", k.what, "todo", "look at the disk of the state folder; packets pass meanwhile")
	})
	err := k.save()
	if err == nil {
		hangs.Store(false)
	}
	if !late.Stop() && err == nil {
		failing = true // it was told
	}
	switch {
	case err != nil && !failing:
		slog.Warn("cannot be kept over a restart; tried again every 10 s", "what", k.what, "err", err)
	case err == nil && failing:
		slog.Info("kept over a restart again", "what", k.what)
	}
	return err != nil
}
