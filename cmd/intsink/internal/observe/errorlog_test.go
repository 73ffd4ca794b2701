package observe

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestScannersDoNotFillTheLog: of the errors of connections one a minute is written, with how many
// were not.
func TestScannersDoNotFillTheLog(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(before)
	now := time.Unix(1e9, 0)
	e := &errorLog{now: func() time.Time { return now }}
	for i := range 1000 {
		fmt.Fprintf(e, "http: TLS handshake error from 192.0.2.%d: EOF\n", i%256)
	}
	now = now.Add(quiet)
	fmt.Fprint(e, "http: TLS handshake error from 192.0.2.7: EOF\n")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "192.0.2.0: EOF") || !strings.Contains(lines[1], "192.0.2.7: EOF\" not_logged_before=999") {
		t.Errorf("%d lines\n%s", len(lines), out.String())
	}
}
