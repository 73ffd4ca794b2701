// The command mode: asks a running sink for its mode, or to change it; prints the answer.

package failopen

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/client"
)

// RunMode asks the sink to change to a mode, unless it is "", and prints which one is in force.
func RunMode(ctx context.Context, stdout io.Writer, o *client.Options, mode string) error {
	q := client.Question{Path: "/api/v1/mode"}
	if mode != "" {
		if _, err := ParseMode(mode); err != nil {
			return err
		}
		q.Method, q.JSON = http.MethodPost, Request{mode}
	}
	return client.Show(ctx, stdout, o, q, text)
}

// does says what each mode does.
var does = map[string]string{
	"full":   "INT is removed, flows are watched",
	"strip":  "INT is removed; no flows, events and reports",
	"pass":   "packets pass as they came, with their INT",
	"bypass": "packets pass as they came, and the bypass switch takes them around the sink",
}

// text returns s as text for people.
func text(s *State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "mode %s since %s: %s\n", s.Mode, s.Since.Format(time.RFC3339), does[s.Mode])
	if s.Why != "" {
		fmt.Fprintf(&b, "  %s\n", s.Why)
	}
	if s.Asked != s.Mode {
		fmt.Fprintf(&b, "  asked for: %s; the load asks for: %s\n", s.Asked, s.Overload)
	}
	switch {
	case s.Switch == nil && s.Mode == "bypass":
		b.WriteString("  there is no bypass { command }: packets still go through the sink\n")
	case s.Switch != nil:
		fmt.Fprintf(&b, "bypass switch: %s%s\n", s.Switch.State, behind(": ", s.Switch.Why))
		if s.Switch.Error != "" {
			fmt.Fprintf(&b, "  its command failed: %s\n", s.Switch.Error)
		}
	}
	return b.String()
}

func behind(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}
