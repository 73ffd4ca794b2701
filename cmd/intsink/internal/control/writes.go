package control

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of what writes may take.
const (
	maxBody       = 64 << 10
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

// Writes decides who may write, and counts and logs each write that was tried.
type Writes struct {
	now    func() time.Time
	log    func() *slog.Logger
	counts [NumWriteResults]atomic.Uint64

	mu   sync.Mutex
	next time.Time // when the next write would be due if they came evenly
}

// NewWrites makes a Writes that logs to log.
func NewWrites(log func() *slog.Logger) *Writes { return &Writes{now: time.Now, log: log} }

// Count is how many writes had the result r.
func (w *Writes) Count(r WriteResult) uint64 { return w.counts[r].Load() }

// who asks is a connection's other end; http.Server.ConnContext puts it into the context of
// requests.
type whoKey struct{}

// ConnContext is for http.Server: requests carry who is at the other end.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, whoKey{}, c.RemoteAddr())
}

// authority is who asks, and why he may not write.
func authority(r *http.Request) (who string, err error) {
	p, ok := r.Context().Value(whoKey{}).(peer)
	if !ok {
		return "tcp " + r.RemoteAddr, fmt.Errorf("writes are taken on the unix socket alone (http.socket): intsink reload --socket PATH")
	}
	who = p.String()
	if p.uid != 0 && p.uid != os.Geteuid() {
		return who, fmt.Errorf("uid %d may not write: root may, and the user that the sink runs as", p.uid)
	}
	return who, nil
}

// room takes a place among the writes of now; false: there were too many.
func (w *Writes) room() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if w.next.Before(now) {
		w.next = now
	}
	if w.next.Sub(now) > writesPer*(writesAtOnce-1) {
		return false
	}
	w.next = w.next.Add(writesPer)
	return true
}

// done counts and logs one write.
func (w *Writes) done(who string, r *http.Request, result WriteResult, err string) {
	w.counts[result].Add(1)
	args := []any{"who", who, "what", r.Method + " " + r.URL.Path, "result", result.String()}
	if err != "" {
		args = append(args, "err", err)
	}
	w.log().Info("api: write", args...)
}
