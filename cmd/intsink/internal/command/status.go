// Flags and help of intsink status.

package command

import (
	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/top"
)

func newStatusCommand() *cobra.Command {
	var o client.Options
	cmd := &cobra.Command{
		Use:   "status [--config FILE | --socket PATH | --url URL [--token-file FILE] [--ca FILE]]",
		Short: "Print the state of a running sink",
		Long: `Print links, ports, collectors and workers of a running sink on one screen.

Exit codes: 0 the sink is ready, 1 it is not, or does not answer, 2 wrong usage.`,
		Example: "  intsink status --config /etc/intsink/intsink.hcl",
		Args:    cli.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return top.Status(cmd.Context(), cmd.OutOrStdout(), &o) },
	}
	o.Register(cmd)
	names.Flag(cmd, &o.Numeric)
	return cmd
}
