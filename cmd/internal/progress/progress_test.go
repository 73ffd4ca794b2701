package progress

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/progress/ptytest"
)

// TestLine: nothing for a second, then a line that is renewed, cut to the terminal's width,
// erased before other text and at the end.
func TestLine(t *testing.T) {
	t.Setenv("TERM", "xterm")
	screen := ptytest.Open(t, 60)
	l := New(screen.File, "x.pcap", 4000, "4 KiB")
	if l == nil {
		t.Fatal("a terminal is taken for none")
	}
	now := time.Unix(1_700_000_000, 0)
	l.start, l.next, l.clock = now, now.Add(patience), func() time.Time { return now }
	step := func(d time.Duration, done int64, packets uint64) {
		now = now.Add(d)
		for range rarely {
			l.Step(done, packets)
		}
	}
	step(999*time.Millisecond, 100, 10)
	l.Done()
	step(time.Millisecond, 1000, 500)
	step(199*time.Millisecond, 1001, 501) // too soon
	step(801*time.Millisecond, 2000, 4000)
	fmt.Fprintln(l.Above(screen.File), "warning")
	fmt.Fprintln(l.Above(screen.File), "again")
	l.what = strings.Repeat("x", 60)
	step(time.Second, 4000, 9000)
	l.Done()
	l.Done()
	fmt.Fprint(screen.File, "end")
	want := "\rx.pcap: 25 % of 4 KiB, 500 packets/s, 3s left\x1b[K" +
		"\rx.pcap: 50 % of 4 KiB, 2000 packets/s, 2s left\x1b[K" +
		"\r\x1b[Kwarning\r\nagain\r\n" +
		"\r" + strings.Repeat("x", 59) + "\x1b[K\r\x1b[Kend"
	if got := screen.Wait(func(s string) bool { return strings.HasSuffix(s, "end") }); got != want {
		t.Errorf("%q, want\n%q", got, want)
	}
}

// TestLineWithoutATotal: of a pipe nobody knows the end.
func TestLineWithoutATotal(t *testing.T) {
	l := &Line{what: "standard input"}
	if got := l.text(2*time.Second, 12345, 100); got != "standard input: 100 packets, 50 packets/s" {
		t.Error(got)
	}
	l.total, l.amount = 1000, "1 KiB"
	if got := l.text(2*time.Second, 5000, 100); got != "standard input: 100 % of 1 KiB, 50 packets/s, 0s left" {
		t.Errorf("a file that grew: %s", got)
	}
}

// TestNoTerminal: nothing is shown, and what is printed is printed.
func TestNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	screen := ptytest.Open(t, 80)
	t.Setenv("TERM", "dumb")
	for name, l := range map[string]*Line{
		"a file": New(f, "x", 1, "1"), "a buffer": New(&bytes.Buffer{}, "x", 1, "1"), "a dumb terminal": OfFile(screen.File, "x", f),
	} {
		t.Run(name, func(t *testing.T) {
			if l != nil {
				t.Fatal("there is a line")
			}
			var b bytes.Buffer
			l.Step(1, 1)
			l.Done()
			if fmt.Fprint(l.Above(&b), "text"); b.String() != "text" {
				t.Errorf("%q", b.String())
			}
		})
	}
}
