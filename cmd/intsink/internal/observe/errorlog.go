// errorLog: bounds what clients can make the HTTP server write to the log.

package observe

import (
	"bytes"
	"log"
	"log/slog"
	"sync"
	"time"
)

// quiet is how long nothing more is written after a line about a client's connection.
const quiet = time.Minute

// errorLog takes the lines of an http.Server, which writes one for each handshake that fails: who
// scans the port would fill the disk. It writes the first to the log, and counts those within the
// next minute for the line after that.
type errorLog struct {
	now func() time.Time

	mu      sync.Mutex
	last    time.Time
	skipped uint64
}

func newErrorLog() *log.Logger { return log.New(&errorLog{now: time.Now}, "", 0) }

// Write implements io.Writer. It gets one line.
func (e *errorLog) Write(line []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if !e.last.IsZero() && now.Sub(e.last) < quiet {
		e.skipped++
		return len(line), nil
	}
	slog.Warn("http: a connection failed", "err", string(bytes.TrimSpace(line)), "not_logged_before", e.skipped)
	e.last, e.skipped = now, 0
	return len(line), nil
}
