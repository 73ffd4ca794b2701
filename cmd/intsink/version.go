// The command intsink version.

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of intsink, of the Go that compiled it, and its platform.",
		Example: "  intsink version",
		Args:    cli.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintln(cmd.OutOrStdout(), versionLine())
		},
	}
}
