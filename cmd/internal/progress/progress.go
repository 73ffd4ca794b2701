// Package progress shows on a terminal how far a command is: how much is done, at what rate,
// and how long the rest will take, in one line that is renewed and erased at the end.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"intsink/cmd/internal/cli"
)

// Line is the line of one command. A nil Line shows nothing: there is no terminal.
type Line struct {
	terminal *os.File
	what     string
	amount   string // how much all of it is, in words
	total    int64  // how much all of it is, as Step has it; 0: nobody knows
	clock    func() time.Time
	start    time.Time
	next     time.Time // of the line
	calls    int
	shown    bool
}

const (
	patience = time.Second            // who takes no longer shows nothing
	renewal  = 200 * time.Millisecond // of the line
	rarely   = 256                    // calls of Step to one look at the clock
)

// New begins a line on w, which may be anything: nil where it is no terminal. total is how
// much there is to do, 0 where nobody knows, and amount the same in words.
func New(w io.Writer, what string, total int64, amount string) *Line {
	if !IsTerminal(w) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	l := &Line{terminal: w.(*os.File), what: what, amount: amount, total: total, clock: time.Now}
	l.start = l.clock()
	l.next = l.start.Add(patience)
	return l
}

// OfFile begins a line about reading f; Step is to have the bytes that were read of it.
func OfFile(w io.Writer, what string, f *os.File) *Line {
	size := int64(0)
	if s, err := f.Stat(); err == nil && s.Mode().IsRegular() {
		size = s.Size()
	}
	return New(w, what, size, cli.Size(int(size)))
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Step says how much is done, and how many packets that was. It may be called for each.
func (l *Line) Step(done int64, packets uint64) {
	if l == nil {
		return
	}
	if l.calls++; l.calls%rarely != 0 {
		return
	}
	now := l.clock()
	if now.Before(l.next) {
		return
	}
	l.next = now.Add(renewal)
	l.shown = true
	text := l.text(now.Sub(l.start), done, packets)
	if width, _, err := term.GetSize(int(l.terminal.Fd())); err == nil && width > 0 && len(text) >= width {
		text = text[:width-1]
	}
	fmt.Fprintf(l.terminal, "\r%s\x1b[K", text)
}

// text returns the line after so long.
func (l *Line) text(after time.Duration, done int64, packets uint64) string {
	rate := fmt.Sprintf("%.0f packets/s", float64(packets)/after.Seconds())
	if l.total <= 0 || done <= 0 {
		return fmt.Sprintf("%s: %d packets, %s", l.what, packets, rate)
	}
	done = min(done, l.total)
	left := time.Duration(float64(after) * float64(l.total-done) / float64(done))
	return fmt.Sprintf("%s: %d %% of %s, %s, %s left", l.what, 100*done/l.total, l.amount, rate, left.Round(time.Second))
}

// Done erases the line. It appears again where Step is called again.
func (l *Line) Done() {
	if l != nil && l.shown {
		fmt.Fprint(l.terminal, "\r\x1b[K")
		l.shown = false
	}
}

// Above is w for what is printed while the line may be there: it is erased first.
func (l *Line) Above(w io.Writer) io.Writer {
	if l == nil {
		return w
	}
	return above{l, w}
}

type above struct {
	line *Line
	w    io.Writer
}

func (a above) Write(b []byte) (int, error) {
	a.line.Done()
	return a.w.Write(b)
}
