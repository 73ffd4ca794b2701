// The interactive screen of top: reads keys, writes ANSI sequences, fits lines to the
// width.

package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"intsink/cmd/internal/cli"
)

// ANSI sequences (ECMA-48): the alternate screen and back, home, rest of line, rest of
// screen, reverse and normal.
const (
	enter, leave    = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
	home            = "\x1b[H"
	clearLine       = "\x1b[K"
	clearRest       = "\x1b[J"
	reverse, normal = "\x1b[7m", "\x1b[0m"
)

// help is the last line of the screen.
const help = "1-7 or Tab: view   s: order of flows   Space: now   q: quit"

// interact shows the viewer's view until q is typed.
func interact(ctx context.Context, v *viewer, o *Options) error {
	in, out := int(os.Stdin.Fd()), int(os.Stdout.Fd())
	if !term.IsTerminal(in) || !term.IsTerminal(out) {
		return errors.New("top needs a terminal; --once prints one screen to whatever stdout is")
	}
	before, err := term.MakeRaw(in)
	if err != nil {
		return cli.Failed(fmt.Errorf("the terminal does not take single keys: %w; use --once", err))
	}
	defer term.Restore(in, before)
	v.colour = cli.ScreenOf(os.Stdout).Colour
	if s, err := v.ask(ctx); err == nil { // so that the first screen has rates
		v.before = s
		pause(ctx)
	}
	fmt.Print(enter)
	defer fmt.Print(leave)
	keys := make(chan byte)
	go readKeys(keys)
	tick := time.NewTicker(o.Every)
	defer tick.Stop()
	for {
		width, height, err := term.GetSize(out)
		if err != nil {
			width, height = 80, 24
		}
		os.Stdout.WriteString(v.screen(ctx, width, height))
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case k, ok := <-keys:
			if !ok || v.press(k) {
				return nil
			}
		}
	}
}

// readKeys passes on the keys that are typed.
func readKeys(keys chan<- byte) {
	defer close(keys)
	var b [16]byte
	for {
		n, err := os.Stdin.Read(b[:])
		if err != nil {
			return
		}
		for _, k := range b[:n] {
			keys <- k
		}
	}
}

// press does what a key is for; true: quit.
func (v *viewer) press(k byte) (quit bool) {
	switch k {
	case 'q', 'Q', 3: // 3: Control-C, which a raw terminal hands over as a key
		return true
	case '\t':
		names := Names()
		v.view = names[(slices.Index(names, v.view)+1)%len(names)]
	case 's':
		v.sort = sorts[(slices.Index(sorts, v.sort)+1)%len(sorts)]
	}
	for i := range views {
		if views[i].key == k {
			v.view = views[i].name
		}
	}
	return false
}

// screen is a whole screen: headline, tabs, the view, keys.
func (v *viewer) screen(ctx context.Context, width, height int) string {
	lines, err := v.lines(ctx, max(height-5, 1), width)
	if err != nil {
		lines = []string{"", "", err.Error(), "It is asked again by itself."}
	}
	var tabs []string
	for i := range views {
		tab := fmt.Sprintf(" %c %s ", views[i].key, views[i].name)
		if views[i].name == v.view {
			tab = reverse + tab + normal
		}
		tabs = append(tabs, tab)
	}
	title := ""
	if v.view == "flows" {
		title = "  by " + v.sort
	}
	var b strings.Builder
	b.WriteString(home + v.paint(cut(lines[0], width)) + clearLine + "\r\n")
	b.WriteString(strings.Join(tabs, "") + title + clearLine + "\r\n")
	for _, l := range lines[1:min(len(lines), height-2)] {
		b.WriteString(v.paint(cut(l, width)) + clearLine + "\r\n")
	}
	b.WriteString(clearRest + fmt.Sprintf("\x1b[%d;1H", height) + cut(help, width) + clearLine)
	return b.String()
}

// paint colours what is wrong, where the terminal shows colours.
func (v *viewer) paint(line string) string { return cli.Screen{Colour: v.colour}.Paint(line) }

// cut is a line of text, names of others in it, in width characters.
func cut(s string, width int) string {
	s = cli.PrintableText(s)
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:max(width-1, 0)]) + "…"
}
