// The command reload: prints changes, diagnostics, what needs a restart.

// Package reload is the command reload: it asks a running sink to read its configuration
// again, and prints what that changed, or why it was refused.
package reload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/control"
)

// Options are the flags of the command.
type Options struct {
	Sink   client.Options
	Format string // "text" | "json": the answer as it is
}

// Run reloads. A refusal is an error that has been explained on stderr.
func Run(ctx context.Context, stdout, stderr io.Writer, o *Options) error {
	if o.Format != "text" && o.Format != "json" {
		return fmt.Errorf("--format %q: must be text or json", o.Format)
	}
	sink, err := o.Sink.OpenControl()
	if err != nil {
		return err
	}
	body, _, err := sink.Post(ctx, "/api/v1/reload")
	if err != nil {
		return cli.Failed(err)
	}
	var r control.Result
	if err := json.Unmarshal(body, &r); err != nil {
		return cli.Failed(sink.Decode(body, &r))
	}
	if o.Format == "json" {
		if _, err := stdout.Write(body); err != nil {
			return cli.Failed(err)
		}
	}
	switch {
	case !r.OK && r.Generation == 0: // an error of the API: nobody looked at the file
		return cli.Failed(errors.New(r.Error))
	case !r.OK:
		fmt.Fprint(stderr, findings(&r))
		return cli.Failed(fmt.Errorf("reload refused, generation %d stays in force: %s", r.Generation, r.Error))
	}
	fmt.Fprint(stderr, findings(&r))
	if o.Format == "text" {
		_, err = io.WriteString(stdout, done(&r))
	}
	if err != nil {
		return cli.Failed(err)
	}
	return nil
}

// done says what a reload changed.
func done(r *control.Result) string {
	var b strings.Builder
	what := cli.Count(len(r.Changes), "change")
	if len(r.Changes) == 0 {
		what = "no change"
	}
	fmt.Fprintf(&b, "generation %d is in force: %s\n", r.Generation, what)
	for _, c := range r.Changes {
		fmt.Fprintf(&b, "  %s\n", c)
	}
	return b.String()
}

// findings are what was found in the file, and what only a restart can change.
func findings(r *control.Result) string {
	var b strings.Builder
	for i := range r.Diagnostics {
		b.WriteString(diagnostic(&r.Diagnostics[i]))
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
