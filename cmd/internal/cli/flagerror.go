// FlagError: what a flag's value must be, by its type; refusal of arguments.

package cli

import (
	"errors"
	"fmt"

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
