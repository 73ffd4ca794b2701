package kafka

import "log/slog"

// logTo is a logger whose lines s keeps.
func logTo(s *said) *slog.Logger {
	return slog.New(slog.NewTextHandler(writer{s}, nil))
}

type writer struct{ s *said }

func (w writer) Write(p []byte) (int, error) {
	w.s.say(string(p))
	return len(p), nil
}
