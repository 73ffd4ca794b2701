// Log: writes at most a few lines of one message in ten seconds, and each of them once.

package collect

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Log writes at most 3 different lines of one message in 10 seconds and counts the others, so that
// neither a sender of bad packets nor a broker that is away can fill a disk.
type Log struct {
	out   *slog.Logger
	clock func() time.Time

	mu   sync.Mutex
	seen map[string]*burst
}

const (
	logLines  = 3
	logPeriod = 10 * time.Second
)

// burst are the lines of one message in a period: those written, and how many were left out.
type burst struct {
	since   time.Time
	written []string
	left    int
}

// NewLog makes a Log that writes to out.
func NewLog(out *slog.Logger) *Log {
	return &Log{out: out, clock: time.Now, seen: map[string]*burst{}}
}

// Say logs an error. Callers pass msg from a closed list: the memory of Log grows with it.
func (l *Log) Say(msg string, args ...any) {
	text := fmt.Sprint(args...)
	l.mu.Lock()
	now := l.clock()
	b := l.seen[msg]
	if b == nil || now.Sub(b.since) >= logPeriod {
		left := 0
		if b != nil {
			left = b.left
		}
		b = &burst{since: now}
		l.seen[msg] = b
		if left > 0 {
			args = append(args, "left_out_before", left)
		}
	}
	write := len(b.written) < logLines && !slices.Contains(b.written, text)
	if write {
		b.written = append(b.written, text)
	} else {
		b.left++
	}
	l.mu.Unlock()
	if write {
		l.out.Error(msg, args...)
	}
}
