package observe

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// However many ask, the runtime is asked once a second: asking stops the workers.
func TestProcessIsReadOnceASecond(t *testing.T) {
	var p processText
	reads := 0
	read := func(w io.Writer) {
		reads++
		fmt.Fprintf(w, "# HELP process_x\n# TYPE process_x gauge\nprocess_x %d\n", reads)
	}
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {1, 1}, {999 * time.Millisecond, 1}, {time.Second, 2}, {1500 * time.Millisecond, 2}, {10 * time.Second, 3}} {
		var out bytes.Buffer
		if err := p.write(&out, start.Add(c.after), read); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("process_x %d\n", c.want); reads != c.want || !strings.HasSuffix(out.String(), want) {
			t.Errorf("after %v: %d reads, %q, want %q at the end", c.after, reads, out.String(), want)
		}
	}
}

// TestProcessReadThatHangs: while one request reads /proc, and hangs, other requests get the text of the last read.
func TestProcessReadThatHangs(t *testing.T) {
	var p processText
	read := func(text string) func(io.Writer) { return func(w io.Writer) { fmt.Fprintln(w, text) } }
	start := time.Unix(1000, 0)
	if err := p.write(io.Discard, start, read("process_x 1")); err != nil {
		t.Fatal(err)
	}
	began, hangs, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		p.write(io.Discard, start.Add(time.Minute), func(io.Writer) { close(began); <-hangs })
	}()
	<-began
	var out bytes.Buffer
	if err := p.write(&out, start.Add(time.Minute), read("process_x 2")); err != nil || out.String() != "process_x 1\n" {
		t.Errorf("%v, %q", err, &out)
	}
	close(hangs)
	<-ended
}
