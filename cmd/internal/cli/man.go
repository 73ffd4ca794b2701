// Writes manual pages in roff for all commands.

package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NewManCommand returns the hidden command that writes a manual page for root and for
// each command below it: packages install them.
func NewManCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIRECTORY",
		Short:   "Write manual pages",
		Long:    "Write a manual page (section 1) for each command into DIRECTORY.",
		Example: "  " + root.Name() + " man /usr/share/man/man1",
		Hidden:  true,
		Args:    OneArg("DIRECTORY"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := writeMan(root, args[0]); err != nil {
				return Failed(err)
			}
			return nil
		},
	}
}

// writeMan writes the page of c and those of its subcommands.
func writeMan(c *cobra.Command, dir string) error {
	if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
		return nil
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
	if err := WriteFile(filepath.Join(dir, name), []byte(manPage(c))); err != nil {
		return err
	}
	for _, below := range c.Commands() {
		if err := writeMan(below, dir); err != nil {
			return err
		}
	}
	return nil
}

// manPage returns the page of one command in the language of man(7).
func manPage(c *cobra.Command) string {
	var b strings.Builder
	title := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"intsink manual\"\n", strings.ToUpper(title), c.Root().Name()+" "+c.Root().Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(title), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", strings.ReplaceAll(roff(c.Long), "\n\n", "\n.PP\n"))
	options := func(head string, flags *pflag.FlagSet) {
		if !flags.HasAvailableFlags() {
			return
		}
		fmt.Fprintf(&b, ".SH %s\n", head)
		flags.VisitAll(func(f *pflag.Flag) {
			fmt.Fprintf(&b, ".TP\n.B \\-\\-%s\n%s", roff(f.Name), roff(f.Usage))
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
				fmt.Fprintf(&b, " (default %s)", roff(f.DefValue))
			}
			b.WriteString("\n")
		})
	}
	options("OPTIONS", c.NonInheritedFlags())
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	b.WriteString(".SH SEE ALSO\n")
	var others []string
	if c.HasParent() {
		others = append(others, c.Parent().CommandPath())
	}
	for _, below := range c.Commands() {
		if !below.Hidden && below.Name() != "help" && below.Name() != "completion" {
			others = append(others, below.CommandPath())
		}
	}
	for i, o := range others {
		end := ","
		if i == len(others)-1 {
			end = ""
		}
		fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(strings.ReplaceAll(o, " ", "-")), end)
	}
	return b.String()
}

// roff escapes text: backslashes, hyphens that are to be copied, and lines that begin
// with a control character.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
