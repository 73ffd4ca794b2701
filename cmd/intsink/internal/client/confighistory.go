// The commands config history, diff and rollback: print the last configurations, what changed between two, and go back to one.

package client

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/confighistory"
	"intsink/cmd/intsink/internal/control"
)

// History prints the last configurations, the newest first.
func History(ctx context.Context, stdout io.Writer, o *Options) error {
	return Show(ctx, stdout, o, Question{Path: "/api/v1/config/history"}, func(list *struct{ Items []confighistory.Entry }) string {
		var b strings.Builder
		for i := range list.Items {
			e := &list.Items[i]
			fmt.Fprintf(&b, "%d  %s  by %s  %s\n", e.Number, e.Time.Format(time.RFC3339), e.By, e.Result)
			fmt.Fprintf(&b, "    %s  sha256 %.12s\n", e.Config, e.SHA256)
			if e.Comment != "" {
				fmt.Fprintf(&b, "    %s\n", e.Comment)
			}
		}
		if len(list.Items) == 0 {
			b.WriteString("no configuration is kept\n")
		}
		return b.String()
	})
}

// Diff prints what changed from configuration from to another, or with to of 0 to the one in force.
func Diff(ctx context.Context, stdout io.Writer, o *Options, from, to uint64) error {
	path := fmt.Sprintf("/api/v1/config/diff?from=%d", from)
	if to != 0 {
		path += fmt.Sprintf("&to=%d", to)
	}
	return Show(ctx, stdout, o, Question{Path: path}, func(d *confighistory.Diff) string {
		if len(d.Changes) == 0 {
			return "no change\n"
		}
		text := ""
		for _, c := range d.Changes {
			text += c.String() + "\n"
		}
		return text
	})
}

// trialOfRollback is how long a rollback is on trial, unless it is said otherwise.
const trialOfRollback = 10 * time.Minute

// Rollback puts configuration n of the history into force: on trial, unless sure.
func Rollback(ctx context.Context, stdout, stderr io.Writer, o *ReloadOptions, n uint64, sure bool, comment string) error {
	q := &control.Request{Rollback: n, Comment: comment, Confirm: control.Duration(o.Confirm)}
	switch {
	case sure && o.Confirm != 0:
		return fmt.Errorf("--yes and --confirm: it is on trial, or it is not")
	case !sure && o.Confirm == 0:
		q.Confirm = control.Duration(trialOfRollback)
	}
	if err := q.Check(); err != nil {
		return fmt.Errorf("--%w", err)
	}
	return o.send(ctx, stdout, stderr, "/api/v1/reload", q)
}
