package kafka

import (
	"log/slog"

	"intsink/exporters/collect"
)

// logTo returns a logger that writes its lines into s.
func logTo(s *said) *collect.Log {
	return collect.NewLog(slog.New(slog.NewTextHandler(writer{s}, nil)))
}

type writer struct{ s *said }

func (w writer) Write(p []byte) (int, error) {
	w.s.say(string(p))
	return len(p), nil
}
