// Writes counts, sizes, times and shortened text for messages.

package cli

import (
	"fmt"
	"strings"
	"time"
)

// Count returns a number of things in words: 1 report, 2 reports.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Size is n bytes in a unit that is easy to read.
func Size(n int) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
}

// Short cuts s to what a message has room for.
func Short(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}

// Lasted is a time of whole seconds, such as 40s, 3m or 1h5m.
func Lasted(seconds int) string {
	text := (time.Duration(seconds) * time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
