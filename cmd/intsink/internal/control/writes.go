// Writes: limits, counts and logs requests that write.

package control

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of requests that write.
const (
	maxBody      = 64 << 10
	maxConfig    = 4 << 20          // bytes of a request with a configuration in it
	comePatience = 10 * time.Second // how long a request may take to come
	writesPer    = time.Second / 20 // least time between two writes, on average
	writesAtOnce = 40
)

// WriteResult is the outcome of a write.
type WriteResult uint8

const (
	WriteOK        WriteResult = iota
	WriteRefused               // the sink refused it, such as a configuration with mistakes
	WriteForbidden             // its sender may not write
	WriteLimited               // there were too many at once
	WriteBad                   // the request is wrong
	NumWriteResults
)

// String is the value of the result label.
func (r WriteResult) String() string {
	return [...]string{"ok", "refused", "forbidden", "limited", "bad_request"}[r]
}

// Writes bounds how many writes there are, and counts and logs each that was tried.
type Writes struct {
	now    func() time.Time
	log    func() *slog.Logger
	come   time.Duration // how long a request may take to come
	counts [NumWriteResults]atomic.Uint64

	strangers atomic.Uint64 // requests of who has shown no right

	mu   sync.Mutex
	last [numRings][]Write // the last keptWrites of each, the oldest first
	told time.Time         // when a line about strangers was written last
	next [4]time.Time      // when the next write would be due if they came evenly: over TCP, on the socket; of those who may not write, likewise
}

// NewWrites makes a Writes that logs to log.
func NewWrites(log func() *slog.Logger) *Writes {
	return &Writes{now: time.Now, log: log, come: comePatience}
}

// Count returns how many writes had the result r.
func (w *Writes) Count(r WriteResult) uint64 { return w.counts[r].Load() }

// room reports whether one more write is allowed now, and counts it against the limit. Requests
// over TCP and on the socket have limits of their own; so have those of who may not write, which
// cost a line in the log: they leave the others their room.
func (w *Writes) room(r *http.Request, may bool) bool {
	limit := 0
	if onSocket(r) {
		limit = 1
	}
	if !may {
		limit += 2
	}
	next := &w.next[limit]
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
	w.keep(who, r, out)
	args := []any{"who", who, "what", r.Method + " " + r.URL.Path, "result", out.Result.String()}
	if out.Detail != "" {
		args = append(args, "detail", out.Detail)
	}
	if out.Error != "" {
		args = append(args, "err", out.Error)
	}
	w.audit("api: write", args...)
}

// keptWrites is how many writes of each ring the status shows.
const keptWrites = 100

// The rings of writes that are kept: who is refused, over and over, pushes out nothing that was done, and who has a token
// nothing of who is on the machine.
const (
	doneHere   = iota // on the socket
	doneRemote        // over TCP
	notDone           // asked for by who may write
	notAllowed        // by who may not
	numRings
)

func ringOf(r *http.Request, out *Outcome) int {
	switch {
	case out.Result == WriteForbidden:
		return notAllowed
	case out.Result != WriteOK:
		return notDone
	case onSocket(r):
		return doneHere
	}
	return doneRemote
}

// Write is one write that was tried.
type Write struct {
	Time              time.Time
	Who, What, Result string
	Detail            string // what was done, or why not; at most maxDetail bytes
}

// maxDetail bounds what is kept of a line of the log.
const maxDetail = 200

// keep adds one write to the last.
func (w *Writes) keep(who string, r *http.Request, out *Outcome) {
	detail := cmp.Or(out.Error, out.Detail)
	detail = strings.ToValidUTF8(detail[:min(len(detail), maxDetail)], "")
	w.mu.Lock()
	defer w.mu.Unlock()
	ring := &w.last[ringOf(r, out)]
	if len(*ring) == keptWrites {
		*ring = append((*ring)[:0], (*ring)[1:]...)
	}
	*ring = append(*ring, Write{w.now().UTC(), who, r.Method + " " + r.URL.Path, out.Result.String(), detail})
}

// Last returns the last writes, the oldest first.
func (w *Writes) Last() []Write {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := slices.Concat(w.last[:]...)
	slices.SortStableFunc(all, func(a, b Write) int { return a.Time.Compare(b.Time) })
	return all
}

// audit writes a line whatever the level of the log is: what is done by the API is not to be hidden by it.
func (w *Writes) audit(text string, args ...any) {
	line := slog.NewRecord(w.now(), slog.LevelInfo, text, 0)
	line.Add(args...)
	w.log().Handler().Handle(context.Background(), line)
}

// Unauthorized returns how many requests were refused for they showed no right.
func (w *Writes) Unauthorized() uint64 { return w.strangers.Load() }

// strangerQuiet is how long no other line is written after one about a request without a right.
const strangerQuiet = time.Minute

// unauthorized counts one request without a right, with a line a minute at most: anybody can send them.
func (w *Writes) unauthorized(who string, r *http.Request) {
	n := w.strangers.Add(1)
	w.mu.Lock()
	now := w.now()
	quiet := !w.told.IsZero() && now.Sub(w.told) < strangerQuiet
	if !quiet {
		w.told = now
	}
	w.mu.Unlock()
	if !quiet {
		w.audit("api: unauthorized", "who", who, "what", r.Method+" "+r.URL.Path, "since_start", n)
	}
}
