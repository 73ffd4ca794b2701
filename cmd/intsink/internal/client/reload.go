// The commands reload and confirm: send the configuration, print changes, diagnostics and
// what needs a restart.

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/status"
	"intsink/cmd/intsink/internal/upgrade"
	"intsink/conf"
)

// ReloadOptions are the flags of the commands reload, confirm and config rollback.
type ReloadOptions struct {
	Sink     Options
	Confirm  time.Duration
	Limits   []string // "reports=2000/s", "poll_gap=1ms"
	Tolerate []string // kinds of problems that do not end a trial
	Comment  string   // for the history
}

// Reload reloads: the sink's own file, or what --config names. A refusal is an error that has
// been explained on stderr.
func Reload(ctx context.Context, stdout, stderr io.Writer, o *ReloadOptions) error {
	q, err := o.request()
	if err != nil {
		return err
	}
	return o.send(ctx, stdout, stderr, "/api/v1/reload", q)
}

// Confirm ends the trial of the configuration in force, or of the program that runs: it stays or, with back, the one before it
// returns. A program that stays is installed.
func Confirm(ctx context.Context, stdout, stderr io.Writer, o *ReloadOptions, back bool) error {
	sink, err := o.Sink.Open()
	if err != nil {
		return err
	}
	var s status.Status
	if err := sink.Read(ctx, "/api/v1/status", &s); err != nil || s.Config == nil || s.Config.Trial == nil || s.Config.Trial.Program == "" {
		return o.send(ctx, stdout, stderr, "/api/v1/confirm", &control.Confirmation{Back: back}) // which says what is wrong, where something is
	}
	if back {
		if _, err := sink.Ask(ctx, http.MethodPost, "/api/v1/confirm", &control.Confirmation{Back: true}); err != nil {
			return cli.Failed(err)
		}
		return Print(stdout, "the program before it comes back\n")
	}
	return confirmProgram(stdout, stderr, sink)
}

// confirmProgram confirms the program on trial to the one that watches over it, and installs it.
func confirmProgram(stdout, stderr io.Writer, sink *Sink) error {
	if sink.socket == "" {
		return cli.Failed(errors.New("which program runs is decided on the machine: ask on the sink's unix socket, as root"))
	}
	own, worse, err := upgrade.Confirm(sink.socket)
	if err != nil {
		return cli.Failed(fmt.Errorf("not confirmed: %w", err))
	}
	defer own.Close()
	for _, w := range worse {
		fmt.Fprintf(stderr, "worse than before: %s\n", w)
	}
	if err := own.Install(); err != nil {
		return cli.Failed(fmt.Errorf("it stays until the next restart, and could not be installed: %w; %s is the file", err, upgrade.Next(own.Path())))
	}
	return Print(stdout, fmt.Sprintf("confirmed and installed; the program before it is kept: %s\n", upgrade.Before(own.Path())))
}

// Against prints how the configuration of o differs from the running sink's. It is an error if a
// reload would refuse a part of it.
func Against(ctx context.Context, stdout, stderr io.Writer, o *ReloadOptions) error {
	q, err := o.request()
	if err != nil {
		return err
	}
	q.DryRun = true
	return o.send(ctx, stdout, stderr, "/api/v1/reload", q)
}

// request is what the flags ask for.
func (o *ReloadOptions) request() (*control.Request, error) {
	q := &control.Request{Confirm: control.Duration(o.Confirm), Comment: o.Comment}
	for _, k := range o.Tolerate {
		q.Tolerate = append(q.Tolerate, problem.Kind(k))
	}
	for _, text := range o.Limits {
		if q.Limit == nil {
			q.Limit = &control.Limit{}
		}
		if err := limit(q.Limit, text); err != nil {
			return nil, err
		}
	}
	if err := q.Check(); err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	if o.Sink.Config == "" {
		return q, nil
	}
	sources, err := conf.ReadSources(o.Sink.Config)
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("--config %s: %w", o.Sink.Config, err))
	}
	if q.Name, err = filepath.Abs(o.Sink.Config); err != nil {
		q.Name = o.Sink.Config
	}
	for _, f := range sources {
		q.Files = append(q.Files, control.File{Name: f.Name, Text: string(f.Text)})
	}
	return q, nil
}

// limit sets in l what text says.
func limit(l *control.Limit, text string) error {
	name, value, _ := strings.Cut(text, "=")
	var err error
	switch name {
	case "reports":
		l.Reports, err = strconv.ParseUint(strings.TrimSuffix(value, "/s"), 10, 64)
		if err == nil && l.Reports == 0 {
			err = errors.New("0 is no limit")
		}
	case "poll_gap":
		err = l.PollGap.UnmarshalText([]byte(value))
		if err == nil && l.PollGap <= 0 {
			err = errors.New("0 is no limit")
		}
	default:
		return fmt.Errorf("--limit %q: must be such as reports=2000/s or poll_gap=1ms", text)
	}
	if err != nil {
		return fmt.Errorf("--limit %q: must be such as reports=2000/s or poll_gap=1ms: %w", text, err)
	}
	return nil
}

// send posts q to the sink, and prints the answer.
func (o *ReloadOptions) send(ctx context.Context, stdout, stderr io.Writer, path string, q any) error {
	sink, err := o.Sink.Open()
	if err != nil {
		return err
	}
	body, _, err := sink.Answer(ctx, http.MethodPost, path, q)
	if err != nil {
		return cli.Failed(err)
	}
	var r control.Result
	if err := sink.Decode(body, &r); err != nil {
		return cli.Failed(err)
	}
	if o.Sink.Format == "json" {
		if err := Print(stdout, string(body)); err != nil {
			return err
		}
	}
	switch {
	case !r.OK && r.Generation == 0: // an error of the API: nobody looked at the file
		return cli.Failed(errors.New(r.Error))
	case !r.OK && r.DryRun:
		fmt.Fprint(stderr, findings(&r))
		return cli.Failed(fmt.Errorf("a reload would refuse it: %s", r.Error))
	case !r.OK:
		fmt.Fprint(stderr, findings(&r))
		return cli.Failed(fmt.Errorf("reload refused, generation %d stays in force: %s", r.Generation, r.Error))
	}
	fmt.Fprint(stderr, findings(&r))
	if o.Sink.Format == "json" {
		return nil
	}
	return Print(stdout, done(&r))
}

// done says what a reload changed.
func done(r *control.Result) string {
	var b strings.Builder
	what := cli.Count(len(r.Changes), "change")
	if len(r.Changes) == 0 {
		what = "no change"
	}
	if r.DryRun {
		fmt.Fprintf(&b, "a reload would make %s to generation %d\n", what, r.Generation)
	} else {
		fmt.Fprintf(&b, "generation %d is in force: %s\n", r.Generation, what)
	}
	for _, c := range r.Changes {
		fmt.Fprintf(&b, "  %s\n", c)
	}
	if r.Trial != nil {
		fmt.Fprintf(&b, "on trial: generation %d's configuration comes back at %s, unless intsink confirm comes before\n", r.Trial.BackTo, r.Trial.Until.Format(time.RFC3339))
	}
	for _, w := range r.Worse {
		fmt.Fprintf(&b, "worse than before: %s\n", w)
	}
	if r.Note != "" {
		fmt.Fprintf(&b, "note: %s\n", r.Note)
	}
	return b.String()
}

// findings returns the diagnostics of the file, and the changes that take a restart.
func findings(r *control.Result) string {
	var b strings.Builder
	for i := range r.Diagnostics {
		b.WriteString(diagnostic(&r.Diagnostics[i]))
	}
	if r.DryRun && !r.OK && len(r.Changes) > 0 {
		fmt.Fprintf(&b, "%s to generation %d:\n", cli.Count(len(r.Changes), "change"), r.Generation)
		for _, c := range r.Changes {
			fmt.Fprintf(&b, "  %s\n", c)
		}
	}
	if len(r.NeedsRestart) > 0 {
		b.WriteString("only a restart can change:\n")
		for _, c := range r.NeedsRestart {
			fmt.Fprintf(&b, "  %s\n", c)
		}
	}
	return b.String()
}

// diagnostic is one as check prints it.
func diagnostic(d *control.Diagnostic) string {
	at := d.File
	if d.Line > 0 {
		at += fmt.Sprintf(":%d:%d", d.Line, d.Column)
	}
	s := fmt.Sprintf("%s: %s: %s\n", at, d.Severity, d.Message)
	if d.Snippet != "" {
		s += d.Snippet + "\n"
	}
	return s
}
