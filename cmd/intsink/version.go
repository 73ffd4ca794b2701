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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine()); err != nil {
				return cli.Failed(err)
			}
			return nil
		},
	}
}
