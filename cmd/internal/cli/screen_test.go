package cli

import (
	"os"
	"strings"
	"testing"

	"intsink/cmd/internal/progress/ptytest"
	"intsink/conf"
)

func TestTextFitsTheScreen(t *testing.T) {
	in := "FAULT  the memory of the machine is full, and nothing more fits into it now\n       > a command of more than forty characters stays one\n" +
		"  - a point that is longer than one line of forty\n0123456789012345678901234567890123456789012345\n"
	want := "FAULT  the memory of the machine is\n       full, and nothing more fits into\n       it now\n       > a command of more than forty characters stays one\n" +
		"  - a point that is longer than one line\n    of forty\n0123456789012345678901234567890123456789012345\n"
	if got := (Screen{Width: 40}).Text(in); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := (Screen{}).Text(in); got != in {
		t.Errorf("a pipe gets %s", got)
	}
	if got := (Screen{Width: 40, Colour: true}).Text(in); !strings.HasPrefix(got, "\x1b[31mFAULT\x1b[0m  the memory") || strings.Count(got, "\x1b") != 2 {
		t.Errorf("painted: %q", got)
	}
}

// TestScreenOfATerminal: a terminal has colours, unless NO_COLOR says otherwise; a file has neither width nor colours.
func TestScreenOfATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	tty := ptytest.Open(t, 77).File
	if s := ScreenOf(tty); s != (Screen{77, true}) {
		t.Errorf("%+v", s)
	}
	t.Setenv("NO_COLOR", "1")
	if s := ScreenOf(tty); s.Colour {
		t.Errorf("with NO_COLOR: %+v", s)
	}
	f, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s := ScreenOf(f); s != (Screen{}) {
		t.Errorf("a file: %+v", s)
	}
}

// TestDiagnosticsArePainted on a terminal; elsewhere they are as they were.
func TestDiagnosticsArePainted(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	_, diags := conf.Parse("a.hcl", []byte("node { id = \"no error\" }\n"))
	tty := ptytest.Open(t, 77)
	Diagnose(tty.File, diags)
	painted := tty.Wait(func(text string) bool {
		return strings.Contains(text, "\x1b[31merror:\x1b[0m ") && strings.Contains(text, "\"no error\"")
	})
	if strings.Contains(painted, "no \x1b") {
		t.Errorf("%q", painted)
	}
	var b strings.Builder
	if Diagnose(&b, diags); strings.Contains(b.String(), "\x1b") || !strings.HasPrefix(b.String(), "a.hcl: error: there is no int block") {
		t.Errorf("%q", b.String())
	}
}
