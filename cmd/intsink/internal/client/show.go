// Show: what most commands do: ask once, and print the answer as it is, or as text.

package client

import (
	"cmp"
	"context"
	"io"
	"net/http"

	"intsink/cmd/internal/cli"
)

// Question is a request to a running sink.
type Question struct {
	Method string // "": GET
	Path   string
	JSON   any // nil: no body
}

// Show asks the sink and prints its answer: as it came with --format json, else what text makes of it.
// Errors but cli.Failed are wrong usage.
func Show[T any](ctx context.Context, stdout io.Writer, o *Options, q Question, text func(*T) string) error {
	if q.Method == "" {
		q.Method = http.MethodGet
	}
	sink, err := o.Open()
	if err != nil {
		return err
	}
	body, err := sink.Ask(ctx, q.Method, q.Path, q.JSON)
	if err != nil {
		return cli.Failed(err)
	}
	if o.Format == "json" {
		return cmp.Or(Print(stdout, string(body)), sink.Whole())
	}
	var answer T
	if err := sink.Decode(body, &answer); err != nil {
		return cli.Failed(err)
	}
	return cmp.Or(Print(stdout, text(&answer)), sink.Whole())
}

// Print writes text; its error is not wrong usage.
func Print(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return cli.Failed(err)
	}
	return nil
}
