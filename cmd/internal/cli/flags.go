// Flags: FlagError says what a flag's value must be, by its type; shell completion of
// values; Distinct: two flags must not name one file.

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"intsink/conf/schema"
)

// flagValues says what values of each type of flag are.
var flagValues = map[string]string{
	"int":      "a whole number",
	"uint8":    "a whole number from 0 to 255",
	"uint16":   "a whole number from 0 to 65535",
	"uint64":   "a whole number from 0 to 18446744073709551615",
	"uints":    "whole numbers of 0 or more, with commas between them",
	"float64":  "a number",
	"bool":     "true or false",
	"duration": "a duration such as 20us, 1ms or 3s",
}

// FlagError returns an error that names the flag and the values that it takes, in the words of
// our own checks; pflag's error describes how it was parsed.
func FlagError(c *cobra.Command, err error) error {
	var (
		invalid *pflag.InvalidValueError
		unknown *pflag.NotExistError
		without *pflag.ValueRequiredError
	)
	switch {
	case errors.As(err, &invalid) && flagValues[invalid.GetFlag().Value.Type()] != "":
		f := invalid.GetFlag()
		return fmt.Errorf("--%s %q: must be %s", f.Name, Short(invalid.GetValue()), flagValues[f.Value.Type()])
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		return fmt.Errorf("there is no flag %s%s; %s --help lists them", Short(name), schema.DidYouMean(name, flagNames(c), "%s"), c.CommandPath())
	case errors.As(err, &without):
		f := without.GetFlag()
		return fmt.Errorf("--%s needs a value behind it: %s", f.Name, f.Usage)
	}
	return err
}

// FlagsOnly refuses arguments: what somebody may have meant by the first is flag.
func FlagsOnly(flag string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("%s takes flags only, and %q is none: did you mean --%s %s?", cmd.Name(), Short(args[0]), flag, Short(args[0]))
	}
}

// files are the endings of the files that flags take, by the flag's name.
var files = map[string][]string{
	"config": {"hcl"}, "against": {"hcl"},
	"in": {"pcap", "pcapng", "gz"}, "out": {"pcap"}, "reports": {"pcap"}, "original": {"pcap"}, "html": {"html"},
}

// Complete tells the shell what the flags of cmd and of the commands below it take:
// files by their ending, and one of words where words has the flag's name.
func Complete(cmd *cobra.Command, words map[string][]string) {
	for name, endings := range files {
		if cmd.Flags().Lookup(name) != nil {
			cmd.MarkFlagFilename(name, endings...)
		}
	}
	for name, list := range words {
		if cmd.Flags().Lookup(name) != nil {
			cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for _, below := range cmd.Commands() {
		Complete(below, words)
	}
}

// FileFlag is a flag that names a file.
type FileFlag struct{ Flag, Path string }

// Distinct fails if two flags name one file: writing would destroy the input, or two outputs
// would overwrite each other. Empty paths are not given.
func Distinct(files ...FileFlag) error {
	for i, a := range files {
		for _, b := range files[:i] {
			if a.Path != "" && b.Path != "" && oneFile(a.Path, b.Path) {
				return fmt.Errorf("--%s and --%s are the same file, %s: name two", b.Flag, a.Flag, a.Path)
			}
		}
	}
	return nil
}

// oneFile follows links; a file that does not exist yet is identified by its folder.
func oneFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(ia, ib) && ia.Mode().IsRegular()
	}
	return errA != nil && errB != nil && resolved(a) == resolved(b)
}

func resolved(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		dir = filepath.Dir(path)
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Join(dir, filepath.Base(path))
}
