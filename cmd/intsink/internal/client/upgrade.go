// The command upgrade: has another program take the sink's place, and confirms it where its first minute was good.

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/status"
	"intsink/cmd/intsink/internal/upgrade"
)

const (
	firstMinute  = time.Minute      // that has to be good where nobody confirms
	overtime     = 30 * time.Second // beyond it, for this command
	takesOver    = 90 * time.Second // for the new program to answer
	lookPatience = 5 * time.Second  // for the sink to answer, between two programs
)

// Upgrade has the program in file take the place of the sink's. An error says why it did not, or went.
func Upgrade(ctx context.Context, stdout, stderr io.Writer, o *ReloadOptions, file string) error {
	waits := o.Confirm == 0
	if waits {
		o.Confirm = firstMinute + overtime
	}
	asked := *o
	asked.Sink.Config = "" // it says where the sink is
	q, err := asked.request()
	if err != nil {
		return err
	}
	sink, err := o.Sink.Open()
	if err != nil {
		return err
	}
	var s status.Status
	if err := sink.Read(ctx, "/api/v1/status", &s); err != nil {
		return cli.Failed(err)
	}
	own, err := sink.program()
	if err != nil {
		return cli.Failed(err)
	}
	defer own.Close()
	version, err := own.Prepare(file)
	if err != nil {
		return cli.Failed(fmt.Errorf("refused, nothing has changed: %w", err))
	}
	fmt.Fprintf(stderr, "intsink %s runs, %s is to take over\n", s.Version, version)
	begun := time.Now()
	var r control.Result
	body, err := sink.Ask(ctx, http.MethodPost, "/api/v1/upgrade", q)
	if err == nil {
		err = sink.Decode(body, &r)
	}
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		own.Forget()
	}
	if err != nil {
		return cli.Failed(fmt.Errorf("refused, nothing has changed: %w", err))
	}
	t, err := awaitSuccessor(ctx, sink, begun)
	if err != nil {
		return err
	}
	if !waits {
		return Print(stdout, fmt.Sprintf("on trial: %s runs, and intsink %s comes back at %s, unless intsink confirm comes before\n", version, t.Program, t.Until.Format(time.RFC3339)))
	}
	fmt.Fprintf(stderr, "%s runs; it stays if its first minute is good\n", version)
	for end := begun.Add(firstMinute); time.Now().Before(end); {
		if err := rest(ctx, time.Second); err != nil {
			return err
		}
		if _, err := awaitSuccessor(ctx, sink, begun); err != nil {
			return err
		}
	}
	return Confirm(ctx, stdout, stderr, o, false)
}

// awaitSuccessor waits until the sink answers with the new program's trial. The error says how that ended.
func awaitSuccessor(ctx context.Context, sink *Sink, asked time.Time) (*status.Trial, error) {
	for end := time.Now().Add(takesOver); ; {
		var s status.Status
		one, cancel := context.WithTimeout(ctx, lookPatience)
		err := sink.Read(one, "/api/v1/status", &s)
		cancel()
		if err == nil && s.Config != nil {
			if t := s.Config.Trial; t != nil && t.Program != "" {
				return t, nil
			}
			if t := s.Config.LastTrial; t != nil && t.Program != "" && t.Ended.After(asked) {
				if t.Result != "confirmed" {
					return nil, cli.Failed(errors.New(t.Text()))
				}
				return nil, cli.Failed(fmt.Errorf("somebody else has: %s", t.Why))
			}
		}
		if time.Now().After(end) {
			return nil, cli.Failed(fmt.Errorf("neither program has answered for %v: intsink status, and the sink's log, tell more (last: %w)", takesOver, err))
		}
		if err := rest(ctx, 250*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// rest waits, and returns an error where ctx ends: the new program is not confirmed then.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return cli.Failed(errors.New("ended: the program before comes back, unless intsink confirm comes"))
	case <-time.After(d):
		return nil
	}
}

// program is the one that is installed, which the sink runs that has answered last: the kernel says which process that is, and what
// the sink says is not asked for.
func (s *Sink) program() (*upgrade.Program, error) {
	if s.socket == "" {
		return nil, errors.New(`an upgrade takes the sink's unix socket, from root: http { socket = "/run/intsink.sock" } and a restart make one`)
	}
	return upgrade.Of(int(s.pid.Load()))
}
