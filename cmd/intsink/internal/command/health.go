// Flags and help of intsink health.

package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
)

func newHealthCommand() *cobra.Command {
	var (
		o        client.Options
		patience time.Duration
	)
	cmd := &cobra.Command{
		Use:   "health [--timeout DURATION] [--socket PATH | --config FILE | --url URL [--token-file FILE] [--ca FILE]]",
		Short: "Ask whether a running sink works",
		Long: `Ask a running sink whether all of its workers poll: what /healthz answers. Links that are down, and
collectors that are away, do not count: intsink status has them. It is for what starts a process anew
that does not work, such as the HEALTHCHECK of the image. It asks the sink's unix socket where there
is one, so that no address, token or certificate of http matters.

Exit codes: 0 the sink works, 1 it does not, or does not answer, 2 wrong usage.`,
		Example: "  intsink health",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sink, err := o.Open()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), patience)
			defer cancel()
			if err := sink.Health(ctx); err != nil {
				return cli.Failed(err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), "ok")
			return nil
		},
	}
	o.RegisterControl(cmd)
	cmd.Flags().DurationVar(&patience, "timeout", 3*time.Second, "how long the answer may take")
	return cmd
}
