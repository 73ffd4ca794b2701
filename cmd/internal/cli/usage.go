// Makes cobra's errors of usage our own words: unknown commands, arguments that are missing
// or too many, flags that exclude each other.

package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"intsink/conf/schema"
)

// Prepare gives root, and each command below it, our words for wrong usage: what is wrong and
// what to type instead. It is to be called when all commands are there.
func Prepare(root *cobra.Command) {
	root.SetFlagErrorFunc(FlagError)
	root.SetOut(Printable(os.Stdout)) // but what writes bytes that are no text takes os.Stdout itself
	if root.RunE == nil {             // else cobra names unknown commands in its own words
		root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		root.Args = KnownCommand
	}
	strictCompletion(root)
	root.SetHelpCommand(newHelpCommand(root))
	prepare(root)
}

// strictCompletion makes `completion fish-shell` an error, as any unknown command is.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args = func(_ *cobra.Command, args []string) error {
				if len(args) > 0 {
					return fmt.Errorf("there is no shell %q: bash, zsh, fish or powershell", args[0])
				}
				return nil
			}
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				failWith1(shell)
			}
		}
	}
}

// failWith1 makes c exit with 1 on an error: the command line was right, but the script could not
// be written.
func failWith1(c *cobra.Command) {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := run(c, args); err != nil {
			return Failed(err)
		}
		return nil
	}
}

func prepare(c *cobra.Command) {
	args := c.Args
	c.Args = func(c *cobra.Command, given []string) error {
		if args != nil {
			if err := args(c, given); err != nil {
				return err
			}
		}
		if err := missingFlags(c); err != nil {
			return err
		}
		if err := exclusiveFlags(c); err != nil {
			return err
		}
		return oneOfFlags(c)
	}
	for _, below := range c.Commands() {
		prepare(below)
	}
}

// KnownCommand refuses the arguments of a command that has commands only.
func KnownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("there is no command %q%s; %s --help lists them", Short(args[0]), schema.DidYouMean(args[0], namesBelow(c), "%s"), c.CommandPath())
}

// NoArgs refuses arguments.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes flags only, and %q is none; %s --help lists them", c.Name(), Short(args[0]), c.CommandPath())
}

// OneArg requires one argument, which messages call name.
func OneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return fmt.Errorf("%s takes one %s, and %d are named%s", c.Name(), name, len(args), asIn(c))
	}
}

// AtMostOneArg takes one argument or none; messages call it name.
func AtMostOneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < 2 {
			return nil
		}
		return fmt.Errorf("%s takes one %s at most, and %d are named%s", c.Name(), name, len(args), asIn(c))
	}
}

// asIn returns the first example of a command.
func asIn(c *cobra.Command) string {
	first, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
	if first == "" {
		return ""
	}
	return ": " + first
}

// missingFlags refuses a command without the flags that it was given MarkFlagRequired for.
func missingFlags(c *cobra.Command) error {
	var missing []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if a := f.Annotations[cobra.BashCompOneRequiredFlag]; !f.Changed && len(a) > 0 && a[0] == "true" {
			missing = append(missing, "--"+f.Name)
		}
	})
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s needs %s%s", strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "), words(missing), asIn(c))
}

// exclusive is what cobra's MarkFlagsMutuallyExclusive leaves at a flag: the groups that it
// is in.
const exclusive = "cobra_annotation_mutually_exclusive"

// exclusiveFlags refuses two flags of one group.
func exclusiveFlags(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		for _, group := range f.Annotations[exclusive] {
			var given []string
			for _, name := range strings.Fields(group) {
				if c.Flags().Changed(name) {
					given = append(given, "--"+name)
				}
			}
			if len(given) > 1 {
				err = fmt.Errorf("%s: leave all but one out", words(given))
			}
		}
	})
	return err
}

// oneRequired is what cobra's MarkFlagsOneRequired leaves at a flag.
const oneRequired = "cobra_annotation_one_required"

// oneOfFlags returns an error where a command needs one flag of a group and got none of them.
func oneOfFlags(c *cobra.Command) (err error) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		for _, group := range f.Annotations[oneRequired] {
			names := strings.Fields(group)
			if !slices.ContainsFunc(names, c.Flags().Changed) {
				err = fmt.Errorf("%s needs --%s%s", c.Name(), strings.Join(names, " or --"), asIn(c))
			}
		}
	})
	return err
}

// words returns a list in words.
func words(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// flagNames returns the flags of a command, as they are typed.
func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return slices.Compact(names)
}
