// The command intsink version.

package main

import (
	"fmt"
	"runtime"

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
			fmt.Fprintf(cmd.OutOrStdout(), "intsink %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
