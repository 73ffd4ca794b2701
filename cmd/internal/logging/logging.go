// Makes the slog handlers of services: text, JSON, and lines with a priority for journald.

// Package logging makes the log of a program that runs as a service: text for people, JSON for machines, or
// lines for the journal of systemd, which has time and priority of its own.
package logging

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"golang.org/x/term"

	"intsink/conf"
)

// New returns a handler that writes to w as c says. "auto" is "journal" where w is
// what systemd reads, and "text" elsewhere.
func New(c conf.Log, w io.Writer) slog.Handler {
	options := &slog.HandlerOptions{Level: levels[c.Level]}
	format := c.Format
	if format == conf.AutoLog && readByJournal(w, os.Getenv("JOURNAL_STREAM")) {
		format = conf.JournalLog
	}
	switch format {
	case conf.JSONLog:
		return slog.NewJSONHandler(w, options)
	case conf.JournalLog:
		return &journal{w: w, options: options}
	}
	return slog.NewTextHandler(w, options)
}

// NewService is New for programs whose "auto" is "json" where w is no terminal and nothing
// that systemd reads: their log is collected by other programs.
func NewService(c conf.Log, w io.Writer) slog.Handler {
	f := fileOf(w)
	if c.Format == conf.AutoLog && !(f != nil && term.IsTerminal(int(f.Fd()))) && !readByJournal(w, os.Getenv("JOURNAL_STREAM")) {
		c.Format = conf.JSONLog
	}
	return New(c, w)
}

var levels = map[conf.LogLevel]slog.Level{conf.DebugLog: slog.LevelDebug, conf.InfoLog: slog.LevelInfo, conf.WarnLog: slog.LevelWarn, conf.ErrorLog: slog.LevelError}

// readByJournal reports whether w is the stream that the journal reads: systemd.exec(5) gives its
// device and inode in JOURNAL_STREAM.
func readByJournal(w io.Writer, stream string) bool {
	f := fileOf(w)
	if f == nil || stream == "" {
		return false
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && stream == fmt.Sprintf("%d:%d", s.Dev, s.Ino)
}

// journal writes "<priority>message key=value": the journal takes the priority off
// (sd-daemon(3)).
type journal struct {
	w       io.Writer
	options *slog.HandlerOptions
	attrs   []slog.Attr
	group   string
}

// Enabled implements slog.Handler.
func (j *journal) Enabled(_ context.Context, l slog.Level) bool { return l >= j.options.Level.Level() }

// WithAttrs implements slog.Handler.
func (j *journal) WithAttrs(attrs []slog.Attr) slog.Handler {
	k := *j
	k.attrs = append(j.attrs[:len(j.attrs):len(j.attrs)], attrs...)
	return &k
}

// WithGroup implements slog.Handler.
func (j *journal) WithGroup(name string) slog.Handler {
	k := *j
	k.group = name
	return &k
}

// Handle implements slog.Handler.
func (j *journal) Handle(ctx context.Context, r slog.Record) error {
	var rest bytes.Buffer
	h := slog.Handler(slog.NewTextHandler(&rest, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
			return slog.Attr{}
		}
		return a
	}}))
	if j.group != "" {
		h = h.WithGroup(j.group)
	}
	if err := h.WithAttrs(j.attrs).Handle(ctx, r); err != nil {
		return err
	}
	message := strings.ReplaceAll(r.Message, "\n", " ")
	line := fmt.Sprintf("<%d>%s", priority(r.Level), message)
	if attrs := strings.TrimSpace(rest.String()); attrs != "" {
		line += " " + attrs
	}
	_, err := io.WriteString(j.w, line+"\n")
	return err
}

// priority returns a level as syslog(3) numbers it.
func priority(l slog.Level) int {
	switch {
	case l >= slog.LevelError:
		return 3
	case l >= slog.LevelWarn:
		return 4
	case l >= slog.LevelInfo:
		return 6
	}
	return 7
}
