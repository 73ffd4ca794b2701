// Limits, counters and audit log of requests that write.

package control

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of what writes may take.
const (
	maxBody       = 64 << 10
	maxConfig     = 4 << 20          // of a request with a configuration in it
	writePatience = 10 * time.Second // for the request to be there; also for each part of the answer
	writesPer     = time.Second / 20 // one write, on average
	writesAtOnce  = 40
)

// WriteResult says what became of a write.
type WriteResult uint8

const (
	WriteOK        WriteResult = iota
	WriteRefused               // by what it asked for: a configuration with mistakes
	WriteForbidden             // who asked may not write
	WriteLimited               // too many at once
	WriteBad                   // the request is wrong
	NumWriteResults
)

// String is the value of the result label.
func (r WriteResult) String() string {
	return [...]string{"ok", "refused", "forbidden", "limited", "bad_request"}[r]
}

// Writes bounds how many there are, and counts and logs each write that was tried.
type Writes struct {
	now    func() time.Time
	log    func() *slog.Logger
	counts [NumWriteResults]atomic.Uint64

	mu   sync.Mutex
	next [2]time.Time // when the next write would be due if they came evenly: over TCP, on the socket
}

// NewWrites makes a Writes that logs to log.
func NewWrites(log func() *slog.Logger) *Writes { return &Writes{now: time.Now, log: log} }

// Count is how many writes had the result r.
func (w *Writes) Count(r WriteResult) uint64 { return w.counts[r].Load() }

// room takes a place among the writes of now; false: there were too many. What comes over
// TCP takes no place from the socket's.
func (w *Writes) room(r *http.Request) bool {
	next := &w.next[0]
	if _, local := r.Context().Value(whoKey{}).(peer); local {
		next = &w.next[1]
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if next.Before(now) {
		*next = now
	}
	if next.Sub(now) > writesPer*(writesAtOnce-1) {
		return false
	}
	*next = next.Add(writesPer)
	return true
}

// done counts one write, and logs it, unless it is one of a flood.
func (w *Writes) done(who string, r *http.Request, out *Outcome) {
	w.counts[out.Result].Add(1)
	if out.Result == WriteLimited {
		return
	}
	args := []any{"who", who, "what", r.Method + " " + r.URL.Path, "result", out.Result.String()}
	if out.Detail != "" {
		args = append(args, "detail", out.Detail)
	}
	if out.Error != "" {
		args = append(args, "err", out.Error)
	}
	w.log().Info("api: write", args...)
}
