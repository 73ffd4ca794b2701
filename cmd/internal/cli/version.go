// NewVersionCommand: the command version of each program, and the line that it prints.

package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// VersionLine returns the name and version of a program, the Go that compiled it, and its
// platform.
func VersionLine(program, version string) string {
	return fmt.Sprintf("%s %s (%s, %s/%s)", program, version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// NewVersionCommand returns the command that prints VersionLine.
func NewVersionCommand(program, version string) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of " + program + ", of the Go that compiled it, and its platform.",
		Example: "  " + program + " version",
		Args:    NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), VersionLine(program, version)); err != nil {
				return Failed(err)
			}
			return nil
		},
	}
}
