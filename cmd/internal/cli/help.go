// The command help: a name that there is not is wrong usage, with what may have been meant.

package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// newHelpCommand takes the place of cobra's, which prints the help of the root for a command
// that there is not, and ends with 0.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		Long:    "Print the help of a command, as --help behind it does.",
		Example: "  " + root.Name() + " help " + firstCommand(root),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := commandOf(root, args)
			if err != nil {
				return err
			}
			c.InitDefaultHelpFlag()
			c.InitDefaultVersionFlag()
			return c.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			c, err := commandOf(root, args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return namesBelow(c), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// commandOf returns the command that args name, from root on.
func commandOf(root *cobra.Command, args []string) (*cobra.Command, error) {
	c := root
	for i, name := range args {
		at := slices.IndexFunc(c.Commands(), func(below *cobra.Command) bool { return below.Name() == name || below.HasAlias(name) })
		switch {
		case at >= 0:
			c = c.Commands()[at]
		case c.HasAvailableSubCommands():
			return nil, KnownCommand(c, args[i:])
		default:
			return nil, fmt.Errorf("%s has no commands below it, and so no %q; %s --help is all there is", c.CommandPath(), Short(name), c.CommandPath())
		}
	}
	return c, nil
}

// namesBelow returns the commands of c that people use.
func namesBelow(c *cobra.Command) (names []string) {
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			names = append(names, below.Name())
		}
	}
	return names
}

func firstCommand(c *cobra.Command) string {
	if names := namesBelow(c); len(names) > 0 {
		return names[0]
	}
	return ""
}
