// Package tool is what the programs in bench/cmd have in common as commands: their flags, help
// and exit code.
//
// They use the standard library's flag and not cobra, as they are no subcommands of intsink:
// flag takes a flag with two dashes as with one, and the help shows two, as intsink has them.
package tool

import (
	"flag"
	"fmt"
	"os"
)

// Main runs a program: run defines its flags in flag.CommandLine and calls flag.Parse. An
// error is printed behind the program's name, and the exit code is 1.
func Main(name string, run func() error) {
	flag.CommandLine.Usage = func() { usage(flag.CommandLine, name) }
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// usage prints the flags, one or two lines each.
func usage(flags *flag.FlagSet, name string) {
	out := flags.Output()
	fmt.Fprintf(out, "Flags of %s:\n", name)
	flags.VisitAll(func(f *flag.Flag) {
		kind, text := flag.UnquoteUsage(f)
		if kind != "" {
			kind = " " + kind
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
			text += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(out, "  --%s%s\n        %s\n", f.Name, kind, text)
	})
}
